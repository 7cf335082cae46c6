// One other MCP server: its state, what its program wrote, and what can be done about it.

import { get, path, post, remove } from "./api.js";
import { dialog, doing, say, sure } from "./ask.js";
import { button, fill, h, pairs, section, ticked } from "./dom.js";
import { field, form } from "./form.js";
import { at as exactly, plural, state } from "./words.js";

// What a program writes is told by nobody; it is looked at.
const EVERY = 3000;

export async function server(root, at, name) {
  const facts = h("div");
  const notes = section("What it did wrong", h("ul"));
  const tail = h("pre", { class: "code", tabindex: 0, role: "region", "aria-label": "What its program wrote" });
  const acts = h("div", { class: "row" });
  const here = { gone: false };
  let drawn = "";

  const load = async () => {
    if (here.gone) return;
    const one = await get(path`/upstreams/${name}`);
    facts.replaceChildren(factsOf(one));
    notes.hidden = !one.notes.length;
    notes
      .querySelector("ul")
      .replaceChildren(...one.notes.map((note) => h("li", {}, `${note.what} (${note.times}×): ${note.detail}`)));
    tail.textContent = one.stderr.length ? one.stderr.join("\n") : "Nothing.";
    const offered = JSON.stringify([one.enabled, one.removable, one.state]);
    // Buttons are renewed only when they change, so that focus stays.
    if (at.may("admin") && offered !== drawn) redraw(acts, offering(one, load, here));
    drawn = offered;
  };
  fill(
    root,
    h("p", {}, h("a", { href: "#/servers" }, "← all servers")),
    acts,
    facts,
    notes,
    section("What its program wrote", tail),
  );
  await load();
  const timer = setInterval(() => root.offsetParent && load().catch(() => {}), EVERY);
  return {
    status: load,
    changed: (what) => ["upstreams", "tools", "all"].includes(what) && load(),
    stop: () => clearInterval(timer),
  };
}

function redraw(acts, buttons) {
  const held = acts.contains(document.activeElement) ? document.activeElement.dataset.act : undefined;
  acts.replaceChildren(...buttons.filter(Boolean));
  if (held) (acts.querySelector(`[data-act="${held}"]`) ?? acts.querySelector("button"))?.focus();
}

function factsOf(one) {
  return pairs([
    ["State", state(one.state ?? "unknown")],
    ["Problem", one.error && [ticked(one.error), one.hint && h("span", { class: "hint" }, " ", ticked(one.hint))], "wide"],
    ["Reached by", [h("code", { class: "long" }, one.reach), ` (${one.transport})`], "wide"],
    ["Speaks", one.version && `${one.version} (${one.era})`],
    ["Offers", [plural(one.tools, "tool"), plural(one.resources, "resource"), plural(one.prompts, "prompt")].join(", ")],
    ["Connections", `${one.connections} now, ${one.lost} lost`],
    ["Processes", one.processes.join(", ")],
    ["Calls under way", String(one.in_flight)],
  ]);
}

function offering(one, load, here) {
  const act = (label, word, done) =>
    button(
      label,
      async (event) => {
        await doing(event, () => post(path`/upstreams/${one.name}/` + word, undefined, {}), done);
        await load();
      },
      { "data-act": word.includes("able") ? "switch" : word },
    );
  const remote = one.transport !== "stdio";
  return [
    one.enabled ? act("Disable", "disable", "disabled") : act("Enable", "enable", "enabled"),
    one.enabled && act("Restart", "restart", "restarted"),
    remote && button("Authorize…", (event) => signIn(event, one.name, load), { "data-act": "sign-in" }),
    remote && act("Sign out", "sign-out", "signed out"),
    one.removable && button("Remove…", (event) => removing(event, one.name, here), { class: "danger", "data-act": "remove" }),
    !one.removable && h("span", { class: "hint" }, "It stands in no file that may be changed here."),
  ];
}

async function removing(event, name, here) {
  const pressed = { currentTarget: event.currentTarget };
  if (!(await sure(`Remove ${name}?`, "It is taken out of the settings, and its tools are gone at once.", "Remove"))) return;
  // What changes meanwhile must not ask for what is no longer there.
  here.gone = true;
  here.gone = await doing(pressed, () => remove(path`/upstreams/${name}`), `removed: ${name}`);
  if (here.gone) location.hash = "#/servers";
}

async function signIn(event, name, load) {
  let begun;
  if (!(await doing(event, async () => (begun = await post(path`/upstreams/${name}/sign-in`, undefined))))) return;
  const safe = /^https?:/.test(begun.url) ? begun.url : undefined;
  await dialog(`Authorize ${name}`, (close) => {
    const address = field("address", "Address it ended at", { kind: "url", required: true });
    const send = async (values) => {
      await post(path`/upstreams/${name}/sign-in/finish`, values);
      say(`authorized: ${name}`);
      close(true);
    };
    return [
      h(
        "p",
        {},
        h("a", { href: safe, target: "_blank", rel: "noopener noreferrer" }, "Sign in (new tab)"),
        `, until ${exactly(begun.expires_ms)}. A browser on the machine of Toolgate ends it by itself. `,
        "Elsewhere the browser ends at an address that does not load: paste it here.",
      ),
      form({ label: "End signing in", fields: [address], submit: "Go on", send, extra: button("Close", () => close(false)) }),
    ];
  });
  await load();
}
