//! The official conformance suite through the hub: our fixtures are the server of another Toolgate behind it.

use serde_json::{Value, json};

use crate::conformance::{Odd, judge};
use crate::message::post_modern;
use crate::process::{Place, Server, TOOLGATE, run, until};

/// A hub with nothing but one server behind it, which speaks this era.
fn hub(era: &str, reach: &str, more: &str) -> Server {
    let toml = format!(
        "packs = []\n{more}\n[limits]\nenabled = false\n\
         [mcp.fixtures]\n{reach}\nprefix = false\nera = \"{era}\"\n"
    );
    Server::start_in(Place::configured(&toml), &[])
}

/// The fixtures as a program.
fn program() -> String {
    format!("command = {TOOLGATE:?}\nargs = [\"serve\", \"--fixtures\"]")
}

/// A server refuses a call that it can only run as a task, where the client knows none. We know them, and see the task to
/// its end for such a client, so that it gets its answer.
const WAITS: Odd = odd(
    "tasks-required-task-error",
    "sep-2663-server-returns-missing-capability-when-required",
    "returned a successful response from a client that did not declare",
);

const fn odd(scenario: &'static str, check: &'static str, says: &'static str) -> Odd {
    Odd { scenario, check, says }
}

/// In 2025-11-25 it is the client that makes a call a task, of any tool that its server does not keep from it. Ours keeps
/// none, and we do so for a client that knows tasks: it gets one even of what answers at once. And there a call is a task
/// from its beginning or never, so that none becomes one after a question, as the last of these wants.
const LEGACY: [Odd; 6] = [
    WAITS,
    odd("tasks-lifecycle", "tasks-sync-tool-call", "MUST NOT carry resultType:\"task\""),
    odd("tasks-request-headers", "tasks-headers-tolerate-mcp-method-on-tools-call", "got \"task\""),
    odd("tasks-dispatch-and-envelope", "sep-2663-legacy-task-param-ignored", "MUST NOT promote a sync tool"),
    odd(
        "tasks-dispatch-and-envelope",
        "tasks-result-type-complete-on-non-task-responses",
        "sync tools/call resultType = \"task\"",
    ),
    odd(
        "tasks-mrtr-composition",
        "sep-2663-mrtr-synchronous-before-task-creation",
        "round 1 resultType MUST be \"input_required\"; got \"task\"",
    ),
];

#[test]
fn a_legacy_client_reaches_a_legacy_server() {
    judge(&hub("legacy", &program(), ""), &["--requirements", "2025-11-25"], &[], 33, 80);
}

#[test]
fn a_legacy_client_reaches_a_modern_server() {
    judge(&hub("modern", &program(), ""), &["--requirements", "2025-11-25"], &[], 33, 80);
}

#[test]
fn a_modern_client_reaches_a_modern_server() {
    judge(&hub("modern", &program(), ""), &["--requirements", "2026-07-28"], &[WAITS], 50, 194);
}

/// By address, where every call has a stream of its own: the suite leaves questions unanswered, and on the one stream
/// of a program it could not be known any more for which call a question is.
#[test]
fn a_modern_client_reaches_a_legacy_server() {
    let fixtures = Server::configured("packs = []\n");
    let hub = hub("legacy", &format!("url = {:?}", fixtures.url("/mcp")), "");
    judge(&hub, &["--requirements", "2026-07-28"], &LEGACY, 50, 189);
}

/// Someone with a token.
struct Person<'a> {
    hub: &'a Server,
    name: &'static str,
    token: String,
}

impl Person<'_> {
    fn ask(&self, method: &str, params: Value) -> Value {
        let post = post_modern(self.hub, method, 1, params);
        let text = post.header("Authorization", format!("Bearer {}", self.token)).send().text();
        // As one body, or as the last event of a stream.
        let last = text.lines().rev().find_map(|line| line.strip_prefix("data: "));
        serde_json::from_str(last.unwrap_or(&text)).unwrap_or(Value::String(text))
    }

    fn call(&self, more: &Value) -> Value {
        let message = format!("I am {}", self.name);
        let mut params = json!({"name": "test_elicitation", "arguments": {"message": message}});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask("tools/call", params)
    }
}

#[test]
fn two_principals_on_one_program_never_see_each_others_questions() {
    let toml = "[http]\nrequire_token = true";
    let place = Place::configured(&format!(
        "packs = []\n{toml}\n[limits]\nenabled = false\n[mcp.fixtures]\n{}\nprefix = false\nera = \"legacy\"\n",
        program()
    ));
    let home = place.path().to_owned();
    let hub = Server::start_in(place, &[]);
    let people = ["alice", "bob"].map(|name| {
        let mut command = Place::command_in(&home, TOOLGATE);
        command.args(["token", "create", name, "--json"]);
        let made: Value = serde_json::from_str(&run(command, b"").stdout).unwrap();
        Person { hub: &hub, name, token: made["token"].as_str().unwrap().to_owned() }
    });
    let listed = |person: &Person<'_>| person.ask("tools/list", json!({})).to_string();
    let ready = |person: &Person<'_>| listed(person).contains("test_elicitation");
    people.iter().for_each(|person| until("the server is there", || ready(person)));
    let asked: Vec<Value> = people.iter().map(|person| person.call(&json!({}))["result"].clone()).collect();
    for (person, asked) in people.iter().zip(&asked) {
        let question = asked["inputRequests"].to_string();
        assert!(question.contains(&format!("I am {}", person.name)), "{}: {asked}", person.name);
    }
    let answer = |asked: &Value, name: &str| {
        let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        let told = json!({"action": "accept", "content": {"username": name, "email": "x@y.z"}});
        json!({"requestState": asked["requestState"], "inputResponses": {key: told}})
    };
    let stolen = people[1].call(&answer(&asked[0], "bob"));
    assert!(stolen["error"].is_object(), "{stolen}");
    for (person, asked) in people.iter().zip(&asked) {
        let done = person.call(&answer(asked, person.name));
        assert!(done["result"]["content"].to_string().contains(person.name), "{done}");
    }
}
