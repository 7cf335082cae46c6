// Settings in force, and where each value comes from.

import { get, post } from "./api.js";
import { doing, say } from "./ask.js";
import { button, fill, h, renew, table } from "./dom.js";
import { field, telling } from "./form.js";
import { plural } from "./words.js";

export const settings = { title: "Settings", show };

async function show(root, at) {
  const list = table("Settings in force", ["Key", "Value", "From"]);
  const file = h("p");
  const remarks = h("div");
  const search = field("search", "Search", { kind: "search" });
  const set = field("set", "Only what is set", { kind: "check" });
  const number = h("p", { class: "hint", role: "status" });
  let now = { items: [], restart: [] };

  const draw = () => {
    const text = search.control.value.toLowerCase();
    const fits = (one) => one.key.toLowerCase().includes(text) && (!set.control.checked || one.origin.kind !== "default");
    const fitting = now.items.filter(fits).map((one) => ({ ...one, waits: now.restart.includes(one.key) }));
    number.textContent = plural(fitting.length, "setting");
    renew(
      list.body,
      fitting,
      ({ key }) => key,
      (one) => list.row(h("code", {}, one.key), valueOf(one), originOf(one.origin)),
      "No setting fits.",
    );
  };
  const load = async () => {
    now = await get("/settings");
    file.replaceChildren(...(now.file ? ["File: ", h("code", { class: "long" }, now.file)] : ["No file is read."]));
    remarks.replaceChildren(...remarksOf(now));
    draw();
  };
  const reload = (event) =>
    doing(event, async () => {
      try {
        say((await post("/settings/reload", undefined)).changed);
      } finally {
        await load();
      }
    });
  search.control.addEventListener("input", draw);
  set.control.addEventListener("change", draw);
  fill(
    root,
    h("div", { class: "row between" }, file, at.may("admin") && button("Read them anew", reload)),
    remarks,
    h("div", { class: "filters", role: "search" }, search, set),
    number,
    list.element,
  );
  await load();
  return { changed: (what) => what === "all" && load() };
}

function remarksOf(now) {
  const restart = now.restart.length > 0 && h("p", { class: "warning" }, `These wait for a restart: ${now.restart.join(", ")}.`);
  const error = now.error && h("div", { class: "fault whole", role: "alert" }, telling({ status: 0, message: now.error }));
  return [error, restart, ...now.warnings.map((text) => h("p", { class: "warning" }, text))].filter(Boolean);
}

function valueOf(one) {
  const shown = one.hidden
    ? "set, and hidden"
    : one.value === null
      ? "not set"
      : h("code", { class: "long" }, JSON.stringify(one.value));
  return [shown, one.waits && h("span", { class: "mark" }, "a new value waits for a restart")];
}

function originOf(origin) {
  if (origin.kind === "file") return h("span", { class: "long" }, `${origin.path}:${origin.line}:${origin.column}`);
  if (origin.kind === "default") return "default";
  return [`${origin.kind} `, h("code", {}, origin.name)];
}
