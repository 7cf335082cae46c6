// Scripts that nobody has looked at yet, in the inbox; each is looked at in its own view.

import { items } from "./api.js";
import { h, renew } from "./dom.js";
import { link } from "./router.js";
import { hasScripts } from "./scripts.js";
import { state } from "./words.js";

export function waitingScripts(at) {
  const list = h("ul", { class: "chips" });
  const none = h("p", { class: "empty" }, "No script waits.");
  const element = h("section", { hidden: !hasScripts(at) }, h("h2", { tabindex: -1 }, "Scripts to look at"), list, none);
  const load = async () => {
    if (!hasScripts(at)) return;
    const all = await items("/scripts");
    const open = all.filter((one) => one.state === "pending" || one.state === "modified");
    const entry = (one) => h("li", {}, h("a", { href: link("scripts", one.name) }, one.name), " ", state(one.state));
    renew(list, open, ({ name }) => name, entry);
    none.hidden = open.length > 0;
  };
  return { element, load };
}
