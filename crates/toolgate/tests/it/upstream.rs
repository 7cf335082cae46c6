//! Other people's MCP servers, and our own fixtures, behind a hub: each listed, called, killed and back again.

#![expect(
    clippy::disallowed_methods,
    reason = "tests find the peers where the set-up put them, and start servers as their users do"
)]

use std::env;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use toolgate_core::{
    Answers, Call, Capabilities, Client, Event, Hub, Kinds, ListKind, Outcome, Principal, Scope, Source as _,
    Target,
};
use toolgate_host::{Secret, Tasks};
use toolgate_testkit::{
    Driven, Expect as _, builder, call, client_legacy, client_modern, client_with, drive, first_round,
    list_names, retry,
};
use toolgate_upstream::{Plan, State, Surroundings, Upstream, UpstreamConfig};
use toolgate_wire::{Raw, Version};

use crate::process::{PATIENCE, Place, Server, TOOLGATE, peers};

/// One server behind a hub.
struct Rig {
    hub: Hub,
    upstream: Arc<Upstream>,
}

impl Rig {
    async fn start(name: &str, mut table: Value) -> Self {
        // A program that is interpreted takes its time to start on a machine that does much else.
        table["startup_timeout"] = json!(100_000);
        let config: UpstreamConfig = serde_json::from_value(table).unwrap();
        let plan = Plan::new(name, &config, |text| Ok(Secret::new(text.to_owned()))).unwrap();
        let variables = env::vars_os().filter(|(name, _)| name != "PATH");
        let path = env::join_paths(
            [peers().join("bin")]
                .into_iter()
                .chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
        );
        let variables = variables.chain([(OsString::from("PATH"), path.unwrap())]).collect();
        let (starts, client, watches) = Default::default();
        let surroundings = Surroundings { tasks: Tasks::new(), variables, starts, client, watches };
        let upstream = Arc::new(Upstream::start(plan, surroundings, None));
        let hub = builder([upstream.clone()]).build().unwrap();
        let rig = Self { hub, upstream };
        let mut listing = rig.upstream.listing(&Scope { principal: Principal::local().id.clone() });
        let settled = listing.wait_for(|listing| listing.pending == Kinds::NONE);
        tokio::time::timeout(PATIENCE, settled).await.expect("it never settles").unwrap();
        let status = rig.upstream.status();
        assert_eq!(status.state, State::Connected, "{status:?}");
        rig
    }

    async fn drive(&self, call: Call, answers: &[(&str, Value)]) -> Driven {
        let driving = drive(self.hub.start(call), answers.to_vec());
        tokio::time::timeout(PATIENCE, driving).await.expect("the call hangs")
    }

    async fn call(&self, client: Arc<Client>, tool: &str, arguments: Value) -> Value {
        self.drive(call(client, tool, arguments), &[]).await.complete()
    }

    /// Calls, and answers every question by its method. Says what was asked.
    async fn answering(&self, call: Call, answer: impl Fn(&str) -> Value) -> (Vec<&'static str>, Outcome) {
        let mut run = self.hub.start(call);
        let mut asked = Vec::new();
        loop {
            match tokio::time::timeout(PATIENCE, run.next()).await.expect("the call hangs").unwrap() {
                Event::Ask(ask) => {
                    let mut answers = Answers::default();
                    for question in &ask.questions {
                        asked.push(question.method);
                        answers.insert(&question.key, Raw::of(&answer(question.method)));
                    }
                    ask.answer(Ok(answers));
                }
                Event::Done(outcome) => return (asked, outcome),
                Event::Progress(_) | Event::Log(_) | Event::Other { .. } | Event::HangUp => {}
            }
        }
    }

