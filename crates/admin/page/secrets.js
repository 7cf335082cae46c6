// Secrets: their names and times. A value goes in, and never comes out.

import { items, path, put, remove } from "./api.js";
import { doing, say, sure } from "./ask.js";
import { button, fill, h, renew, section, table } from "./dom.js";
import { field, form } from "./form.js";
import { when } from "./words.js";

export const secrets = { title: "Secrets", show };

async function show(root, at) {
  const may = at.may("admin");
  const list = table("Secrets", ["Name", "First stored", "Last stored", ""]);
  const load = async () => {
    const row = (one) =>
      list.row(h("code", {}, one.name), when(one.created_ms), when(one.updated_ms), may && removing(one.name, load));
    renew(list.body, await items("/secrets"), ({ name }) => name, row, "No secret is stored.");
  };
  fill(
    root,
    h(
      "p",
      { class: "hint" },
      "Wherever a stored value appears in an answer, its name stands instead. Settings use it as {secret:NAME}.",
    ),
    list.element,
    may && section("Store a secret", storing(load)),
  );
  await load();
  return { changed: (what) => (what === "secrets" || what === "all") && load() };
}

function removing(name, load) {
  return button(
    "Remove",
    async (event) => {
      const pressed = { currentTarget: event.currentTarget };
      if (!(await sure(`Remove ${name}?`, "What uses it fails, and its value is no longer hidden in answers.", "Remove"))) return;
      await doing(pressed, () => remove(path`/secrets/${name}`), `removed: ${name}`);
      await load();
    },
    { class: "danger", "data-act": "remove", "aria-label": `Remove ${name}` },
  );
}

function storing(load) {
  const name = field("name", "Name", { required: true, hint: "Upper case letters, digits and underscores.", maxlength: 128 });
  const value = field("value", "Value", {
    kind: "password",
    required: true,
    autocomplete: "off",
    hint: "At least 8 bytes. It cannot be shown again.",
  });
  const send = async (values, element) => {
    await put(path`/secrets/${values.name.trim()}`, { value: values.value });
    say(`stored: ${values.name}`);
    element.reset();
    await load();
  };
  return form({ label: "Store a secret", fields: [name, value], submit: "Store", send });
}
