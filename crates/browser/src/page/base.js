// What all parts of the library share: text without tricks, names of elements, and which element is meant.
// It runs in a world of its own: the page shares the document with it, but none of its variables.

let last = start;
const refs = new WeakMap();
const byRef = new Map();

// Characters that show nothing, or turn text around, carry what only a model would read.
const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

const plain = (text) => text.replace(HIDDEN, " ").replace(/\s+/g, " ").trim();

function clean(text, most = 0) {
  const short = plain(String(text ?? "").slice(0, 200000));
  return most && short.length > most ? short.slice(0, most - 1) + "…" : short;
}

// What is quoted must not end the quotation, nor look like a mark of ours.
const quoted = (text, most = 160) => JSON.stringify(clean(text, most));

function refOf(element) {
  let ref = refs.get(element);
  if (!ref) {
    ref = prefix + "e" + ++last;
    refs.set(element, ref);
    byRef.set(ref, new WeakRef(element));
    if (byRef.size % 5000 === 0) for (const [key, weak] of byRef) if (!weak.deref()) byRef.delete(key);
  }
  return ref;
}

// A password is told only as that there is one.
const hiddenValue = (element) => "•".repeat(Math.min(element.value.length, 8));

// A form hands out its fields under their names, and a document its forms, also where a name is that of something that
// every element has. What is asked of a prototype, no page can answer.
function asks(type, name) {
  const { get, value } = Object.getOwnPropertyDescriptor(type.prototype, name);
  return get ? (node) => get.call(node) : (node, ...given) => value.apply(node, given);
}
const kindOf = asks(Node, "nodeType");
const tagOf = asks(Element, "localName");
const childrenOf = asks(Node, "childNodes");
const shadowOf = asks(Element, "shadowRoot");
const aboveOf = asks(Node, "parentElement");
const rootOf = asks(Node, "getRootNode");
const isThere = asks(Node, "isConnected");
const isVisible = asks(Element, "checkVisibility");
const boxOf = asks(Element, "getBoundingClientRect");
const boxesOf = asks(Element, "getClientRects");
const intoView = asks(Element, "scrollIntoView");
const nearestAbove = asks(Element, "closest");
const fits = asks(Element, "matches");
const has = asks(Element, "hasAttribute");
const written = asks(Element, "getAttribute");
const within = { 1: asks(Element, "querySelectorAll"), 9: asks(Document, "querySelectorAll"), 11: asks(DocumentFragment, "querySelectorAll") };
const every = (root, selector) => within[kindOf(root)](root, selector);
const any = (root, selector) => every(root, selector)[0] ?? null;
const [bodyOf, topOf] = [asks(Document, "body"), asks(Document, "documentElement")];

// What a page shows; nothing before it has anything.
const wholePage = () => bodyOf(document) ?? topOf(document);

const attribute = (element, name) => written(element, name) ?? "";

const INPUT_ROLES = {
  button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", search: "searchbox", file: "file", color: "color", hidden: "",
};
const TAG_ROLES = {
  button: "button", summary: "button", textarea: "textbox", option: "option", img: "image", svg: "image",
  table: "table", ul: "list", ol: "list", li: "listitem", nav: "navigation", main: "main", aside: "complementary",
  form: "form", dialog: "dialog", iframe: "frame", frame: "frame", fieldset: "group", video: "video", audio: "audio",
  progress: "progressbar", meter: "meter", h1: "heading", h2: "heading", h3: "heading", h4: "heading",
  h5: "heading", h6: "heading",
};
const ACTIVE = new Set([
  "link", "button", "textbox", "searchbox", "checkbox", "radio", "slider", "spinbutton", "file", "color", "combobox",
  "listbox", "option", "menuitem", "menuitemcheckbox", "menuitemradio", "switch", "tab", "treeitem",
]);

function roleOf(element) {
  const named = attribute(element, "role").trim().split(/\s+/)[0].toLowerCase().slice(0, 40);
  if (named && named !== "presentation" && named !== "none") return named;
  const tag = tagOf(element);
  if (tag === "a" || tag === "area") return has(element, "href") ? "link" : "";
  if (tag === "input") return INPUT_ROLES[element.type] ?? "textbox";
  if (tag === "select") return element.multiple || element.size > 1 ? "listbox" : "combobox";
  if (element.isContentEditable && !aboveOf(element)?.isContentEditable) return "textbox";
  if (Object.hasOwn(TAG_ROLES, tag)) return TAG_ROLES[tag];
  return "";
}

function isActive(element, role = roleOf(element)) {
  return ACTIVE.has(role) || (attribute(element, "tabindex") !== "" && element.tabIndex >= 0) ||
    has(element, "onclick");
}

function nameOf(element, most = 160) {
  const by = attribute(element, "aria-labelledby").split(/\s+/).filter(Boolean);
  const texts = by.map((id) => rootOf(element).getElementById?.(id)?.textContent ?? "");
  const named = clean(texts.join(" "), most) || clean(attribute(element, "aria-label"), most);
  if (named) return named;
  const tag = tagOf(element);
  if (["input", "textarea", "select", "meter", "progress"].includes(tag)) {
    const isButton = tag === "input" && INPUT_ROLES[element.type] === "button";
    if (isButton && clean(element.value)) return clean(element.value, most);
    const labels = [...(element.labels ?? [])].map(labelText).join(" ");
    return clean(labels, most) ||
      clean(attribute(element, "placeholder") || attribute(element, "title") || attribute(element, "alt") ||
        attribute(element, "name"), most);
  }
  if (tag === "img") return clean(attribute(element, "alt") || attribute(element, "title"), most);
  if (tag === "svg") return clean(any(element, "title")?.textContent, most);
  if (tag === "iframe" || tag === "frame") return clean(attribute(element, "title") || attribute(element, "name"), most);
  const text = clean(textOf(element), most);
  if (text) return text;
  const image = any(element, "img[alt], [aria-label], svg title");
  const inner = image && (attribute(image, "alt") || attribute(image, "aria-label") || image.textContent);
  return clean(inner || attribute(element, "title"), most);
}

