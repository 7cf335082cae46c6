// Which view the address names, and the one that is shown.

import { button, h } from "./dom.js";
import { telling } from "./form.js";

// `#/servers/web?x=1` as its parts.
export function parse(hash) {
  const [where, search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = where.split("/");
  return { name: name || "overview", rest: rest.map(plain), query: Object.fromEntries(new URLSearchParams(search)) };
}

function plain(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const link = (name, ...rest) => `#/${[name, ...rest.map(encodeURIComponent)].join("/")}`;

// Shows in `main` what the address names. A view is `{title, show(root, at)}`; what `show` gives back hears of changes.
export class Router {
  constructor(main, views, context) {
    Object.assign(this, { main, views, context, shown: undefined, turn: 0 });
    this.moved = () => this.go(true);
    addEventListener("hashchange", this.moved);
  }

  stop() {
    removeEventListener("hashchange", this.moved);
    this.shown?.stop?.();
    this.shown = undefined;
    this.turn += 1;
  }

  async go(focus) {
    const at = parse(location.hash);
    const view = this.views[at.name];
    if (!view || (view.visible && !view.visible(this.context))) return location.replace("#/overview");
    this.shown?.stop?.();
    this.shown = undefined;
    const turn = ++this.turn;
    const title = at.rest[0] ?? view.title;
    const heading = h("h1", { tabindex: -1 }, title);
    const root = h("div", { class: `view ${at.name}` });
    document.title = `${title} · Toolgate`;
    this.main.replaceChildren(heading, root);
    this.context.onView(at.name);
    if (focus) heading.focus();
    this.main.setAttribute("aria-busy", "true");
    try {
      const shown = await view.show(root, { ...at, ...this.context });
      if (turn === this.turn) this.shown = shown;
      else shown?.stop?.();
    } catch (problem) {
      if (turn === this.turn)
        root.append(
          h("div", { class: "fault whole", role: "alert" }, telling(problem)),
          button("Try again", () => this.go(true)),
        );
    }
    if (turn === this.turn) this.main.removeAttribute("aria-busy");
  }

  tell(kind, value) {
    try {
      this.shown?.[kind]?.(value)?.catch?.(() => {});
    } catch (error) {
      console.error(error);
    }
  }
}
