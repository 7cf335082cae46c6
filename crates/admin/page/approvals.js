// The inbox: calls that wait for a person, tools that are not what they were, and answers that hold.

import { items, path, post, remove } from "./api.js";
import { acting, doing, say, sure } from "./ask.js";
import { waitingScripts } from "./approvals_scripts.js";
import { pins } from "./approvals_pins.js";
import { button, fill, h, pairs, renew, section, table } from "./dom.js";
import { field, form } from "./form.js";
import { keys } from "./keys.js";
import { state, when } from "./words.js";

const HINTS = [
  ["j", "next"],
  ["k", "previous"],
  ["a", "approve once"],
  ["shift a", "always"],
  ["s", "for its connection"],
  ["r", "reject"],
];

export const approvals = { title: "Approvals", show };

async function show(root, at) {
  const may = at.may("approver");
  const calls = h("div", { class: "inbox" });
  const answered = table("Calls that were answered", ["Call", "Principal", "Answer", "By", "When"]);
  const held = table("Answers that hold", ["For", "Target", "Rule", "Lasts", "By", "Since", ""]);
  const changed = pins(may);
  const scripts = waitingScripts(at);

  const loadCalls = async () => {
    const all = await items("/approvals?all=true");
    const pending = all.filter((one) => one.state === "pending");
    renew(
      calls,
      pending,
      ({ id }) => id,
      (one) => waiting(one, may, loadCalls),
      "Nothing waits. A call that needs a person shows here within a second.",
    );
    const rest = all.filter((one) => one.state !== "pending").reverse();
    renew(
      answered.body,
      rest,
      ({ id }) => id,
      (one) =>
        answered.row(
          h("code", {}, one.target),
          one.principal,
          [state(one.state), one.answer && h("span", { class: "hint" }, ` ${one.answer}`)],
          one.answered_by,
          when(one.answered_ms),
        ),
      "No answer yet.",
    );
  };
  const loadHeld = async () => {
    const all = await items("/remembered");
    renew(
      held.body,
      all,
      ({ id }) => id,
      (one) =>
        held.row(
          one.principal,
          h("code", {}, one.target),
          one.rule,
          one.lasting === "always" ? "always" : "for its connection",
          one.by,
          when(one.at_ms),
          may && forgetting(one),
        ),
      "No answer holds for more than one call.",
    );
  };
  const forgetting = (one) =>
    button(
      "Forget",
      async (event) => {
        const pressed = { currentTarget: event.currentTarget };
        if (!(await sure("Forget this answer?", `The rule ${one.rule} asks again about ${one.target}.`, "Forget"))) return;
        await doing(pressed, () => remove(path`/remembered/${one.id}`), "forgotten");
        await loadHeld();
      },
      { "data-act": "forget", "aria-label": `Forget the answer about ${one.target}` },
    );

  const hints =
    may &&
    h(
      "p",
      { class: "hint keys" },
      "Keys, on a call: ",
      HINTS.map(([press, does]) => [key(press), ` ${does}  `]),
    );
  fill(
    root,
    section("Calls that wait", hints, calls),
    changed.element,
    scripts.element,
    section("Answers that hold", held.element),
    section("Answered lately", answered.element),
  );
  const off = keys(calls);
  await Promise.all([loadCalls(), loadHeld(), changed.load(), scripts.load()]);
  const on = {
    approvals: loadCalls,
    remembered: loadHeld,
    pins: changed.load,
    scripts: scripts.load,
    upstreams: changed.load,
    all: () => Promise.all([loadCalls(), loadHeld(), changed.load(), scripts.load()]),
  };
  return { changed: (what) => on[what]?.(), stop: off };
}

// One call, with what may be done about it.
function waiting(one, may, load) {
  const title = h("h3", { id: `call-${one.id}` }, h("code", {}, one.target), one.title && ` ${one.title}`);
  const facts = pairs([
    ["Who", [one.principal, one.client && h("span", { class: "role" }, ` ${one.client}`)]],
    ["Goes to", one.source],
    ["Rule", [h("code", {}, one.rule), one.reason && ` ${one.reason}`]],
    ["Asked", when(one.asked_ms)],
    ["Ends", when(one.expires_ms)],
  ]);
  const given = h("pre", { class: "code", tabindex: 0, role: "region", "aria-label": "Arguments" }, one.arguments || "{}");
  const answer = async (event, word, body, done) => {
    await doing(event, () => post(path`/approvals/${one.id}/` + word, body), done);
    await load();
  };
  const approve = (lasting, done) => (event) => answer(event, "approve", { lasting }, done);
  const buttons =
    may &&
    h(
      "div",
      { class: "row" },
      button(["Approve once", pressed("a")], approve("once", `approved once: ${one.target}`), {
        class: "main",
        "data-act": "once",
      }),
      one.has_session &&
        button(["For its connection", pressed("s")], approve("session", `approved for its connection: ${one.target}`), {
          "data-act": "session",
        }),
      button(
        ["Always", pressed("shift a")],
        (event) => always(one, approve("always", `approved for good: ${one.target}`), event),
        { "data-act": "always" },
      ),
      button(["Reject…", pressed("r")], () => toggle(), { class: "danger", "data-act": "reject", "aria-expanded": "false" }),
    );
  const refusal = may && rejecting(one, load);
  const toggle = () => {
    refusal.hidden = !refusal.hidden;
    buttons.querySelector("[data-act=reject]").setAttribute("aria-expanded", String(!refusal.hidden));
    if (!refusal.hidden) refusal.querySelector("input").focus();
  };
  return h(
    "article",
    { class: "waiting", tabindex: 0, "aria-labelledby": `call-${one.id}` },
    title,
    facts,
    given,
    buttons,
    refusal,
  );
}

const key = (text) => text.split(" ").map((one) => h("kbd", {}, one));

// On a button, for the eye only: a screen reader says the button's name.
const pressed = (text) => h("span", { class: "press", "aria-hidden": "true" }, key(text));

async function always(one, approve, event) {
  const pressed = { currentTarget: event.currentTarget };
  const text = `${one.principal} may then call ${one.target} whenever the rule ${one.rule} would ask, with any arguments, until the answer is forgotten.`;
  if (await sure("Approve always?", text, "Approve always")) await approve(pressed);
}

function rejecting(one, load) {
  const reason = field("reason", "Reason, for the caller", { maxlength: 1000, hint: "The agent reads it. It may stay empty." });
  const send = async ({ reason: text }) => {
    acting(element);
    await post(path`/approvals/${one.id}/reject`, text.trim() ? { reason: text } : {});
    say(`rejected: ${one.target}`);
    await load();
  };
  const element = form({ label: `Reject ${one.target}`, fields: [reason], submit: "Reject", tone: "danger", send, hidden: true });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    element.hidden = true;
    const opener = element.closest("article").querySelector("[data-act=reject]");
    opener.setAttribute("aria-expanded", "false");
    opener.focus();
  });
  return element;
}