// The words of a label, without what is typed or chosen in it.
function labelText(label) {
  const copy = label.cloneNode(true);
  copy.querySelectorAll("select, textarea, input, button, script, style").forEach((inner) => inner.remove());
  return copy.textContent;
}

const UNSEEN = new Set(["script", "style", "template", "noscript", "head", "title", "meta", "link", "base"]);

// Fields that pages like to draw themselves: the real one is there, only nothing is seen of it.
const isBox = (element) => tagOf(element) === "input" && ["checkbox", "radio"].includes(element.type);
const isFile = (element) => tagOf(element) === "input" && element.type === "file";

function isShown(element) {
  if (UNSEEN.has(tagOf(element))) return false;
  const opacityProperty = !isFile(element) && !isBox(element);
  return isVisible(element, { visibilityProperty: true, opacityProperty, contentVisibilityAuto: false });
}

// The box that a label stands for where nothing of it is drawn; none for anything else.
function boxBehind(label) {
  const field = tagOf(label) === "label" ? label.control : null;
  return field && isBox(field) && !isShown(field) ? field : null;
}

// Children as they are drawn: those of a shadow root instead of its host's, and what a slot was given.
function drawn(node) {
  const shadow = shadowOf(node);
  if (shadow) return childrenOf(shadow);
  if (tagOf(node) === "slot") {
    const given = node.assignedNodes();
    if (given.length) return given;
  }
  return childrenOf(node);
}

// The text of an element as it is drawn, without what is hidden.
function textOf(element, most = 20000) {
  let text = "";
  const walk = (node) => {
    if (text.length > most) return;
    const kind = kindOf(node);
    if (kind === 3) text += node.data;
    else if (kind === 1 && isShown(node)) {
      const tag = tagOf(node);
      const apart = !INLINE.has(tag);
      if (apart) text += "\n";
      if (tag === "br") text += "\n";
      for (const child of drawn(node)) walk(child);
      if (apart) text += "\n";
    }
  };
  if (isShown(element)) for (const child of drawn(element)) walk(child);
  return text;
}

const INLINE = new Set([
  "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "input", "ins", "kbd",
  "label", "mark", "meter", "output", "progress", "q", "ruby", "rt", "s", "samp", "select", "slot", "small", "span",
  "strong", "sub", "sup", "svg", "time", "tt", "u", "var", "wbr", "button", "textarea",
]);

// All that matches a selector, also within shadow roots.
function all(selector, root = document, most = 1000) {
  const found = [...every(root, selector)];
  if (found.length >= most) return found.slice(0, most);
  for (const element of every(root, "*")) {
    const shadow = shadowOf(element);
    if (shadow) found.push(...all(selector, shadow, most - found.length));
    if (found.length >= most) break;
  }
  return found;
}

function described(element) {
  const role = roleOf(element) || tagOf(element).slice(0, 60);
  const name = nameOf(element, 60);
  return role + (name ? " " + quoted(name, 60) : "");
}

// The elements that are most like what was looked for.
function nearest(selector) {
  const words = (selector.toLowerCase().match(/[a-z0-9äöüß]{2,}/g) ?? []).slice(0, 12);
  const scored = [];
  let seen = 0;
  for (const element of all("*", document, 5000)) {
    if (++seen > 5000) break;
    if (!isShown(element)) continue;
    const named = ["id", "class", "name", "data-testid"].map((name) => attribute(element, name)).join(" ");
    const id = (named + " " + tagOf(element)).toLowerCase();
    const active = isActive(element);
    const name = active ? nameOf(element, 60).toLowerCase() : "";
    let score = active ? 0.5 : 0;
    for (const word of words) score += (id.includes(word) ? 1 : 0) + (name.includes(word) ? 1 : 0);
    if (score > 0) scored.push([score, element]);
  }
  scored.sort((one, other) => other[0] - one[0]);
  return scored.slice(0, 3).map(([, element]) => refOf(element) + " (" + described(element) + ")");
}

// The element that is meant by a ref or a selector; where there is none, why.
function resolve({ ref, selector }) {
  if (ref) {
    const element = byRef.get(ref)?.deref();
    if (element && isThere(element)) return { element };
    return { missing: "stale", was: element ? described(element) : "", known: byRef.has(ref) };
  }
  let found;
  try {
    found = all(selector, document, 50);
  } catch (error) {
    return { missing: "selector", why: clean(error.message, 200) };
  }
  if (!found.length) return { missing: "nothing", nearest: nearest(selector) };
  // Of several, the first that is shown is what a person would mean.
  return { element: found.find(isShown) ?? found[0], count: found.length };
}

// Runs a reader or an act on the element that is meant.
const on = (act) => (what) => {
  const meant = resolve(what);
  return meant.element ? act(meant.element, what, meant) : meant;
};
