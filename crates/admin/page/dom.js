// Small helpers to build and renew elements. Text is only ever text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

// An element: attributes as they are written, `on…` for listeners, a property where its value is no text.
export function h(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  return fill(element, ...children);
}

// Appends what is there; what is left out by a condition is not.
export function fill(element, ...children) {
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

// A text whose literals stand in backticks, with these as code.
export function ticked(text) {
  const parts = String(text).split("`");
  // One that has no partner is a letter like any other.
  if (parts.length % 2 === 0) return [String(text)];
  return parts.map((part, place) => (place % 2 ? h("code", {}, part) : part));
}

export const section = (title, ...parts) => h("section", {}, h("h2", { tabindex: -1 }, title), parts);

let ids = 0;
export const freshId = (word) => `${word}-${++ids}`;

// Makes a parent hold one element per item. What did not change stays as it is, with focus and whatever was typed into it.
export function renew(parent, items, keyOf, make, empty) {
  const old = new Map([...parent.children].filter((child) => child.dataset.key).map((child) => [child.dataset.key, child]));
  const focused = parent.contains(document.activeElement) ? document.activeElement : undefined;
  const wanted = items.map((item) => {
    const key = keyOf(item);
    const print = JSON.stringify(item);
    const kept = old.get(key);
    if (kept && kept.print === print) return kept;
    const made = make(item);
    made.dataset.key = key;
    made.print = print;
    return made;
  });
  if (!wanted.length && empty)
    wanted.push(parent.tagName === "TBODY" ? emptyRow(empty, parent) : h("p", { class: "empty" }, empty));
  const before = [...parent.children];
  if (before.length === wanted.length && before.every((child, place) => child === wanted[place])) return;
  const row = focused?.closest("[data-key]");
  const place = before.indexOf(row);
  parent.replaceChildren(...wanted);
  if (focused) refocus(parent, focused, row, place);
}

function emptyRow(text, body) {
  const columns = body.parentElement?.querySelectorAll("thead th").length || 1;
  return h("tr", {}, h("td", { colspan: columns, class: "empty" }, text));
}

// Whoever was on a thing that was renewed stays on it; whoever was on one that went goes to its successor, if it went by
// what they did. Else the next key would act on what they have not read.
function refocus(parent, focused, gone, place) {
  if (focused.isConnected) return focused.focus();
  const key = gone?.dataset.key;
  const rows = [...parent.children];
  const next = gone?.dataset.acted ? rows[Math.min(place, rows.length - 1)] : undefined;
  const row = rows.find((child) => child.dataset.key === key) ?? next;
  if (!row) return parent.closest("section")?.querySelector("h2, h1")?.focus();
  const act = focused.dataset?.act;
  const again = act && row.dataset.key === key && row.querySelector(`[data-act="${act}"]`);
  const target = again || (row.tabIndex >= 0 ? row : row.querySelector("a, button, input, select, textarea"));
  (target || parent.closest("section")?.querySelector("h2, h1"))?.focus();
}

export function button(label, act, attributes = {}) {
  return h("button", { type: "button", onclick: act, ...attributes }, label);
}

// A table that becomes a list of cards on a narrow screen: each cell knows its column's name.
export function table(caption, columns) {
  const body = h("tbody");
  const heads = columns.map((column) => h("th", { scope: "col" }, column || h("span", { class: "unseen" }, "Actions")));
  const element = h("table", {}, h("caption", { class: "unseen" }, caption), h("thead", {}, h("tr", {}, heads)), body);
  const row = (...cells) => {
    const none = (cell) => cell === undefined || cell === null || cell === false || cell === "";
    const made = cells.map((cell, place) =>
      h(
        "td",
        { "data-column": columns[place] || undefined, class: none(cell) && "none" },
        h("div", {}, none(cell) ? columns[place] && "–" : cell),
      ),
    );
    return h("tr", {}, made);
  };
  return { element: h("div", { class: "table" }, element), body, row };
}

// Names and values; a third word `wide` gives one more room.
export function pairs(entries) {
  const shown = entries.filter(
    ([, value]) => value !== undefined && value !== null && value !== "" && value !== false && value !== 0,
  );
  return h(
    "dl",
    { class: "pairs" },
    shown.map(([name, value, room]) => h("div", { class: room }, h("dt", {}, name), h("dd", {}, value))),
  );
}
