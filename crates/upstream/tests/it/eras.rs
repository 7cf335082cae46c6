//! Everything passes between a client and a server, whichever era each of them speaks.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Answers, Call, Capabilities, Client, Event, LogLevel, Outcome, Principal, Target};
use toolgate_testkit::{Expect as _, call, client_legacy, client_modern, client_with, retry};
use toolgate_wire::{Era, Raw, Version};

use crate::rig::{PATIENCE, Rig, text};

/// A client and a server, each of one era.
struct Pair {
    rig: Rig,
    client: fn() -> Arc<Client>,
    name: &'static str,
}

/// Tries something in all four combinations of eras.
async fn each(test: impl AsyncFn(&Pair)) {
    for (server, client, name) in [
        ("legacy", client_legacy as fn() -> Arc<Client>, "legacy to legacy"),
        ("legacy", client_modern, "modern to legacy"),
        ("modern", client_legacy, "legacy to modern"),
        ("modern", client_modern, "modern to modern"),
    ] {
        let pair = Pair { rig: Rig::fake(server), client, name };
        pair.rig.settled().await;
        tokio::time::timeout(PATIENCE, test(&pair)).await.unwrap_or_else(|_| panic!("{name} hangs"));
        pair.rig.upstream.stop().await;
    }
}

impl Pair {
    fn server_is(&self, era: Era) -> bool {
        self.rig.status().era.as_deref() == Some(if era == Era::Legacy { "legacy" } else { "modern" })
    }

    fn call(&self, tool: &str, kind: &str) -> Call {
        call((self.client)(), &format!("fake_{tool}"), json!({"b": kind}))
    }

    /// Sees a call through as a client of its era does, giving every question this answer. Returns what was asked, what
    /// else was told, and how it ended.
    async fn play(
        &self,
        make: impl Fn() -> Call,
        answer: &Value,
    ) -> (Vec<(String, Value)>, Vec<String>, Outcome) {
        let (mut asked, mut told) = (Vec::new(), Vec::new());
        let mut next = make();
        loop {
            let mut run = self.rig.hub.start(next);
            let outcome = loop {
                match run.next().await.expect("an outcome") {
                    Event::Ask(ask) if (self.client)().era() == Era::Modern => {
                        break self.rig.hub.park(run, ask);
                    }
                    Event::Ask(ask) => {
                        let mut answers = Answers::default();
                        for question in &ask.questions {
                            asked.push((question.method.to_owned(), question.params.to().unwrap()));
                            answers.insert(&question.key, Raw::of(answer));
                        }
                        ask.answer(Ok(answers));
                    }
                    Event::Done(outcome) => break outcome,
                    Event::Progress(progress) => told.push(format!("progress {}", progress.0.as_str())),
                    Event::Log(log) => told.push(format!("log {}", log.params.as_str())),
                    Event::Other { method, params } => told.push(format!("{method} {}", params.as_str())),
                    Event::HangUp => {}
                }
            };
            let Outcome::InputRequired { requests, state } = outcome else { return (asked, told, outcome) };
            let requests: Value = requests.to().unwrap();
            let mut responses = json!({});
            for (key, request) in requests.as_object().unwrap() {
                asked.push((request["method"].as_str().unwrap().to_owned(), request["params"].clone()));
                responses[key] = answer.clone();
            }
            next = retry(make(), &state.unwrap(), responses);
        }
    }
}

