// What the page says, and what it asks before it does something that cannot be undone.

import { button, freshId, h } from "./dom.js";
import { telling } from "./form.js";

const STAYS = 6000;
const MOST = 3;

// Says something in passing, to eyes and screen readers.
export function say(text, mood = "good") {
  const note = h("div", { class: `note ${mood}` }, text);
  const said = document.getElementById("said");
  said.append(note);
  while (said.children.length > MOST) said.firstChild.remove();
  setTimeout(() => note.remove(), STAYS);
}

export function fail(problem) {
  if (problem.name === "AbortError") return;
  const [what, hint] = telling(problem).map((part) => part.textContent);
  say(hint ? `${what}: ${hint}` : what, "bad");
}

// A dialog with something in it; the promise ends when it is closed, with what was chosen.
export function dialog(title, fill) {
  const id = freshId("dialog");
  return new Promise((resolve) => {
    const element = h("dialog", { "aria-labelledby": id });
    const close = (value) => {
      element.close();
      element.remove();
      resolve(value);
    };
    element.append(h("h2", { id }, title), ...[fill(close)].flat());
    element.addEventListener("cancel", (event) => {
      event.preventDefault();
      close(undefined);
    });
    document.body.append(element);
    element.showModal();
  });
}

// Asks; true if yes.
export function sure(title, text, yes) {
  return dialog(title, (close) => [
    h("p", {}, text),
    h(
      "div",
      { class: "row" },
      button(yes, () => close(true), { class: "danger" }),
      button("Cancel", () => close(false), { autofocus: true }),
    ),
  ]);
}

// Shows what is shown only once.
export function once(title, text, secret) {
  const shown = h("textarea", {
    class: "code",
    readonly: true,
    rows: 3,
    "aria-label": title,
    value: secret,
    onfocus: () => shown.select(),
  });
  const copy = async () => {
    shown.select();
    try {
      await navigator.clipboard.writeText(secret);
      say("copied");
    } catch {
      say("it is selected: copy it by keyboard", "busy");
    }
  };
  return dialog(title, (close) => [
    h("p", {}, text),
    shown,
    h(
      "div",
      { class: "row" },
      button("Copy", copy, { class: "main" }),
      button("Done", () => close(true)),
    ),
  ]);
}

// Marks the item of a list that someone acts on here: when it goes, they go on with the next.
export function acting(element) {
  const item = element?.closest("[data-key]");
  if (item) item.dataset.acted = "true";
  return item;
}

// Runs something that a button asked for; the button waits for its end.
export async function doing(event, act, done) {
  const pressed = event?.currentTarget;
  if (pressed?.getAttribute("aria-disabled") === "true") return false;
  pressed?.setAttribute("aria-disabled", "true");
  const item = acting(pressed);
  try {
    await act();
    if (done) say(done);
    return true;
  } catch (problem) {
    fail(problem);
    if (item) delete item.dataset.acted;
    return false;
  } finally {
    pressed?.removeAttribute("aria-disabled");
  }
}
