// Who may come in: tokens, principals, connections, and the accounts of this page.

import { items, path, post, remove } from "./api.js";
import { accounts } from "./accounts.js";
import { doing, once, sure } from "./ask.js";
import { button, fill, h, renew, section, table } from "./dom.js";
import { field, form } from "./form.js";
import { state, when } from "./words.js";

const DAY = 24 * 60 * 60;
const ENDS = [
  ["", "until it is revoked"],
  [String(DAY), "one day"],
  [String(30 * DAY), "30 days"],
  [String(90 * DAY), "90 days"],
  [String(365 * DAY), "a year"],
];

export const access = { title: "Access", show };

async function show(root, at) {
  const may = at.may("admin");
  const tokens = table("Tokens", ["Principal", "State", "Note", "Roles", "Made", "Used", "Ends", ""]);
  const principals = table("Principals", ["Name", "Roles", "In the settings", "Tokens", "Connected", "Token used"]);
  const clients = table("Sessions", ["Client", "Principal", "Transport", "Since"]);
  const people = may && accounts(at);

  const loadTokens = async () => {
    const row = (one) =>
      tokens.row(
        h("span", { title: one.id }, one.principal),
        state(one.state),
        one.note,
        one.roles.join(", "),
        [when(one.created_ms), ` by ${one.created_by}`],
        when(one.last_used_ms),
        when(one.expires_ms),
        may && one.state === "active" && revoking(one, loadTokens),
      );
    renew(tokens.body, await items("/tokens"), ({ id }) => id, row, "There is no token.");
  };
  const loadOthers = async () => {
    const [known, connected] = await Promise.all([items("/principals"), items("/connections")]);
    const principal = (one) =>
      principals.row(
        one.name,
        one.roles.join(", "),
        one.configured ? "yes" : "no",
        String(one.tokens),
        String(one.connections),
        when(one.last_used_ms),
      );
    renew(principals.body, known, ({ name }) => name, principal, "Nobody yet but the local principal.");
    const client = (one) =>
      clients.row(
        [one.client ?? "unnamed", one.client_version].filter(Boolean).join(" "),
        one.principal,
        one.transport,
        when(one.since_ms),
      );
    renew(clients.body, connected, ({ id }) => String(id), client, "No client is connected.");
  };
  fill(
    root,
    section("Tokens", tokens.element, may && making(loadTokens)),
    section("Principals", principals.element),
    section("Sessions", clients.element),
    people?.element,
  );
  await Promise.all([loadTokens(), loadOthers(), people && people.load()]);
  const on = {
    tokens: () => Promise.all([loadTokens(), loadOthers()]),
    accounts: () => people && people.load(),
    all: () => Promise.all([loadTokens(), loadOthers(), people && people.load()]),
  };
  return { changed: (what) => on[what]?.(), status: loadOthers };
}

function revoking(one, load) {
  return button(
    "Revoke",
    async (event) => {
      const pressed = { currentTarget: event.currentTarget };
      const named = one.note ? `${one.principal} (${one.note})` : one.principal;
      if (!(await sure(`Revoke the token of ${named}?`, "Clients that use it are refused at once.", "Revoke"))) return;
      await doing(pressed, () => remove(path`/tokens/${one.id}`), "revoked");
      await load();
    },
    { class: "danger", "data-act": "revoke", "aria-label": `Revoke the token of ${one.principal}` },
  );
}

function making(load) {
  const principal = field("principal", "Principal", { required: true, maxlength: 128, hint: "Who it stands for." });
  const roles = field("roles", "Roles", { hint: "Of the policy, with commas between them." });
  const ends = field("expires_in_seconds", "Ends", { kind: "select", options: ENDS, value: "" });
  const note = field("note", "Note", { maxlength: 500, hint: "What it is for." });
  const send = async (values, element) => {
    const body = {
      principal: values.principal.trim(),
      roles: values.roles
        .split(",")
        .map((role) => role.trim())
        .filter(Boolean),
      note: values.note,
    };
    if (values.expires_in_seconds) body.expires_in_seconds = Number(values.expires_in_seconds);
    const made = await post("/tokens", body);
    element.reset();
    await load();
    await once("The new token", "It is shown this once. Clients send it as “Authorization: Bearer …”.", made.token);
  };
  return h(
    "details",
    {},
    h("summary", {}, "Make a token"),
    form({ label: "Make a token", fields: [principal, roles, ends, note], submit: "Make", send }),
  );
}
