// The catalog: every tool with what the policy makes of it; one of them with its form.

import { items, query } from "./api.js";
import { fill, h, renew, ticked } from "./dom.js";
import { field } from "./form.js";
import { link } from "./router.js";
import { tool } from "./tool.js";
import { plural, state } from "./words.js";

export const catalog = { title: "Catalog", show };

function show(root, at) {
  return at.rest[0] ? tool(root, at, at.rest[0]) : list(root, at);
}

async function list(root, at) {
  const search = field("search", "Search", { kind: "search", value: at.query.search ?? "" });
  const source = field("source", "Source", { kind: "select", options: [["", "all sources"]] });
  const eyes = field("principal", "As seen by", { value: at.query.principal ?? "", placeholder: "local" });
  const number = h("p", { class: "hint", role: "status" });
  const found = h("ul", { class: "tools" });
  let tools = [];

  const draw = () => {
    const words = search.control.value.toLowerCase().split(/\s+/).filter(Boolean);
    const from = source.control.value;
    const fits = (one) => (!from || one.source === from) && words.every((word) => textOf(one).includes(word));
    const fitting = tools.filter(fits);
    number.textContent =
      fitting.length === tools.length ? plural(tools.length, "tool") : `${fitting.length} of ${plural(tools.length, "tool")}`;
    renew(found, fitting, ({ name }) => name, entry, "No tool fits.");
  };
  const load = async () => {
    const principal = eyes.control.value.trim();
    tools = (await items(`/tools${query({ principal })}`)).map((one) => ({ ...one, principal }));
    const chosen = source.control.value;
    const names = [...new Set(tools.map((one) => one.source))];
    source.control.replaceChildren(h("option", { value: "" }, "all sources"), ...names.map((name) => h("option", {}, name)));
    source.control.value = names.includes(chosen) ? chosen : "";
    draw();
  };
  search.control.addEventListener("input", draw);
  source.control.addEventListener("change", draw);
  eyes.control.addEventListener("change", () =>
    load().catch((problem) => {
      number.textContent = problem.message;
    }),
  );
  fill(root, h("div", { class: "filters", role: "search" }, search, source, eyes), number, found);
  await load();
  return { changed: (what) => (what === "tools" || what === "all" || what === "pins") && load() };
}

const textOf = (one) => `${one.name} ${one.title ?? ""} ${one.description} ${one.source}`.toLowerCase();

function entry(one) {
  const first = one.description.split("\n")[0];
  return h(
    "li",
    {},
    h("a", { href: link("catalog", one.name) + query({ principal: one.principal }) }, h("code", {}, one.name)),
    h(
      "span",
      { class: "marks" },
      state(one.gives),
      hints(one).map((word) => h("span", { class: "mark" }, word)),
      h("span", { class: "mark" }, one.source),
    ),
    h("p", {}, ticked(first)),
  );
}

// What a tool says of itself.
export function hints(one) {
  const all = [
    [one.read_only, "read only"],
    [one.destructive && !one.read_only, "destructive"],
    [one.idempotent && !one.read_only, "idempotent"],
    [one.open_world, "open world"],
  ];
  return all.filter(([is]) => is).map(([, word]) => word);
}
