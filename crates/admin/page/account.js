// One's own account: its role, when the login ends, and another password.

import { put } from "./api.js";
import { say } from "./ask.js";
import { button, fill, h, pairs, section } from "./dom.js";
import { passwords } from "./enter.js";
import { blame, field, form } from "./form.js";
import { when } from "./words.js";

export const account = { title: "Your account", aside: true, show };

async function show(root, at) {
  const session = at.session();
  const old = field("old", "Password now", { kind: "password", required: true, autocomplete: "current-password" });
  const [next, again] = passwords("new");
  const send = async (values, element) => {
    if (values.new !== values.again) {
      blame(again, "is not the same");
      return again.control.focus();
    }
    at.keep(await put("/session/password", { old: values.old, new: values.new }, { entering: true }));
    element.reset();
    say("the password is another one now; all other logins have ended");
  };
  const facts = pairs([
    ["Name", session.account],
    ["Role", session.role],
    ["Login ends unused", when(session.idle_ms)],
    ["Login ends", when(session.ends_ms)],
  ]);
  fill(
    root,
    facts,
    h("div", { class: "row" }, button("Log out of this page", at.logOut)),
    section("Change the password", form({ label: "Change the password", fields: [old, next, again], submit: "Change it", send })),
  );
  return {};
}
