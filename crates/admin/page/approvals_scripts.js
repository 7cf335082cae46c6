// Scripts that nobody has looked at yet, in the inbox; each is looked at in its own view.

import { items } from "./api.js";
import { h, renew } from "./dom.js";
import { link } from "./router.js";
import { hasScripts } from "./scripts.js";
import { state } from "./words.js";

export function waitingScripts(at) {
  const list = h("ul", { class: "chips" });
  const element = h("section", { hidden: !hasScripts(at) }, h("h2", { tabindex: -1 }, "Scripts to look at"), list);
  const load = async () => {
    if (!hasScripts(at)) return;
    const all = await items("/scripts");
    const open = all.filter((one) => one.state === "pending" || one.state === "modified");
    const entry = (one) => h("li", {}, h("a", { href: link("scripts", one.name) }, one.name), " ", state(one.state));
    renew(list, open, ({ name }) => name, entry, "No script waits.");
  };
  return { element, load };
}
