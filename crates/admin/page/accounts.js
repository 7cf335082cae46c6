// The accounts of this page: invited by a link, with a role, and taken away again.

import { items, path, post, put, remove } from "./api.js";
import { doing, fail, once, say, sure } from "./ask.js";
import { button, h, renew, section, table } from "./dom.js";
import { field, form } from "./form.js";
import { at as exactly, when } from "./words.js";

const ROLES = [
  ["viewer", "viewer: looks"],
  ["approver", "approver: also answers"],
  ["admin", "admin: also changes"],
];

export function accounts(at) {
  const list = table("Accounts of this page", ["Name", "Role", "Made", "Logged in", ""]);
  const load = async () => {
    const row = (one) =>
      list.row(
        one.name,
        roleOf(one, load),
        [when(one.created_ms), ` by ${one.created_by}`],
        when(one.last_login_ms),
        acts(one, at, load),
      );
    renew(list.body, await items("/accounts"), ({ name }) => name, row);
  };
  const account = field("account", "Name", { required: true, maxlength: 64 });
  const role = field("role", "Role", { kind: "select", options: ROLES });
  const send = async (values, element) => {
    const made = await post("/accounts", values);
    element.reset();
    await show("Invitation", values.account, made);
  };
  const inviting = h(
    "details",
    {},
    h("summary", {}, "Invite someone"),
    form({ label: "Invite someone", fields: [account, role], submit: "Make a link", send }),
  );
  return { element: section("Accounts of this page", list.element, inviting), load };
}

const show = (title, name, made) =>
  once(
    `${title}: ${name}`,
    `Give this link to ${name}. It works once, until ${exactly(made.expires_ms)}, and is shown this once.`,
    location.origin + made.path,
  );

function roleOf(one, load) {
  const select = h(
    "select",
    { "aria-label": `Role of ${one.name}`, "data-act": "role" },
    ROLES.map(([value]) => h("option", {}, value)),
  );
  select.value = one.role;
  select.addEventListener("change", async () => {
    try {
      await put(path`/accounts/${one.name}/role`, { role: select.value });
      say(`${one.name} is now ${select.value}`);
      await load();
    } catch (problem) {
      select.value = one.role;
      fail(problem);
    }
  });
  return select;
}

function acts(one, at, load) {
  const asked = (title, text, yes, act, done) => async (event) => {
    const pressed = { currentTarget: event.currentTarget };
    if (!(await sure(title, text, yes))) return;
    await doing(pressed, act, done);
    await load().catch(() => {});
  };
  const newLink = async (event) => {
    let made;
    if (await doing(event, async () => (made = await post(path`/accounts/${one.name}/link`))))
      await show("New password", one.name, made);
  };
  const out = asked(
    `End all logins of ${one.name}?`,
    "They have to log in again.",
    "End them",
    () => remove(path`/accounts/${one.name}/sessions`),
    "ended",
  );
  const gone = asked(
    `Remove the account ${one.name}?`,
    "Its logins end at once.",
    "Remove",
    () => remove(path`/accounts/${one.name}`),
    `removed: ${one.name}`,
  );
  return h(
    "div",
    { class: "row" },
    button("New password", newLink, { "data-act": "link", "aria-label": `New password for ${one.name}` }),
    button("Log out", out, { "data-act": "out", "aria-label": `Log out everywhere: ${one.name}` }),
    one.name !== at.session().account &&
      button("Remove", gone, { class: "danger", "data-act": "remove", "aria-label": `Remove the account ${one.name}` }),
  );
}
