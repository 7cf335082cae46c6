// Reading of single elements.

const text = on((element, { most }) => {
  const lines = textOf(element, 400000).split("\n").map((line) => clean(line)).filter(Boolean);
  return { text: lines.join("\n").slice(0, most), length: lines.join("\n").length, name: described(element) };
});

const htmlOf = asks(Element, "outerHTML");

const html = on((element, { most }) => {
  const whole = htmlOf(element);
  return { html: whole.slice(0, most), length: whole.length };
});

const page = ({ most }) => {
  const top = topOf(document);
  const whole = top ? htmlOf(top) : "";
  return { html: whole.slice(0, most), length: whole.length };
};

function stateOf(element) {
  const box = boxOf(element);
  const round = (number) => Math.round(number * 10) / 10;
  return {
    visible: isShown(element) && box.width > 0 && box.height > 0,
    enabled: !(element.disabled || fits(element, ":disabled") || attribute(element, "aria-disabled") === "true"),
    checked: Boolean(element.checked || attribute(element, "aria-checked") === "true"),
    focused: rootOf(element).activeElement === element,
    editable: isEditable(element),
    box: { x: round(box.x), y: round(box.y), width: round(box.width), height: round(box.height) },
  };
}

function isEditable(element) {
  if (element.isContentEditable) return true;
  return ["input", "textarea", "select"].includes(tagOf(element)) && !element.readOnly && !element.disabled;
}

const attributesOf = asks(Element, "attributes");

const attributes = on((element, { name }) => {
  const pairs = [...attributesOf(element)].slice(0, 100).map(({ name, value }) => [clean(name, 200), clean(value, 2000)]);
  // What is typed or chosen now is no attribute, but it is what is meant.
  if (element.type !== "password" && typeof element.value === "string") {
    const at = pairs.findIndex(([key]) => key === "value");
    if (at >= 0) pairs[at][1] = clean(element.value, 2000);
    else if (["input", "textarea", "select"].includes(tagOf(element))) pairs.push(["value", clean(element.value, 2000)]);
  }
  const wanted = name ? pairs.filter(([key]) => key === name.toLowerCase()) : pairs;
  return { attributes: Object.fromEntries(wanted), role: roleOf(element), name: nameOf(element), state: stateOf(element) };
});

const table = on((element, { most }) => {
  const node = nearestAbove(element, "table") ?? any(element, "table");
  if (!node) return { missing: "table", was: described(element) };
  const cell = (cell) => clean(textOf(cell), 2000);
  const rows = [...node.rows].filter(isShown);
  const isHead = (row) => row.closest("thead") || [...row.cells].every((cell) => cell.localName === "th");
  const head = rows.length && isHead(rows[0]) ? rows[0] : null;
  const width = Math.max(0, ...rows.map((row) => row.cells.length));
  const headers = head ? [...head.cells].map(cell) : Array.from({ length: width }, (_, at) => "column " + (at + 1));
  const body = rows.filter((row) => row !== head);
  return { headers, rows: body.slice(0, most).map((row) => [...row.cells].map(cell)), total: body.length };
});

// What is to be waited for.
const state = (what) => {
  const meant = resolve(what);
  if (!meant.element) return meant.missing === "selector" ? meant : { attached: false, visible: false };
  return { attached: true, name: described(meant.element), ...stateOf(meant.element) };
};

// Line by line it would miss a text that goes over several, so all of it is one line.
const says = ({ text }) => {
  const top = wholePage();
  return { says: Boolean(top) && plain(textOf(top, 2000000)).includes(clean(text)) };
};

const about = () => ({ url: location.href, title: clean(document.title, 200), ready: document.readyState });

const storage = ({ area, action, key, value }) => {
  let kept;
  try {
    kept = area === "session" ? sessionStorage : localStorage;
    if (action === "set") kept.setItem(key, value);
    else if (action === "delete") kept.removeItem(key);
    else if (action === "clear") kept.clear();
    const keys = Object.keys(kept).filter((name) => action !== "get" || !key || name === key);
    return { total: keys.length, items: keys.slice(0, 200).map((name) => ({ key: clean(name, 200), value: clean(kept.getItem(name), 2000) })) };
  } catch (error) {
    return { why: clean(error.message, 200) };
  }
};
