// The page as lines of text: what is shown, and a ref for everything that can be acted on.

const LANDMARKS = new Set([
  "navigation", "main", "complementary", "form", "dialog", "alertdialog", "alert", "status", "group", "region", "search",
  "tablist", "tabpanel", "menu", "menubar", "toolbar", "tree", "list", "listbox", "radiogroup", "banner", "contentinfo",
]);
const MOST_NODES = 150000;

// What is to be known of an element that can be acted on; another one may have to be acted on for it.
function mark(element, role, acted = element) {
  const parts = [role || "clickable"];
  const name = nameOf(element);
  if (name) parts.push(quoted(name));
  parts.push(refOf(acted));
  if (element.disabled || attribute(element, "aria-disabled") === "true") parts.push("disabled");
  const checked = element.type === "checkbox" || element.type === "radio" ? String(element.checked)
    : attribute(element, "aria-checked");
  if (checked === "true" || checked === "mixed") parts.push(checked === "mixed" ? "mixed" : "checked");
  if (attribute(element, "aria-selected") === "true") parts.push("selected");
  const open = attribute(element, "aria-expanded");
  if (open) parts.push(open === "true" ? "expanded" : "collapsed");
  if (element.required) parts.push("required");
  if (element.readOnly) parts.push("readonly");
  if (tagOf(element) === "select") {
    const chosen = [...element.selectedOptions].map((option) => clean(option.label, 40));
    parts.push("= " + JSON.stringify(chosen.join(", ")));
    const rest = [...element.options].filter((option) => !option.selected).map((option) => clean(option.label, 40));
    if (rest.length) parts.push("or " + rest.slice(0, 8).join(", ") + (rest.length > 8 ? ", …" : ""));
  } else if (["textbox", "searchbox", "spinbutton", "slider", "color"].includes(role)) {
    const value = element.type === "password" ? hiddenValue(element) : element.value ?? element.textContent;
    if (clean(value)) parts.push("= " + quoted(value, 200));
  }
  return "[" + parts.join(" ") + "]";
}

// Something without a role that reacts to the mouse, as far as its pointer tells.
function isClickable(element) {
  if (!["div", "span", "li", "td", "img", "svg", "p", "i", "a"].includes(tagOf(element))) return false;
  if (getComputedStyle(element).cursor !== "pointer") return false;
  const above = aboveOf(element);
  if (above && getComputedStyle(above).cursor === "pointer") return false;
  return !any(element, "a[href], button, input, select, textarea") && textOf(element, 200).length <= 160;
}