#[tokio::test]
async fn questions_of_every_kind_reach_the_client_and_answers_the_server() {
    let cases = [
        ("form", "elicitation/create", json!({"action": "accept", "content": {"n": 1.5}})),
        ("form", "elicitation/create", json!({"action": "decline"})),
        ("url", "elicitation/create", json!({"action": "accept"})),
        (
            "sample",
            "sampling/createMessage",
            json!({"role": "assistant", "model": "m", "content": [{"type": "tool_use", "id": "1", "name": "t", "input": {}}]}),
        ),
        ("roots", "roots/list", json!({"roots": [{"uri": "file:///x", "x": 1}]})),
    ];
    each(async |pair: &Pair| {
        for (kind, method, answer) in &cases {
            let (asked, _, outcome) = pair.play(|| pair.call("question", kind), answer).await;
            assert_eq!(outcome.complete()["structuredContent"], *answer, "{} {kind}", pair.name);
            let [(asked_by, params)] = &asked[..] else { panic!("{} {kind}: {asked:?}", pair.name) };
            assert_eq!(asked_by, method, "{}", pair.name);
            match *kind {
                "form" => assert_eq!(params["x"], 1, "{}", pair.name),
                "sample" => assert_eq!(params["tools"][0]["name"], "t", "{}", pair.name),
                // Legacy clients do not take an address without an id.
                "url" if (pair.client)().era() == Era::Legacy => assert!(params["elicitationId"].is_string()),
                _ => {}
            }
        }
    })
    .await;
}

