// What comes before and after an act: is it shown, does it stand still, can it be used, and is nothing in front of it?

// A moment: the next drawing, or a little time where nothing is drawn.
const moment = () => new Promise((done) => {
  requestAnimationFrame(() => done());
  setTimeout(done, 60);
});

const elementAt = asks(Document, "elementFromPoint");
const [slotOf, parentOf] = [asks(Element, "assignedSlot"), asks(Node, "parentNode")];

function hitAt(x, y) {
  let hit = elementAt(document, x, y);
  for (let shadow; (shadow = hit && shadowOf(hit)); ) {
    const inner = shadow.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

function isWithin(hit, element) {
  const up = (node) => (kindOf(node) === 1 && slotOf(node)) || (parentOf(node) ?? node.host);
  for (let node = hit; node; node = up(node)) if (node === element) return true;
  return Boolean(hit) && nearestAbove(hit, "label")?.control === element;
}

// The middle of what of an element is within the window.
function middle(element) {
  for (const box of boxesOf(element)) {
    const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
    const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
    if (right - left > 0.5 && bottom - top > 0.5) return { x: (left + right) / 2, y: (top + bottom) / 2 };
  }
  return null;
}

const same = (one, other) =>
  one.x === other.x && one.y === other.y && one.width === other.width && one.height === other.height;

// What is clicked for a box of which nothing is drawn: its label.
const drawnFor = (element) => (isBox(element) && !isShown(element) && [...element.labels].find(isShown)) || element;

// One look at whether an element can be acted on. `hit`: whether the mouse has to reach it.
const probe = async (what) => {
  const meant = resolve(what);
  if (!meant.element) return meant;
  const element = drawnFor(meant.element);
  const told = { name: described(meant.element), ref: refOf(element), last, count: meant.count ?? 1 };
  if (!isShown(element)) return { ...told, not: "visible" };
  if (what.enabled !== false && !stateOf(element).enabled) return { ...told, not: "enabled" };
  if (what.editable && !isEditable(element)) return { ...told, not: "editable" };
  if (!middle(element) || !isVisible(element)) intoView(element, { block: "center", inline: "center", behavior: "instant" });
  const before = boxOf(element);
  await moment();
  const after = boxOf(element);
  if (!same(before, after)) return { ...told, not: "stable" };
  let point = middle(element);
  if (!point) {
    if (what.hit !== false || (!isFile(element) && (after.width <= 0 || after.height <= 0))) return { ...told, not: "visible" };
    point = { x: after.x, y: after.y };
  }
  if (what.hit !== false) {
    const hit = hitAt(point.x, point.y);
    if (!isWithin(hit, element)) return { ...told, not: "hit", by: hit ? "<" + tagOf(hit) + "> " + refOf(hit) : "nothing" };
  }
  return { ...told, ready: true, ...point, box: { x: after.x, y: after.y, width: after.width, height: after.height } };
};

// Where the content of a frame begins within ours, and whether a point of it can be reached.
function frameAt(element, x, y) {
  if (middle(element) === null) intoView(element, { block: "center", inline: "center", behavior: "instant" });
  const box = boxOf(element);
  const style = getComputedStyle(element);
  const left = box.left + element.clientLeft + parseFloat(style.paddingLeft);
  const top = box.top + element.clientTop + parseFloat(style.paddingTop);
  return { x: left + x, y: top + y, reached: isWithin(hitAt(left + x, top + y), element) };
}

const PLAIN = new Set(["text", "search", "url", "tel", "email", "password", "number", ""]);

function tell(element) {
  element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  element.dispatchEvent(new Event("change", { bubbles: true }));
}

// A number or an address of mail has no places to name; who gives it a value puts the caret at its end.
function toEnd(element) {
  const value = element.value;
  if (!value) return;
  element.value = "";
  element.value = value;
}

// Makes a field ready to be typed into, or sets it where nobody types.
const prepare = on((element, { value, clear = true }) => {
  const tag = tagOf(element);
  if (tag === "select") return { kind: "select" };
  const box = boxBehind(element) ?? (isBox(element) ? element : null);
  if (box) return { kind: "check", checked: box.checked };
  if (isFile(element)) return { kind: "file" };
  if (tag === "input" && !PLAIN.has(element.type)) {
    if (["button", "submit", "reset", "image", "hidden"].includes(element.type)) return { kind: "none" };
    element.focus();
    element.value = value;
    if (element.value !== value && element.type !== "range") return { kind: "refused", type: element.type };
    tell(element);
    return { kind: "set" };
  }
  if (!isEditable(element)) return { kind: "none" };
  element.focus();
  if (clear) {
    if (tag === "input" || tag === "textarea") element.select();
    else getSelection().selectAllChildren(element);
  } else if (tag === "input" || tag === "textarea") {
    try { element.setSelectionRange(element.value.length, element.value.length); } catch { toEnd(element); }
  } else {
    getSelection().selectAllChildren(element);
    getSelection().collapseToEnd();
  }
  const empty = !(element.value ?? element.textContent);
  return { kind: "type", empty };
});

const valueOf = on((element) => ({
  value: element.type === "password" ? hiddenValue(element) : clean(element.value ?? textOf(element), 500),
  length: String(element.value ?? element.textContent ?? "").length,
  checked: Boolean((boxBehind(element) ?? element).checked),
}));

const focus = on((element) => {
  element.focus();
  return { focused: rootOf(element).activeElement === element, name: described(element) };
});

const choose = on((element, { values = [], labels = [], indexes = [] }) => {
  if (tagOf(element) !== "select") return { missing: "select", was: described(element) };
  const options = [...element.options];
  const wanted = [];
  const lacking = [];
  const look = (keys, fits) => keys.forEach((key) => {
    const option = options.find((option, at) => fits(option, key, at));
    if (option) wanted.push(option); else lacking.push(String(key));
  });
  look(values, (option, key) => option.value === key || clean(option.label) === clean(key));
  look(labels, (option, key) => clean(option.label) === clean(key));
  look(indexes, (_, key, at) => at === key);
  if (lacking.length || (wanted.length > 1 && !element.multiple)) {
    const known = options.slice(0, 20).map((option) => clean(option.label, 40) + " (" + clean(option.value, 40) + ")");
    return { missing: "option", lacking, several: wanted.length > 1, known };
  }
  if (wanted.some((option) => option.disabled)) return { missing: "option", lacking: ["a disabled option"], known: [] };
  element.focus();
  options.forEach((option) => { option.selected = wanted.includes(option); });
  tell(element);
  return { chosen: [...element.selectedOptions].map((option) => clean(option.label, 80)), name: described(element) };
});

const scroll = (what) => {
  if (what.ref || what.selector) {
    const meant = resolve(what);
    if (!meant.element) return meant;
    if (!what.x && !what.y && !what.to) {
      intoView(meant.element, { block: "center", inline: "center", behavior: "instant" });
      return at(meant.element);
    }
    move(meant.element, what);
    return at(meant.element);
  }
  move(document.scrollingElement ?? document.documentElement, what);
  return at(null);
};

function move(element, { x = 0, y = 0, to }) {
  if (to === "top") element.scrollTo({ top: 0, behavior: "instant" });
  else if (to === "bottom") element.scrollTo({ top: element.scrollHeight, behavior: "instant" });
  else element.scrollBy({ left: x, top: y, behavior: "instant" });
}

function at(element) {
  const page = document.scrollingElement ?? document.documentElement;
  const own = element && element.scrollHeight > element.clientHeight ? element : page;
  return { x: Math.round(own.scrollLeft), y: Math.round(own.scrollTop), height: own.scrollHeight, window: own.clientHeight };
}
