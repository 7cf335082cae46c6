// The inbox by keyboard. Keys count only on an item of it, so that no stray letter answers a call.

const ACTS = { a: "once", A: "always", s: "session", r: "reject" };
const MOVES = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
const TYPED = "input, textarea, select, dialog";

export function keys(inbox) {
  const items = () => [...inbox.children].filter((child) => child.dataset.key);

  const move = (event) => {
    const all = items();
    if (!all.length) return;
    const here = all.indexOf(event.target.closest?.("[data-key]"));
    const next = here < 0 ? 0 : Math.min(Math.max(here + MOVES[event.key], 0), all.length - 1);
    event.preventDefault();
    all[next].focus();
    all[next].scrollIntoView({ block: "nearest" });
  };
  const pressed = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.(TYPED)) return;
    const inside = inbox.contains(event.target);
    // Arrows scroll the page and its boxes; they move only from item to item.
    if (event.key in MOVES && (event.key.length === 1 || items().includes(event.target))) return move(event);
    const act = ACTS[event.key];
    if (!act || !inside || event.repeat) return;
    const target = event.target.closest("[data-key]")?.querySelector(`[data-act="${act}"]`);
    if (!target) return;
    event.preventDefault();
    target.click();
  };
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}
