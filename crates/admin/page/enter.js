// Getting in: by a link that sets up an account, or by logging in.

import { get, post } from "./api.js";
import { h } from "./dom.js";
import { blame, field, form, telling } from "./form.js";
import { themeSwitch } from "./theme.js";

const RULE = "At least 16 characters, or 12 with three of: lower case, upper case, digits, others.";

function card(root, title, ...parts) {
  document.title = `${title} · Toolgate`;
  const heading = h("h1", {}, title);
  root.replaceChildren(
    h("main", { class: "card" }, h("p", { class: "brand" }, "Toolgate"), heading, parts),
    h("div", { class: "corner" }, themeSwitch()),
  );
  (root.querySelector("input:not([readonly])") ?? heading).focus();
}

export function setUp(root, { link, account }, entered) {
  const name = field("account", "Name", {
    required: true,
    autocomplete: "username",
    value: account ?? "",
    readonly: Boolean(account),
    maxlength: 64,
  });
  const [first, second] = passwords("password");
  const sent = async (values) => {
    if (values.password !== values.again) {
      blame(second, "is not the same");
      return second.control.focus();
    }
    entered(
      await post(
        "/setup",
        { link, account: account ? undefined : values.account, password: values.password },
        { entering: true },
      ),
    );
  };
  const fields = form({ label: "Set up", fields: [name, first, second], submit: "Set up and log in", send: sent });
  const intro = account ? `Choose the password of the account ${account}.` : "Choose the name and the password of your account.";
  card(root, "Set up", h("p", {}, intro), fields);
}

export function passwords(name) {
  const options = { kind: "password", required: true, autocomplete: "new-password" };
  return [field(name, "Password", { ...options, hint: RULE }), field("again", "Password, again", options)];
}

export async function enter(root, problem, entered, account = "") {
  const name = field("account", "Name", { required: true, autocomplete: "username", value: account });
  const password = field("password", "Password", { kind: "password", required: true, autocomplete: "current-password" });
  const send = async (values) => entered(await post("/session", values, { entering: true }));
  const fields = form({ label: "Log in", fields: [name, password], submit: "Log in", send });
  const ended =
    account && h("p", { class: "hint", role: "status" }, "Your login has ended. What you were doing is kept: log in to go on.");
  const failed = problem && problem.status !== 401 && h("div", { class: "fault whole", role: "alert" }, telling(problem));
  card(root, "Log in", ended, failed, fields);
  if (account) password.control.focus();
  const { needed } = await get("/setup", { entering: true }).catch(() => ({}));
  if (needed) {
    card(
      root,
      "Set up",
      h(
        "p",
        {},
        "There is no account yet. The first one is made by a link, which ",
        h("code", {}, "toolgate serve"),
        " printed when it started. To make another: ",
        h("code", {}, "toolgate admin link"),
        ".",
      ),
    );
  }
}
