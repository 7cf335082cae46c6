// Other MCP servers: how each stands, and what can be done about it.

import { items, post } from "./api.js";
import { say } from "./ask.js";
import { fill, h, renew, table, ticked } from "./dom.js";
import { field, form } from "./form.js";
import { link } from "./router.js";
import { server } from "./server.js";
import { state } from "./words.js";

export const servers = { title: "Servers", show };

function show(root, at) {
  return at.rest[0] ? server(root, at, at.rest[0]) : all(root, at);
}

async function all(root, at) {
  const list = table("Other MCP servers", ["Name", "State", "Reached by", "Tools", "Under way", "Problem"]);
  const row = (one) =>
    list.row(
      h("a", { href: link("servers", one.name) }, one.name),
      state(one.state ?? "unknown"),
      h("code", { class: "long" }, one.reach),
      String(one.tools),
      String(one.in_flight),
      one.error && h("span", {}, ticked(one.error), one.hint && h("span", { class: "hint" }, " ", ticked(one.hint))),
    );
  const load = async () => {
    renew(
      list.body,
      await items("/upstreams"),
      ({ name }) => name,
      row,
      "There is no other server yet: add one below, or a table [mcp.NAME] in the settings.",
    );
  };
  fill(root, list.element, at.may("admin") && h("details", {}, h("summary", {}, "Add a server"), adding(load)));
  await load();
  return { status: load, changed: (what) => ["upstreams", "tools", "all"].includes(what) && load() };
}

const lines = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

// Lines of `NAME=value`, as an object.
function named(text, between) {
  const cut = (line) => {
    const place = line.indexOf(between);
    return place < 0 ? [line, ""] : [line.slice(0, place).trim(), line.slice(place + between.length).trim()];
  };
  return Object.fromEntries(lines(text).map(cut));
}

function adding(load) {
  const name = field("name", "Name", { required: true, hint: "It begins the names of its tools.", maxlength: 32 });
  const kind = field("kind", "Reached by", {
    kind: "select",
    options: [
      ["command", "a program on this machine"],
      ["url", "an address"],
    ],
  });
  const program = [
    field("command", "Program", { placeholder: "npx" }),
    field("args", "Arguments", { kind: "area", rows: 3, hint: "One to a line." }),
    field("env", "Variables", { kind: "area", rows: 2, hint: "NAME=value, one to a line; {secret:NAME} stands for a secret." }),
    field("cwd", "Folder it starts in"),
  ];
  const remote = [
    field("url", "Address", { kind: "url", placeholder: "https://mcp.example.com/mcp" }),
    field("headers", "Headers", {
      kind: "area",
      rows: 2,
      hint: "Name: value, one to a line; {secret:NAME} stands for a secret.",
    }),
    field("oauth", "Sign in by OAuth", { kind: "check" }),
  ];
  const timeout = field("timeout", "Time-out in milliseconds", {
    inputmode: "numeric",
    hint: "Left empty: the one of the settings.",
  });
  const choose = () => {
    const isProgram = kind.control.value === "command";
    for (const one of program) one.hidden = !isProgram;
    for (const one of remote) one.hidden = isProgram;
  };
  kind.control.addEventListener("change", choose);
  choose();
  const send = async (values, element) => {
    const made = await post("/upstreams", wanted(values));
    say(`added: ${made.name}`);
    element.reset();
    choose();
    await load();
  };
  return form({ label: "Add a server", fields: [name, kind, ...program, ...remote, timeout], submit: "Add", send });
}

function wanted(values) {
  const given = (text) => text.trim() || undefined;
  const timeout = given(values.timeout) === undefined ? undefined : Number(values.timeout);
  const common = { name: values.name.trim(), timeout: Number.isNaN(timeout) ? values.timeout : timeout };
  if (values.kind === "url")
    return { ...common, url: values.url.trim(), headers: named(values.headers, ":"), oauth: values.oauth };
  return {
    ...common,
    command: values.command.trim(),
    args: lines(values.args),
    env: named(values.env, "="),
    cwd: given(values.cwd),
  };
}
