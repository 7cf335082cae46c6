// Diffs: lines that begin with `-`, `+` or a space.

import { h } from "./dom.js";

// What shows nothing, or changes how other letters show: in a text that someone decides on it has to be seen.
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e01ef}]/gu;
const KINDS = { "+": ["added", "ins"], "-": ["removed", "del"] };

// Whether a text reads as a diff.
export const isDiff = (text) =>
  text.split("\n").some((line) => /^[+-]/.test(line)) && text.split("\n").every((line) => /^([ +\-@]|$)/.test(line));

const spelled = (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`;

// What nobody would see in a text, spelled out.
export const unseen = (text) => [...new Set(text.replaceAll("\r\n", "\n").match(UNSEEN) ?? [])].map(spelled);

export function shown(text, label = "Changes") {
  const lines = text.split("\n").map((told) => {
    const line = told.replaceAll(UNSEEN, spelled);
    const [kind, tag] = KINDS[line[0]] ?? ["same", "span"];
    return h(tag, { class: `line ${kind}` }, line || " ");
  });
  return h("pre", { class: "code diff", tabindex: 0, role: "region", "aria-label": label }, lines);
}
