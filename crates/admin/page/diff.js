// Diffs: lines that begin with `-`, `+` or a space, as one is told or as it is made of two texts.

import { h } from "./dom.js";

const MOST = 2000;
const KINDS = { "+": ["added", "ins"], "-": ["removed", "del"] };

// Whether a text reads as a diff.
export const isDiff = (text) =>
  text.split("\n").some((line) => /^[+-]/.test(line)) && text.split("\n").every((line) => /^([ +\-@]|$)/.test(line));

export function shown(text, label = "Changes") {
  const lines = text.split("\n").map((line) => {
    const [kind, tag] = KINDS[line[0]] ?? ["same", "span"];
    return h(tag, { class: `line ${kind}` }, line || " ");
  });
  return h("pre", { class: "code diff", tabindex: 0, role: "region", "aria-label": label }, lines);
}

// The lines of two texts, as a diff: what both begin and end with stays, between them the longest that both have.
export function between(old, now) {
  const [before, after] = [old.split("\n"), now.split("\n")];
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const same = (line) => ` ${line}`;
  const middle = changed(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  return [...before.slice(0, head).map(same), ...middle, ...before.slice(before.length - tail).map(same)].join("\n");
}

function changed(before, after) {
  const all = () => [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
  // The table below has a cell for each pair of lines.
  if (before.length * after.length > MOST * MOST) return all();
  const width = after.length + 1;
  const longest = new Uint32Array((before.length + 1) * width);
  for (let a = before.length - 1; a >= 0; a -= 1) {
    for (let b = after.length - 1; b >= 0; b -= 1) {
      const next =
        before[a] === after[b]
          ? longest[(a + 1) * width + b + 1] + 1
          : Math.max(longest[(a + 1) * width + b], longest[a * width + b + 1]);
      longest[a * width + b] = next;
    }
  }
  return walk(before, after, longest, width);
}

function walk(before, after, longest, width) {
  const lines = [];
  let [a, b] = [0, 0];
  while (a < before.length || b < after.length) {
    if (a < before.length && b < after.length && before[a] === after[b]) {
      lines.push(` ${before[a]}`);
      a += 1;
      b += 1;
    } else if (b >= after.length || (a < before.length && longest[(a + 1) * width + b] >= longest[a * width + b + 1])) {
      lines.push(`-${before[a]}`);
      a += 1;
    } else {
      lines.push(`+${after[b]}`);
      b += 1;
    }
  }
  return lines;
}