    async fn until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        let limit = tokio::time::Instant::now() + PATIENCE;
        while !so(self) {
            assert!(tokio::time::Instant::now() < limit, "never so: {what}; {:?}", self.upstream.status());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The table of a server from npm.
fn node(package: &str, more: &[&str]) -> Value {
    let script = peers().join("node_modules/@modelcontextprotocol").join(package).join("dist/index.js");
    let args = [script.to_str().unwrap()].into_iter().chain(more.iter().copied()).collect::<Vec<_>>();
    json!({"command": "node", "args": args})
}

/// The table of a server from PyPI.
fn python(program: &str, more: &[&str]) -> Value {
    json!({"command": peers().join(".venv/bin").join(program), "args": more})
}

/// Lists a server, calls it, kills it, calls it again, starts it anew, and calls it once more.
async fn check(name: &str, table: Value, tools: usize, (tool, arguments, expect): (&str, Value, &str)) {
    let rig = Rig::start(name, table).await;
    let names = list_names(&rig.hub, ListKind::Tools).await;
    assert!(names.len() >= tools && names.iter().all(|tool| tool.starts_with(name)), "{names:?}");
    let says = async |rig: &Rig| {
        let tool = format!("{name}_{tool}");
        let result = rig.call(client_legacy(), &tool, arguments.clone()).await;
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"));
        assert!(text.contains(expect), "{text}");
    };
    says(&rig).await;
    for process in rig.upstream.status().processes {
        // It may be on its way out.
        kill_process(Pid::from_raw(process.cast_signed()).unwrap(), Signal::KILL).ok();
    }
    rig.until("it is lost", |rig| rig.upstream.status().lost > 0).await;
    says(&rig).await;
    let before = rig.upstream.status().processes;
    rig.upstream.restart();
    rig.until("it runs anew", |rig| {
        let now = rig.upstream.status().processes;
        !now.is_empty() && now.iter().all(|process| !before.contains(process))
    })
    .await;
    says(&rig).await;
    rig.upstream.stop().await;
    assert_eq!(rig.upstream.status().connections, 0);
}

#[tokio::test]
async fn the_reference_servers_from_npm() {
    let place = Place::new();
    std::fs::write(place.path().join("note.txt"), "hello from a file").unwrap();
    let folder = place.path().canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    let note = json!({"path": format!("{folder}/note.txt")});
    check(
        "everything",
        node("server-everything", &[]),
        10,
        ("echo", json!({"message": "hi there"}), "hi there"),
    )
    .await;
    check(
        "filesystem",
        node("server-filesystem", &[folder]),
        10,
        ("read_text_file", note, "hello from a file"),
    )
    .await;
    let mut memory = node("server-memory", &[]);
    memory["env"] = json!({"MEMORY_FILE_PATH": format!("{folder}/memory.jsonl")});
    check("memory", memory, 5, ("read_graph", json!({}), "entities")).await;
}

#[tokio::test]
async fn the_reference_servers_from_pypi() {
    let place = Place::new();
    let git = |arguments: &[&str]| {
        let mut command = place.command("git");
        assert!(command.args(arguments).stdout(Stdio::null()).status().unwrap().success());
    };
    git(&["init", "--quiet"]);
    let folder = place.path().to_str().unwrap();
    let zones = json!({"timezone": "Europe/Berlin"});
    check(
        "time",
        python("mcp-server-time", &["--local-timezone", "UTC"]),
        2,
        ("get_current_time", zones, "Berlin"),
    )
    .await;
    let status = ("git_status", json!({"repo_path": folder}), "No commits yet");
    check("git", python("mcp-server-git", &["--repository", folder]), 5, status).await;
}

/// Progress, questions, resources, prompts and completion of a server that has everything.
#[tokio::test]
async fn the_everything_server_over_stdio() {
    everything(node("server-everything", &[]), "stdio").await;
}

#[tokio::test]
async fn the_everything_server_over_streamable_http() {
    let server = Everything::start("streamableHttp");
    everything(json!({"url": server.url("/mcp")}), "http").await;
}

#[tokio::test]
async fn the_everything_server_over_the_oldest_transport() {
    let server = Everything::start("sse");
    everything(json!({"url": server.url("/sse")}), "sse").await;
}

async fn everything(table: Value, transport: &str) {
    let rig = Rig::start("e", table).await;
    assert_eq!(rig.upstream.status().transport, transport);
    // A moment after it was connected it asks for the folders of its client.
    let short =
        || call(client_legacy(), "e_trigger-long-running-operation", json!({"duration": 0.1, "steps": 1}));
    let limit = tokio::time::Instant::now() + PATIENCE;
    while !rig.answering(short(), |_| json!({"roots": []})).await.0.contains(&"roots/list") {
        assert!(tokio::time::Instant::now() < limit, "it never asks for folders");
    }
    let sum = rig.call(client_modern(), "e_get-sum", json!({"a": 2, "b": 40})).await;
    assert_eq!(sum["content"][0]["text"], "The sum of 2 and 40 is 42.");
    let image = rig.call(client_legacy(), "e_get-tiny-image", json!({})).await;
    assert_eq!(image["content"][1]["type"], "image");

    let target = Target::Tool("e_trigger-long-running-operation".parse().unwrap());
    let params = json!({"name": "e_trigger-long-running-operation", "arguments": {"duration": 0.2, "steps": 2}, "_meta": {"progressToken": "mine"}});
    let long = rig.drive(Call::new(Principal::local(), client_legacy(), target, Raw::of(&params)), &[]).await;
    assert_eq!(long.events, [r#"progress {"progress":1,"total":2}"#, r#"progress {"progress":2,"total":2}"#]);

    // A client of either era is asked.
    let answer =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "sampled words"}});
    let sampling =
        |client| call(client, "e_trigger-sampling-request", json!({"prompt": "p", "maxTokens": 5}));
    let (_, asked) = rig.answering(sampling(client_legacy()), |_| answer.clone()).await;
    let asked = asked.complete();
    assert!(asked.to_string().contains("sampled words"), "{asked}");
    let (requests, state) = first_round(&rig.hub, sampling(client_modern())).await.asked();
    assert_eq!(requests["question"]["method"], "sampling/createMessage");
    let again = rig
        .drive(retry(sampling(client_modern()), &state, json!({"question": answer})), &[])
        .await
        .complete();
    assert!(again.to_string().contains("sampled words"), "{again}");

    let resources = list_names(&rig.hub, ListKind::Resources).await;
    let uri = resources.first().expect("it has resources").clone();
    let read = Call::new(
        Principal::local(),
        client_legacy(),
        Target::Resource(uri.as_str().into()),
        Raw::of(&json!({"uri": uri})),
    );
    assert_eq!(rig.drive(read, &[]).await.complete()["contents"][0]["uri"], uri);
    let prompts = list_names(&rig.hub, ListKind::Prompts).await;
    assert!(prompts.iter().any(|name| name == "e_simple-prompt"), "{prompts:?}");
    rig.upstream.stop().await;
}

/// The everything server as a server over HTTP, which ends with this.
struct Everything {
    child: Child,
    port: u16,
    _place: Place,
}

impl Everything {
    /// One on a free port; that another takes it in the meantime is possible, and then there is the next.
    fn start(transport: &str) -> Self {
        (0..5).find_map(|_| Self::try_start(transport)).expect("the server never says that it listens")
    }