#[tokio::test]
async fn that_a_visit_is_over_is_told_where_the_era_has_a_word_for_it() {
    each(async |pair: &Pair| {
        let accepted = json!({"action": "accept"});
        let (_, told, outcome) = pair.play(|| pair.call("question", "url"), &accepted).await;
        outcome.complete();
        let expect = if pair.name == "legacy to legacy" {
            vec![r#"notifications/elicitation/complete {"elicitationId":"e-1","x":1.00}"#.to_owned()]
        } else {
            Vec::new()
        };
        assert_eq!(told, expect, "{}", pair.name);
    })
    .await;
}

#[tokio::test]
async fn a_visit_that_a_legacy_server_insists_on_is_a_question_to_clients_of_either_era() {
    for (client, when) in [
        (client_legacy as fn() -> Arc<Client>, "after"),
        (client_legacy, "before"),
        (client_modern, "after"),
        (client_modern, "before"),
    ] {
        // Who misses the word that it is over waits for longer than the test does.
        let timeout = PATIENCE.as_millis() as u64 + 1_000;
        let rig = Rig::shaped("legacy", json!({"timeout": timeout}));
        let pair = Pair { rig, client, name: "visit" };
        pair.rig.settled().await;
        let (make, accepted) = (|| pair.call("visit", when), json!({"action": "accept"}));
        let played = tokio::time::timeout(PATIENCE, pair.play(make, &accepted)).await;
        let (asked, _, outcome) = played.unwrap_or_else(|_| panic!("the visit is never over: {when}"));
        assert_eq!(text(&outcome.complete()), "welcome back");
        assert_eq!(asked.len(), 1);
        assert_eq!((&asked[0].1["url"], &asked[0].1["x"]), (&json!("https://a.test/v"), &json!(1.5)));
        pair.rig.upstream.stop().await;

        let pair = Pair { rig: Rig::fake("legacy"), client, name: "no visit" };
        pair.rig.settled().await;
        let (_, _, outcome) = pair.play(|| pair.call("visit", ""), &json!({"action": "decline"})).await;
        let error = outcome.failed();
        let object = error.as_forwarded().unwrap().as_str().to_owned();
        let code = if client().era() == Era::Legacy { "-32042" } else { "-32603" };
        assert!(object.contains(code) && object.contains(r#""x-more":1.5"#), "{object}");
        assert_eq!(pair.rig.count("visit"), 1, "the server is not asked again");
        pair.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_visit_is_left_to_a_legacy_client_that_cannot_be_asked() {
    let rig = Rig::fake("legacy");
    let mute = client_with(Version::LATEST_LEGACY, Capabilities::default());
    let error = rig.call(mute, "fake_visit", json!({"b": ""}), None).await.failed();
    assert!(error.as_forwarded().unwrap().as_str().contains("-32042"));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn servers_hear_what_the_client_can_be_asked_and_no_more() {
    each(async |pair: &Pair| {
        let can = Capabilities { sampling: true, sampling_tools: true, ..Capabilities::default() };
        let version = (pair.client)().version;
        for (can, expect) in
            [(can, json!({"tools": {}})), (Capabilities { sampling_tools: false, ..can }, json!({}))]
        {
            let seen = pair
                .rig
                .call(client_with(version, can), "fake_client", json!({"b": ""}), None)
                .await
                .complete();
            let seen = &seen["structuredContent"];
            assert_eq!((&seen["sampling"], &seen["elicitation"]), (&expect, &Value::Null), "{}", pair.name);
            let pages = &seen["extensions"]["io.modelcontextprotocol/ui"]["mimeTypes"];
            assert_eq!(pages, &json!(["text/html;profile=mcp-app"]), "{}", pair.name);
        }
    })
    .await;
}

#[tokio::test]
async fn the_level_of_the_client_reaches_the_server_and_its_messages_the_client() {
    each(async |pair: &Pair| {
        // A legacy server that talks more than one client wants goes on to: the others filter.
        for (level, legacy, modern) in [
            (None, "info", "none"),
            (Some(LogLevel::Warning), "info", "warning"),
            (Some(LogLevel::Debug), "debug", "debug"),
            (Some(LogLevel::Error), "debug", "error"),
        ] {
            let make = || {
                let mut call = pair.call("log", "");
                if let (Some(level), Era::Modern) = (level, (pair.client)().era()) {
                    let meta = json!({"io.modelcontextprotocol/logLevel": level.as_str()});
                    call.params =
                        Raw::of(&json!({"name": "fake_log", "arguments": {"b": ""}, "_meta": meta}));
                }
                call.log_level = level;
                call
            };
            let (_, told, outcome) = pair.play(make, &Value::Null).await;
            let logged = r#"log {"level":"warning","logger":"l","data":{"n":1.00}}"#;
            assert!(told.iter().any(|line| line == logged), "{}: {told:?}", pair.name);
            let expect = match (pair.server_is(Era::Legacy), level, (pair.client)().era()) {
                (true, ..) => legacy,
                (false, None, Era::Legacy) => "info",
                (false, ..) => modern,
            };
            assert_eq!(text(&outcome.complete()), expect, "{} {level:?}", pair.name);
        }
    })
    .await;
}

#[tokio::test]
async fn progress_prompts_resources_and_completions_pass() {
    each(async |pair: &Pair| {
        let make = || {
            let mut call = pair.call("progress", "");
            call.params = Raw::of(
                &json!({"name": "fake_progress", "arguments": {"b": ""}, "_meta": {"progressToken": "p"}}),
            );
            call
        };
        let (_, told, outcome) = pair.play(make, &Value::Null).await;
        outcome.complete();
        assert_eq!(told[0], r#"progress {"progress":1,"x":"y"}"#, "{}", pair.name);

        let send = async |target: Target, params: Value| {
            pair.rig.send((pair.client)(), target, params).await.complete()
        };
        let prompt =
            send(Target::Prompt("fake_greet".into()), json!({"name": "fake_greet", "arguments": {"a": "1"}}))
                .await;
        assert_eq!(prompt["asked"]["name"], "greet", "{}", pair.name);
        let resource = send(Target::Resource("fake://t/7".into()), json!({"uri": "fake://t/7"})).await;
        assert_eq!(resource["asked"]["uri"], "fake://t/7", "{}", pair.name);
    })
    .await;
}

#[tokio::test]
async fn giving_up_reaches_the_server() {
    each(async |pair: &Pair| {
        let run = pair.rig.hub.start(pair.call("hang", ""));
        pair.rig.until("it is under way", |rig| rig.status().in_flight == 1).await;
        drop(run);
        pair.rig.until("the server knows", |rig| rig.count("cancelled") == 1).await;
    })
    .await;
}

#[tokio::test]
async fn changes_of_lists_and_of_watched_resources_are_told() {
    each(async |pair: &Pair| {
        let mut changes = pair.rig.hub.changes(&Principal::local());
        let watch = Call::new(
            Principal::local(),
            (pair.client)(),
            Target::Subscribe("fake://one".into()),
            Raw::of(&json!({"uri": "fake://one"})),
        );
        pair.rig.drive(watch, None).await.complete();
        loop {
            let change = tokio::time::timeout(PATIENCE, changes.next()).await.expect("no change is told");
            if let toolgate_core::Change::Updated(update) = change.unwrap() {
                assert_eq!(&*update.uri, "fake://one", "{}", pair.name);
                break;
            }
        }
        pair.play(|| pair.call("change", ""), &Value::Null).await.2.complete();
        pair.rig.until("the new tool is known", |rig| rig.status().tools == crate::fake::TOOLS + 1).await;
    })
    .await;
}

#[tokio::test]
async fn what_a_server_says_about_itself_is_told_to_those_who_see_it() {
    for era in ["legacy", "modern"] {
        let rig = Rig::fake(era);
        let told = |rig: &Rig| rig.hub.instructions(&Principal::local(), None).unwrap_or_default();
        rig.settled().await;
        rig.names(toolgate_core::ListKind::Tools).await;
        assert!(told(&rig).ends_with("Of the server `fake`:\nBe kind."), "{era}: {}", told(&rig));
        rig.upstream.set_enabled(false);
        rig.until("it is not seen any more", |rig| !told(rig).contains("Be kind.")).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn what_a_server_adds_to_the_protocol_is_declared_and_what_the_client_adds_reaches_a_modern_server() {
    for era in ["legacy", "modern"] {
        let rig = Rig::fake(era);
        rig.settled().await;
        let declared = rig.hub.extensions(&Principal::local(), None).unwrap();
        assert_eq!(declared.as_str(), r#"{"io.modelcontextprotocol/ui":{"x":1.0}}"#, "{era}");
        let extensions = Some(Raw::literal(r#"{"com.example/more":{"n":1.00}}"#));
        for client in [client_legacy(), client_modern()] {
            let client = Arc::new(Client { extensions: extensions.clone(), ..(*client).clone() });
            let seen = rig.call(client, "fake_client", json!({"b": ""}), None).await.complete();
            let seen = &seen["structuredContent"]["extensions"];
            // A connection to a legacy server is shared by clients that declare different things.
            let expect = if era == "modern" { json!({"n": 1.00}) } else { Value::Null };
            assert_eq!(seen["com.example/more"], expect, "{era}");
            assert!(seen["io.modelcontextprotocol/ui"].is_object(), "{era}: {seen}");
        }
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_visit_that_is_over_twice_before_its_answer_is_over() {
    let rig = Rig::fake("legacy");
    rig.settled().await;
    let mut run = rig.hub.start(call(client_legacy(), "fake_visit", json!({"b": "seen"})));
    let (mut asked, mut told) = (None, 0);
    let outcome = loop {
        match tokio::time::timeout(PATIENCE, run.next()).await.expect("it hangs").expect("an outcome") {
            Event::Ask(ask) => {
                asked = Some(ask);
                std::fs::write(rig.place.path().join("go"), "").unwrap();
            }
            Event::Other { .. } => told += 1,
            Event::Done(outcome) => break outcome,
            Event::Progress(_) | Event::Log(_) | Event::HangUp => {}
        }
        if told == 2
            && let Some(ask) = asked.take()
        {
            let mut answers = Answers::default();
            ask.questions.iter().for_each(|question| {
                answers.insert(&question.key, Raw::of(&json!({"action": "accept"})));
            });
            ask.answer(Ok(answers));
        }
    };
    assert_eq!(text(&outcome.complete()), "welcome back");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_ignores_the_level_of_logs_is_asked_once() {
    let rig = Rig::shaped("legacy ignores-level", json!({"timeout": 3_000}));
    for _ in 0..3 {
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
    }
    // Each of its connections was opened once.
    assert_eq!(rig.count("level"), rig.count("started"));
    assert!(rig.notes().contains(&"does not take a log level"));
    rig.upstream.stop().await;
}
