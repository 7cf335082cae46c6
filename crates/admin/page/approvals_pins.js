// Tools of other servers whose definition is not what it was: looked at, then accepted.

import { items, path, post } from "./api.js";
import { doing } from "./ask.js";
import { isDiff, shown } from "./diff.js";
import { button, h, pairs, renew, ticked } from "./dom.js";
import { state, when } from "./words.js";

export function pins(may) {
  const list = h("div", { class: "inbox" });
  const element = h("section", {}, h("h2", { tabindex: -1 }, "New and changed tool definitions"), list);
  const load = async () => {
    const all = await items("/pins");
    // What a rule allows is used without a word.
    const open = all.filter((one) => one.acceptable && ["held", "warned"].includes(one.standing));
    renew(
      list,
      open,
      (one) => `${one.source} ${one.tool}`,
      (one) => pin(one, may, load),
      "Every definition is what it was when it was accepted.",
    );
  };
  return { element, load };
}

function pin(one, may, load) {
  const id = `pin-${one.source}-${one.tool}`;
  const accept = async (event) => {
    await doing(event, () => post(path`/pins/${one.source}/${one.tool}/accept`, { digest: one.digest }), `accepted: ${one.tool}`);
    await load();
  };
  const facts = pairs([
    ["Stands", state(one.standing)],
    ["Gravest finding", one.severity && state(one.severity)],
    ["First seen", when(one.first_seen_ms)],
    ["Accepted", one.accepted_ms && [when(one.accepted_ms), one.accepted_by && ` by ${one.accepted_by}`]],
  ]);
  const findings = one.findings.map(said);
  return h(
    "article",
    { class: "waiting", tabindex: 0, "aria-labelledby": id },
    h("h3", { id }, h("code", {}, one.tool), ` of ${one.source}`),
    facts,
    findings,
    may && h("div", { class: "row" }, button("Accept this definition", accept, { class: "main", "data-act": "accept" })),
  );
}

function said(finding) {
  const head = [state(finding.severity), ` ${finding.part}`];
  if (isDiff(finding.says)) return h("div", {}, h("p", {}, head), shown(finding.says.trimEnd(), `What changed: ${finding.part}`));
  return h("p", { class: "prose" }, head, ": ", ticked(finding.says));
}