    fn try_start(transport: &str) -> Option<Self> {
        let place = Place::new();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = peers().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
        let mut command: Command = place.command(peers().join("bin/node"));
        command.arg(script).arg(transport).env("PORT", port.to_string());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let says_so = |line: String| line.contains(&port.to_string()) && !line.contains("EADDRINUSE");
        let is_ready = lines.by_ref().map_while(Result::ok).any(says_so);
        let this = Self { child, port, _place: place };
        std::thread::spawn(move || lines.for_each(drop));
        is_ready.then_some(this)
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Our own fixtures behind the hub, on every transport and in every combination of eras.
#[tokio::test]
async fn our_fixtures_in_every_combination_of_eras() {
    let server = Server::start();
    let home = Place::new();
    let stdio = json!({"command": TOOLGATE, "args": ["serve", "--fixtures"], "cwd": home.path(), "env": {"HOME": home.path()}});
    for (mut table, eras) in [
        (stdio, &["legacy", "modern"][..]),
        (json!({"url": server.url("/mcp")}), &["legacy", "modern"]),
        (json!({"url": server.url("/sse")}), &["auto"]),
    ] {
        for era in eras {
            table["era"] = json!(era);
            table["prefix"] = json!(false);
            fixtures(&table, era).await;
        }
    }
}

/// A modern client that waits for its answers, and knows nothing of tasks.
fn waiting_modern() -> Arc<Client> {
    let can = Capabilities { tasks: false, ..client_modern().capabilities };
    client_with(Version::LATEST, can)
}

async fn fixtures(table: &Value, era: &str) {
    let rig = Rig::start("f", table.clone()).await;
    assert_eq!(rig.upstream.status().era.as_deref(), Some(if era == "modern" { "modern" } else { "legacy" }));
    for client in [client_legacy, waiting_modern] {
        let text = rig.call(client(), "test_simple_text", json!({})).await;
        assert_eq!(text["content"][0]["text"], "This is a simple text response for testing.");
        let failed = rig.call(client(), "test_error_handling", json!({})).await;
        assert_eq!(failed["isError"], true);
        let uri = "test://static-text";
        let read = Call::new(
            Principal::local(),
            client(),
            Target::Resource(uri.into()),
            Raw::of(&json!({"uri": uri})),
        );
        assert_eq!(rig.drive(read, &[]).await.complete()["contents"][0]["uri"], uri);
    }
    // A question, whichever way the server asks and the client is asked.
    let answer = json!({"action": "accept", "content": {"username": "ann", "email": "a@b.c"}});
    let asking = |client| call(client, "test_elicitation", json!({"message": "Who are you?"}));
    let (asked, outcome) = rig.answering(asking(client_legacy()), |_| answer.clone()).await;
    let result = outcome.complete();
    assert!(asked.len() == 1 && result.to_string().contains("ann"), "{result}");
    let (requests, state) = first_round(&rig.hub, asking(waiting_modern())).await.asked();
    let key = requests.as_object().unwrap().keys().next().unwrap().clone();
    let again =
        rig.drive(retry(asking(waiting_modern()), &state, json!({key: answer})), &[]).await.complete();
    assert!(again.to_string().contains("ann"), "{again}");
    rig.upstream.stop().await;
}
