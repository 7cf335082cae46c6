// The one place that talks to the API: what to send along, and what an answer means.

const BASE = "/admin/api";
const LONGEST_WAIT_SHOWN = 3600;

let csrf = "0";
let owner;
let lost = () => {};

// What the API refused, in its own words.
export class Problem extends Error {
  constructor(status, details, wait) {
    super(details.detail || details.title || `the server answered ${status}`);
    this.status = status;
    this.word = (details.type || "").split(":").pop();
    this.hint = details.hint;
    this.fields = details.fields || [];
    this.wait = wait;
  }
}

export const keepCsrf = (value, account) => {
  csrf = value || "0";
  owner = account;
};

// Who is told when the login is over.
export const onLost = (told) => {
  lost = told;
};

// A path with its parts written so that no name can leave its place.
export const path = (strings, ...names) => String.raw({ raw: strings }, ...names.map(encodeURIComponent));

export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(given).toString();
  return text ? `?${text}` : "";
}

export const address = (where) => BASE + where;

// Another tab may have logged in anew: its login is as good, if it is the same account's.
async function renewed() {
  const session = await get("/session");
  if (!owner || session.account !== owner) return false;
  csrf = session.csrf;
  return true;
}

async function ask(method, where, body, { signal, entering, again } = {}) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRF-Token"] = csrf;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    const text = body === undefined ? undefined : JSON.stringify(body);
    answer = await fetch(BASE + where, { method, headers, body: text, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "the server does not answer", hint: "is it running? nothing was lost here; try again" });
  }
  if (answer.ok) return answer.status === 204 ? undefined : answer.json();
  const details = await answer.json().catch(() => ({}));
  const wait = Math.min(Number(answer.headers.get("Retry-After")) || 0, LONGEST_WAIT_SHOWN);
  const problem = new Problem(answer.status, details, wait);
  if (problem.word === "csrf" && !entering && !again && (await renewed()))
    return ask(method, where, body, { signal, again: true });
  if (problem.status === 401 && !entering) lost(problem);
  throw problem;
}

export const get = (where, options) => ask("GET", where, undefined, options);
export const post = (where, body = {}, options = {}) => ask("POST", where, body, options);
export const put = (where, body = {}, options = {}) => ask("PUT", where, body, options);
export const remove = (where) => ask("DELETE", where);
export const items = async (where) => (await get(where)).items;
