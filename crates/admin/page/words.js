// How times, sizes and states are written.

import { h } from "./dom.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export const at = (ms) => exact.format(new Date(ms));
export const clockAt = (ms) => clock.format(new Date(ms));

export function span(ms) {
  const of = (unit, word) => `${Math.floor(ms / unit)} ${word}`;
  if (ms < MINUTE) return of(SECOND, "s");
  if (ms < HOUR) return of(MINUTE, "min");
  if (ms < 2 * DAY) return of(HOUR, "h");
  return of(DAY, "days");
}

// A moment as distance, with the exact time at hand.
export function when(ms, none = "never") {
  if (ms === undefined || ms === null) return none;
  return h("time", { datetime: new Date(ms).toISOString(), title: at(ms), "data-ms": ms }, distance(ms));
}

function distance(ms) {
  const away = ms - Date.now();
  return away > 0 ? `in ${span(away)}` : -away < 5 * SECOND ? "just now" : `${span(-away)} ago`;
}

// Distances grow: those on the page are written anew.
export function age() {
  for (const element of document.querySelectorAll("time[data-ms]")) element.textContent = distance(Number(element.dataset.ms));
}

export function took(us) {
  if (us === undefined || us === null) return "–";
  if (us < 1000) return `${us} µs`;
  if (us < 1000 * 1000) return `${round(us / 1000)} ms`;
  return `${round(us / 1000 / 1000)} s`;
}

export const round = (value) =>
  value >= 100 || Number.isInteger(value) ? Math.round(value).toString() : Number(value.toPrecision(2)).toString();
export const count = (value) => value.toLocaleString();
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

// How good a state is: this chooses the colour; the word beside the dot says it.
const MOODS = {
  good: ["connected", "active", "approved", "used", "allow", "trusted", "allowed", "complete"],
  busy: [
    "connecting",
    "pending",
    "ask",
    "warned",
    "modified",
    "medium",
    "needs_auth",
    "needs_client_registration",
    "needsApproval",
    "rateLimited",
    "cancelled",
    "inputRequired",
    "task",
  ],
  bad: [
    "failed",
    "rejected",
    "deny",
    "denied",
    "held",
    "high",
    "unknown",
    "connectionFailed",
    "sessionNotFound",
    "invalidInput",
    "timeout",
    "unauthorized",
    "fileNotFound",
    "skillNotFound",
    "agentNotFound",
    "mcpError",
    "notFound",
    "internal",
  ],
};

export function mood(state) {
  return Object.keys(MOODS).find((name) => MOODS[name].includes(state)) ?? "dull";
}

export function state(word, shown = word) {
  return h(
    "span",
    { class: `state ${mood(word)}` },
    h("span", { class: "dot", "aria-hidden": "true" }),
    String(shown).replaceAll("_", " "),
  );
}
