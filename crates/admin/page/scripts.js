// Scripts: how each stands, what it is, what changed since it was approved, and an editor.

import { get, items, path, post, put } from "./api.js";
import { doing, say } from "./ask.js";
import { between, shown } from "./diff.js";
import { button, fill, h, pairs, renew, table } from "./dom.js";
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
          script.description,
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
  const name = field("name", "Name", { required: true, hint: "For example report.star" });
  const source = field("source", "Source", { kind: "area", rows: 10, class: "code", required: true });
  const send = async (values) => {
    await put(path`/scripts/${values.name}`, { source: values.source });
    location.hash = link("scripts", values.name);
  };
  return form({ label: "New script", fields: [name, source], submit: "Save", send });
}

async function one(root, at, name) {
  const facts = h("div");
  const changes = h("section", { hidden: true });
  const source = field("source", "Source", { kind: "area", rows: 18, class: "code", readonly: !at.may("admin") });
  let seen;
  const load = async () => {
    seen = await get(path`/scripts/${name}`);
    facts.replaceChildren(factsOf(seen));
    changes.hidden = seen.approved === undefined || seen.approved === null;
    if (!changes.hidden)
      changes.replaceChildren(
        h("h2", {}, "Since it was approved"),
        shown(between(seen.approved.trimEnd(), seen.source.trimEnd())),
      );
    source.control.value = seen.source;
  };
  const save = async (values) => {
    await put(path`/scripts/${name}`, { source: values.source });
    say("saved; it has to be approved again");
    await load();
  };
  const editor = form({ label: `Edit ${name}`, fields: [source], submit: "Save", send: save, class: "wide" });
  if (!at.may("admin")) editor.querySelector("[type=submit]").hidden = true;
  fill(root, facts, at.may("approver") && deciding(name, () => seen.info.hash, load), changes, editor);
  await load();
  return {};
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
    ["Hash", h("code", {}, info.hash)],
    ["Decided", by && [when(decided), ` by ${by}`]],
  ]);
}

// Both name the bytes that were looked at, and decide on no others.
function deciding(name, hash, load) {
  const approve = (event) => doing(event, () => post(path`/scripts/${name}/approve`, { hash: hash() }), "approved").then(load);
  const reason = field("reason", "Reason, if it is rejected", { maxlength: 1000 });
  const send = async (values) => {
    await post(path`/scripts/${name}/reject`, { hash: hash(), reason: values.reason || undefined });
    say("rejected");
    await load();
  };
  const extra = button("Approve as shown", approve, { class: "main" });
  return form({ label: `Decide on ${name}`, fields: [reason], submit: "Reject", tone: "danger", send, extra });
}