function snapshot({ mode = "full", depth = 0, most = 60000, ...scope }) {
  let top = wholePage();
  if (scope.ref || scope.selector) {
    const meant = resolve(scope);
    if (!meant.element) return meant;
    top = meant.element;
  }
  const lines = [];
  const frames = [];
  let [size, total, nodes, buffer] = [0, 0, 0, ""];

  const put = (level, text) => {
    total++;
    if (size > most) return;
    const line = " ".repeat(Math.min(level, 20)) + text;
    size += line.length + 1;
    lines.push(line);
  };
  const flush = (level, prefix = "") => {
    const text = buffer.replace(/\s+/g, " ").replace(/\] (?=[.,;:!?)])/g, "]").trim();
    buffer = "";
    if (text) put(level, prefix + text);
    return Boolean(text);
  };
  const add = (text) => {
    if (mode === "interactive") put(0, text);
    else buffer += " " + text + " ";
  };

  const visit = (node, level, flat) => {
    if (++nodes > MOST_NODES) return;
    const kind = kindOf(node);
    if (kind === 3) {
      if (mode !== "interactive") buffer += node.data.replace(HIDDEN, " ");
      return;
    }
    if (kind !== 1 || attribute(node, "aria-hidden") === "true" || !isShown(node)) return;
    const [tag, role] = [tagOf(node), roleOf(node)];
    if (tag === "iframe" || tag === "frame") {
      if (!flat) flush(level);
      frames.push({ line: lines.length, ref: refOf(node), level: level + 1 });
      put(level, "[frame " + (nameOf(node) ? quoted(nameOf(node)) + " " : "") + refOf(node) + "]");
      return;
    }
    if (isActive(node, role) || isClickable(node)) {
      if (mode === "text") buffer += " " + nameOf(node, 1000) + " ";
      else add(mark(node, role));
      // A field is one thing; what a card or a menu entry holds may be several.
      const holds = !["link", "button", "option", "tab"].includes(role) && !node.labels && tag !== "select";
      const isText = role === "textbox" || role === "searchbox";
      if (holds && !isText && any(node, "a[href], button, input, select, textarea")) inside(node, level, flat);
      return;
    }
    if (role === "image") {
      const name = nameOf(node);
      if (name && mode === "full") add("[image " + quoted(name) + "]");
      return;
    }
    if (role === "heading" && !flat) {
      flush(level);
      inside(node, level, true);
      const rank = Number(attribute(node, "aria-level")) || Number(tag[1]) || 2;
      if (mode !== "interactive") flush(level, "#".repeat(Math.min(Math.max(rank, 1), 6)) + " ");
      return;
    }
    if (tag === "table" && !flat && mode !== "interactive") {
      flush(level);
      table(node, level);
      return;
    }
    const box = mode === "text" ? null : boxBehind(node);
    if (box) return add(mark(box, roleOf(box), node));
    if (tag === "label" && mode !== "text" && node.control && isShown(node.control)) {
      // What it says is the name of its field.
      for (const field of node.querySelectorAll("input, select, textarea, button, a[href]")) visit(field, level, flat);
      return;
    }
    if (tag === "br" || tag === "hr") {
      if (flat) buffer += " ";
      else flush(level);
      return;
    }
    if (flat || INLINE.has(tag)) return inside(node, level, flat);
    flush(level);
    if (tag === "li" || role === "listitem") {
      const at = lines.length;
      inside(node, level + 1, false);
      flush(level + 1);
      if (mode === "full" && lines.length > at) lines[at] = " ".repeat(level) + "- " + lines[at].trimStart();
      return;
    }
    const isPart = LANDMARKS.has(role) && role !== "list" && mode === "full";
    if (isPart) {
      const label = clean(attribute(node, "aria-label"), 80);
      put(level, role + (label ? " " + quoted(label) : "") + ":");
    }
    const inner = isPart || role === "list" ? level + 1 : level;
    if (depth && inner > depth) put(inner, "…");
    else inside(node, inner, false);
    flush(inner);
  };
  const inside = (node, level, flat) => {
    for (const child of drawn(node)) visit(child, level, flat);
  };
  const table = (node, level) => {
    const name = clean(node.caption?.textContent || attribute(node, "aria-label"), 120);
    const rows = [...node.rows].filter(isShown);
    if (mode === "full") put(level, "table " + (name ? quoted(name) + " " : "") + refOf(node) + " " + rows.length + " rows");
    if (depth && level + 1 > depth) return put(level + 1, "…");
    for (const row of rows) {
      const cells = [];
      for (const cell of row.cells) {
        inside(cell, level, true);
        cells.push(buffer.replace(/\s+/g, " ").trim());
        buffer = "";
      }
      if (cells.some(Boolean)) put(level, "| " + cells.join(" | "));
    }
  };

  if (top && tagOf(top) === "body") inside(top, 0, false);
  else if (top) visit(top, 0, false);
  flush(0);
  return { lines, total, frames, last, cut: nodes > MOST_NODES };
}

// Where a text is: the lines around it, with refs of what can be acted on there.
function find({ text, regex, most = 20 }) {
  let fits;
  if (regex) {
    try {
      const pattern = new RegExp(regex, "iu");
      fits = (line) => pattern.test(line);
    } catch (error) {
      return { missing: "regex", why: clean(error.message, 200) };
    }
  } else {
    const wanted = clean(text).toLowerCase();
    fits = (line) => line.toLowerCase().includes(wanted);
  }
  const { lines } = snapshot({ most: 2000000 });
  const found = [];
  let count = 0;
  lines.forEach((line, at) => {
    if (!fits(line)) return;
    count++;
    if (found.length < most) found.push({ line: clean(line, 500), before: clean(lines[at - 1] ?? "", 120), at: at + 1 });
  });
  return { found, count, last };
}
