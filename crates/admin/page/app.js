// The page: who is logged in, the frame around the views, and what they share.

import { Problem, get, keepCsrf, onLost, remove } from "./api.js";
import { access } from "./access.js";
import { account } from "./account.js";
import { approvals } from "./approvals.js";
import { fail, say } from "./ask.js";
import { audit } from "./audit.js";
import { catalog } from "./catalog.js";
import { button, h } from "./dom.js";
import { enter, setUp } from "./enter.js";
import { listen } from "./live.js";
import { overview } from "./overview.js";
import { Router } from "./router.js";
import { scripts } from "./scripts.js";
import { secrets } from "./secrets.js";
import { servers } from "./servers.js";
import { settings } from "./settings.js";
import { themeSwitch } from "./theme.js";
import { age, plural, state } from "./words.js";

// Views of which the status tells how many things wait there.
const WAITING = ["approvals", "scripts"];
const VIEWS = { overview, approvals, catalog, servers, scripts, secrets, access, audit, settings, account };
const ROLES = ["viewer", "approver", "admin"];

const gate = document.getElementById("gate");
const shell = document.getElementById("shell");
let session;
let running;

// What every view may know.
const shared = {
  status: undefined,
  may: (role) => ROLES.indexOf(session?.role) >= ROLES.indexOf(role),
  session: () => session,
  onView: () => {},
  logOut,
  keep: (next) => {
    session = next;
    keepCsrf(next.csrf, next.account);
  },
};

// A link leaves the address at once, so that it stays in no history.
function takeLink() {
  if (!location.hash.startsWith("#setup=")) return undefined;
  const given = new URLSearchParams(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
  return { link: given.get("setup"), account: given.get("account") };
}

async function start() {
  addEventListener("hashchange", () => {
    const link = takeLink();
    if (link) leave(() => setUp(gate, link, entered));
  });
  onLost((problem) => session && gate.hidden && leave(() => enter(gate, problem, entered, session.account)));
  const link = takeLink();
  if (link) return leave(() => setUp(gate, link, entered));
  try {
    entered(await get("/session", { entering: true }));
  } catch (problem) {
    leave(() => enter(gate, problem, entered));
  }
}

// The frame stays as it is behind the login, so that whoever comes back finds what they had typed.
function leave(show) {
  running?.silence();
  shell.hidden = true;
  gate.hidden = false;
  show();
}

function entered(next) {
  const same = session && running && session.account === next.account && session.role === next.role;
  shared.keep(next);
  gate.hidden = true;
  gate.replaceChildren();
  shell.hidden = false;
  if (same) return running.resume();
  running?.stop();
  running = run();
}

async function logOut() {
  running?.stop();
  try {
    await remove("/session");
  } catch (problem) {
    if (problem.status !== 401) {
      running = run();
      return fail(problem);
    }
  }
  running = undefined;
  session = undefined;
  keepCsrf();
  shell.replaceChildren();
  leave(() => enter(gate, undefined, entered));
}

function run() {
  const live = h("span", { class: "live" });
  const main = h("main", { id: "main", tabindex: -1 });
  const { nav, mark, renew } = navigation();
  shell.replaceChildren(
    h("a", { class: "skip", href: "#main", onclick: (event) => (event.preventDefault(), main.focus()) }, "Skip to the content"),
    header(nav, live),
    nav,
    main,
  );
  const context = Object.assign(Object.create(null), shared, { onView: mark });
  const router = new Router(main, VIEWS, context);
  const told = {
    live: (is) => {
      live.replaceChildren(is ? state("connected", "live") : state("connecting", "not live"));
      if (is && deaf) router.tell("changed", "all");
      deaf = !is;
    },
    status: (status) => {
      if (status.approvals > (context.status?.approvals ?? 0))
        say(`${plural(status.approvals, "call waits", "calls wait")} for a person`, "busy");
      context.status = status;
      renew(context);
      router.tell("status", status);
    },
    metrics: (sample) => router.tell("metrics", sample),
    changed: ({ what }) => {
      router.tell("changed", what);
      if (what === "accounts")
        get("/session").then(
          (next) => next.role !== session.role && entered(next),
          () => {},
        );
    },
  };
  let deaf = false;
  let silence = () => {};
  const resume = () => {
    silence = listen(told);
    if (router.shown) router.tell("changed", "all");
    else router.go(false);
  };
  const begin = async () => {
    context.status = await get("/status").catch(() => undefined);
    renew(context);
    silence = listen(told);
    if (session) await router.go(false);
  };
  begin();
  return { resume, silence: () => silence(), stop: () => (silence(), router.stop()) };
}

function header(nav, live) {
  const menu = button(
    "Menu",
    () => {
      const open = nav.classList.toggle("open");
      menu.setAttribute("aria-expanded", String(open));
    },
    { class: "menu", "aria-expanded": "false", "aria-controls": nav.id },
  );
  addEventListener("hashchange", () => {
    nav.classList.remove("open");
    menu.setAttribute("aria-expanded", "false");
  });
  const who = h("a", { href: "#/account", class: "who" }, session.account, h("span", { class: "role" }, ` ${session.role}`));
  return h(
    "header",
    { class: "top" },
    menu,
    h("a", { class: "brand", href: "#/overview" }, "Toolgate"),
    live,
    h("span", { class: "gap" }),
    themeSwitch(),
    who,
    button("Log out", logOut, { class: "out" }),
  );
}

function navigation() {
  const entries = Object.entries(VIEWS).filter(([, view]) => !view.aside);
  const links = entries.map(([name, view]) => {
    const waiting = h("span", { class: "badge", hidden: true });
    const link = h("a", { href: `#/${name}` }, view.title, waiting);
    return { name, view, link, waiting, item: h("li", {}, link) };
  });
  const nav = h(
    "nav",
    { id: "nav", "aria-label": "Views" },
    h(
      "ul",
      {},
      links.map(({ item }) => item),
    ),
  );
  let number = 0;
  // Whoever looks at another tab sees in this one's name that something waits.
  const entitle = () => {
    document.title = (number ? `(${number}) ` : "") + document.title.replace(/^\(\d+\) /, "");
  };
  const mark = (shown) => {
    entitle();
    for (const { name, link } of links) {
      if (name === shown) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };
  const renew = (context) => {
    for (const { name, view, waiting, item } of links) {
      item.hidden = Boolean(view.visible && !view.visible(context));
      const count = WAITING.includes(name) && context.status?.[name];
      waiting.hidden = !count;
      waiting.replaceChildren(String(count), h("span", { class: "unseen" }, " waiting"));
    }
    number = context.status?.approvals ?? 0;
    entitle();
  };
  return { nav, mark, renew };
}

// What a button began and nobody waits for: a problem of the server is told, a fault of the page stays one.
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Problem)) return;
  event.preventDefault();
  if (event.reason.status !== 401) fail(event.reason);
});
setInterval(age, 10_000);
start();
