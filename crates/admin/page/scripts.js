// Scripts: how each stands, what it is, what changed since it was approved, and an editor.

import { get, items, path, post, put } from "./api.js";
import { doing, say } from "./ask.js";
import { shown, unseen } from "./diff.js";
import { button, fill, h, pairs, renew, section, table } from "./dom.js";
import { field, form } from "./form.js";
import { link } from "./router.js";
import { state, when } from "./words.js";

// The server says how many scripts wait if it has any scripts at all.
export const hasScripts = ({ status }) => status?.scripts !== undefined;

export const scripts = { title: "Scripts", visible: hasScripts, show };

function show(root, at) {
  return at.rest[0] ? one(root, at, at.rest[0]) : all(root, at);
}

async function all(root, at) {
  const list = table("Scripts", ["Name", "State", "What it does", "Author", "Version"]);
  const load = async () => {
    const found = await items("/scripts");
    renew(
      list.body,
      found,
      ({ name }) => name,
      (script) =>
        list.row(
          h("a", { href: link("scripts", script.name) }, script.name),
          state(script.state),
          script.description || script.remark,
          script.author,
          script.version,
        ),
      "There is no script yet.",
    );
  };
  fill(root, list.element, at.may("admin") && h("section", {}, h("h2", {}, "New script"), creating()));
  await load();
  return { changed: (what) => (what === "scripts" || what === "all") && load() };
}

function creating() {
  const name = field("name", "Name", { required: true, hint: "For example `report.star`" });
  const source = field("source", "Source", { kind: "area", rows: 10, class: "code", required: true });
  const send = async (values) => {
    const made = await put(path`/scripts/${values.name}`, { source: values.source });
    location.hash = link("scripts", made.name);
  };
  return form({ label: "New script", fields: [name, source], submit: "Save", send });
}

// How many lines of a script are seen at once.
const [LEAST, MOST] = [6, 28];

// A box for text knows one way to end a line.
const lines = (text) => text.replaceAll(/\r\n?/g, "\n");

async function one(root, at, name) {
  const facts = h("div");
  const warning = h("p", { class: "fault whole", hidden: true });
  const changes = h("section", { hidden: true });
  const news = h("div", { class: "fault whole", role: "status", hidden: true });
  const source = field("source", "Source", { kind: "area", class: "code" });
  const send = (values) => save(values);
  const editing = { label: `Edit ${name}`, fields: [source], submit: "Save", tone: "", send, class: "wide" };
  const editor = at.may("admin") && form(editing);
  let seen;
  const isTouched = () => seen && lines(seen.source) !== source.control.value;
  const show = (next, typed = false) => {
    seen = next;
    facts.replaceChildren(factsOf(seen));
    warn(warning, seen);
    changes.hidden = !seen.diff;
    if (seen.diff) changes.replaceChildren(h("h2", {}, "Since it was approved"), shown(seen.diff.trimEnd()));
    if (!typed) source.control.value = seen.source;
    source.control.rows = Math.min(Math.max(lines(seen.source).split("\n").length, LEAST), MOST);
    // Code that somebody wanted to run is no file, and what is not shown cannot be kept.
    const fixed = !editor || name.startsWith("exec:") || !seen.whole;
    source.control.readOnly = fixed;
    if (editor) editor.querySelector("[type=submit]").hidden = fixed;
    news.hidden = true;
  };
  const load = async () => show(await get(path`/scripts/${name}`));
  const look = async () => {
    const next = await get(path`/scripts/${name}`);
    if (next.info.hash === seen.info.hash) show(next, true);
    else if (isTouched()) {
      news.replaceChildren("It has changed meanwhile. ", button("Show what is there now", () => show(next)));
      news.hidden = false;
    } else {
      show(next);
      say(`${name} has changed`, "busy");
    }
  };
  const save = async (values) => {
    const made = await put(path`/scripts/${name}`, { source: values.source, seen: seen.info.hash });
    say(made.state === "approved" ? "saved; these very bytes are approved" : "saved; it has to be approved");
    await load();
  };
  const decide = at.may("approver") && deciding(name, { hash: () => seen.info.hash, isTouched, look });
  await load();
  fill(root, h("p", {}, h("a", { href: "#/scripts" }, "← all scripts")), facts, warning, changes, news, editor || source, decide);
  return { changed: (what) => (what === "scripts" || what === "all") && look() };
}

// What someone who decides would not see.
function warn(warning, { source, whole }) {
  const hidden = unseen(source);
  const said = [
    hidden.length && `It holds letters that nobody sees: ${hidden.join(", ")}. `,
    !whole && "A secret stands in it, which is not shown. It can be changed only in its folder.",
  ].filter(Boolean);
  warning.textContent = said.join("");
  warning.hidden = !said.length;
}

function factsOf({ info, decided_by: by, decided_ms: decided }) {
  const list = (names) => names?.length && names.join(", ");
  return pairs([
    ["State", state(info.state)],
    ["What it does", info.description],
    ["Author", info.author],
    ["Version", info.version],
    ["Secrets", list(info.secrets)],
    ["Tools", list(info.tools)],
    ["Hosts", list(info.hosts)],
    ["Remark", info.remark],
    ["Decided", by && [when(decided), ` by ${by}`]],
    ["Hash", h("code", { class: "long" }, info.hash), "wide"],
  ]);
}

// Both name the bytes that were looked at, and decide on no others.
function deciding(name, { hash, isTouched, look }) {
  const approve = async (event) => {
    if (isTouched()) return say("save what you changed, or load it anew, before you decide", "busy");
    if (await doing(event, () => post(path`/scripts/${name}/approve`, { hash: hash() }), `approved: ${name}`)) await look();
  };
  const reason = field("reason", "Reason, if it is rejected", { maxlength: 1000 });
  const send = async (values) => {
    await post(path`/scripts/${name}/reject`, { hash: hash(), reason: values.reason || undefined });
    say(`rejected: ${name}`);
    reason.control.value = "";
    await look();
  };
  return section(
    "Decide",
    h("div", { class: "row" }, button("Approve as shown", approve, { class: "main" })),
    form({ label: `Reject ${name}`, fields: [reason], submit: "Reject", tone: "danger", send }),
  );
}
