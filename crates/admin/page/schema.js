// A form made from a JSON Schema: simple values have a field of their kind, all others are written as JSON.

import { button, h } from "./dom.js";
import { blame, field, form } from "./form.js";

const LONG = /content|text|code|body|source|query|script|prompt|message/i;
const DEEPEST = 8;

// A fault of a field, shown beside it.
class Fault extends Error {
  constructor(name, detail) {
    super(detail);
    this.status = 422;
    this.fields = [{ name, detail }];
  }
}

export function schemaForm(label, schema, send, extra) {
  const root = resolve(schema, schema);
  const properties = Object.entries(root.properties ?? {});
  const simple = properties.map(([name, part]) => propertyOf(name, resolve(part, schema), (root.required ?? []).includes(name)));
  const whole = field("(JSON)", "Arguments as JSON", { kind: "area", rows: 8, class: "code", value: "{}" });
  const group = h(
    "div",
    {},
    simple.map((one) => one.field),
    !properties.length && h("p", { class: "hint" }, "It takes no arguments."),
  );
  let asJson = false;
  whole.hidden = true;

  const collected = () =>
    Object.fromEntries(simple.map((one) => [one.name, one.read()]).filter(([, value]) => value !== undefined));
  const given = () => (asJson ? objectOf(whole.control.value) : collected());
  const swap = button("Write as JSON", () => {
    asJson = !asJson;
    if (asJson) whole.control.value = JSON.stringify(tolerant(collected), null, 2);
    whole.hidden = !asJson;
    group.hidden = asJson;
    swap.textContent = asJson ? "Back to the fields" : "Write as JSON";
  });
  return form({
    label,
    submit: "Call",
    extra: [swap, extra],
    fields: [group, whole],
    send: () => {
      if (!asJson) demand(simple);
      return send(given());
    },
  });
}

function tolerant(read) {
  try {
    return read();
  } catch {
    return {};
  }
}

function demand(simple) {
  const missing = simple.filter((one) => one.needed && one.read() === undefined);
  for (const one of missing) blame(one.field, "is missing");
  if (missing.length) throw new Fault(missing[0].name, "is missing");
}

function objectOf(text) {
  const value = jsonOf("(JSON)", text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Fault("(JSON)", "is no JSON object");
  return value;
}

function jsonOf(name, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault(name, `is no JSON: ${error.message}`);
  }
}

// A schema without references, and without the wrappers that only say that nothing may be given.
function resolve(part, root, depth = 0) {
  if (depth > DEEPEST || typeof part !== "object" || part === null) return {};
  if (typeof part.$ref === "string" && part.$ref.startsWith("#/")) {
    const { $ref, ...rest } = part;
    const found = $ref
      .slice(2)
      .split("/")
      .reduce((at, key) => at?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], root);
    return { ...resolve(found, root, depth + 1), ...rest };
  }
  const choices = part.anyOf ?? part.oneOf ?? (part.allOf?.length === 1 ? part.allOf : undefined);
  const real = choices?.filter((one) => one?.type !== "null");
  if (real?.length !== 1) return part;
  const { anyOf, oneOf, allOf, ...rest } = part;
  return { ...resolve(real[0], root, depth + 1), ...rest };
}

const typeOf = (part) => (Array.isArray(part.type) ? part.type.find((one) => one !== "null") : part.type);

// A property as a field, and how to read it; nothing is sent for what is left empty.
function propertyOf(name, part, needed) {
  const made = readerOf(name, part);
  const facts = [
    part.description,
    part.default !== undefined && `default ${JSON.stringify(part.default)}`,
    range(part),
    made.note,
  ].filter(Boolean);
  const one = field(name, [h("code", {}, name), needed && h("span", { class: "needed" }, " (required)")], {
    ...made.options,
    hint: facts.join(" · ") || undefined,
    "aria-required": needed ? "true" : undefined,
  });
  const read = () => (one.control.value === "" && !(needed && made.blank) ? undefined : made.parse(one.control.value));
  return { name, needed, field: one, read };
}

function range(part) {
  const bounds = [
    part.minimum !== undefined && `at least ${part.minimum}`,
    part.maximum !== undefined && `at most ${part.maximum}`,
    part.maxLength !== undefined && `at most ${part.maxLength} characters`,
  ];
  return bounds.filter(Boolean).join(", ");
}

function readerOf(name, part) {
  const type = typeOf(part);
  if (Array.isArray(part.enum)) {
    const options = [["", "–"], ...part.enum.map((value) => [JSON.stringify(value), String(value)])];
    return { options: { kind: "select", options }, parse: JSON.parse };
  }
  if (type === "string") {
    const long = LONG.test(name);
    return { options: long ? { kind: "area", rows: 3 } : {}, blank: long && !part.minLength, parse: (text) => text };
  }
  if (type === "boolean")
    return {
      options: {
        kind: "select",
        options: [
          ["", "–"],
          ["true", "true"],
          ["false", "false"],
        ],
      },
      parse: JSON.parse,
    };
  if (type === "integer" || type === "number")
    return { options: { inputmode: type === "integer" ? "numeric" : "decimal" }, parse: (text) => numberOf(name, text, type) };
  if (type === "array" && typeOf(part.items ?? {}) === "string" && !part.items.enum) {
    return {
      options: { kind: "area", rows: 3 },
      note: "one to a line",
      parse: (text) => text.split("\n").filter((line) => line !== ""),
    };
  }
  return { options: { kind: "area", rows: 4, class: "code" }, note: "as JSON", parse: (text) => jsonOf(name, text) };
}

function numberOf(name, text, type) {
  const value = Number(text.trim());
  if (!Number.isFinite(value) || (type === "integer" && !Number.isInteger(value))) throw new Fault(name, `is no ${type}`);
  return value;
}
