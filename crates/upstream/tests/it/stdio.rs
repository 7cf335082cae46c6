//! Programs of either era: found out, listed, called, asked by, killed.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{
    Call, Capabilities, CompletionRef, Event, Kind, ListKind, Outcome, Principal, Target, TraceContext,
};
use toolgate_testkit::{Expect as _, call, client_legacy, client_modern, client_with, drive};
use toolgate_upstream::State;
use toolgate_wire::{Raw, Version};

use crate::fake::{GOLDEN, GOLDEN_TOOL, TOOLS};
use crate::rig::{BEYOND, PATIENCE, Rig, alive, pass, text, trial};

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test]
async fn servers_of_either_era_are_listed_and_called() {
    for (behaviour, era) in [("legacy", "legacy"), ("modern", "modern"), ("both", "modern")] {
        let rig = Rig::fake(behaviour);
        let names = rig.names(ListKind::Tools).await;
        assert!(
            names.contains(&"fake_echo".to_owned()) && names.contains(&"fake_golden".to_owned()),
            "{names:?}"
        );
        assert_eq!(rig.names(ListKind::Prompts).await, ["fake_greet"]);
        assert_eq!(rig.names(ListKind::Resources).await, ["fake://one"]);
        assert_eq!(rig.names(ListKind::Templates).await, ["fake://t/{id}"]);
        assert_eq!(
            (rig.status().era.as_deref(), rig.status().state),
            (Some(era), State::Connected),
            "{behaviour}"
        );
        for client in [client_legacy(), client_modern()] {
            let result = rig.call(client, "fake_echo", json!({"b": "x"}), None).await.complete();
            assert_eq!(result["structuredContent"]["name"], "echo");
            assert_eq!(result["structuredContent"]["arguments"], json!({"b": "x"}));
        }
        assert_eq!(rig.upstream.learned().borrow().as_ref().unwrap().instructions(), Some("Be kind."));
        rig.upstream.stop().await;
    }
}

/// What a client of one era gets from a server of another, in bytes.
#[tokio::test]
async fn a_method_that_only_the_server_knows_reaches_it_under_its_own_names() {
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::fake(behaviour);
        rig.settled().await;
        let odd = || Target::Method("odd/echo".into());
        for (sent, expect) in [
            (json!({"name": "fake_echo", "x": 1.5}), json!({"name": "echo", "x": 1.5})),
            (json!({"name": "fake_greet"}), json!({"name": "greet"})),
            (json!({"name": "someone", "uri": 1}), json!({"name": "someone", "uri": 1})),
            (json!({}), json!({})),
        ] {
            let answer = rig.send(client_legacy(), odd(), sent.clone()).await.complete();
            let mut asked = answer["asked"].clone();
            asked.as_object_mut().unwrap().remove("_meta");
            assert_eq!(asked, expect, "{behaviour} {sent}");
        }
        let unknown = rig.send(client_legacy(), Target::Method("none/echo".into()), json!({})).await;
        assert_eq!(unknown.failed().kind(), Kind::UnknownMethod, "{behaviour}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn bytes_pass_unchanged() {
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::shaped(behaviour, json!({"prefix": false}));
        let listed = rig.list(ListKind::Tools).await;
        let golden =
            listed.get("tools").unwrap().items().find(|tool| tool.get("name") == Some(Raw::string("golden")));
        assert_eq!(golden.unwrap().as_str(), GOLDEN_TOOL);
        for client in [client_legacy(), client_modern()] {
            let Outcome::Complete(raw) = rig.call(client, "golden", json!({}), None).await.outcome else {
                panic!("not complete");
            };
            assert_eq!(raw.as_str(), GOLDEN.replace('\n', " "), "{behaviour}");
        }
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn of_a_definition_only_the_name_is_changed() {
    let rig = Rig::fake("legacy");
    let listed = rig.list(ListKind::Tools).await;
    let golden = listed
        .get("tools")
        .unwrap()
        .items()
        .find(|tool| tool.get("name") == Some(Raw::string("fake_golden")));
    assert_eq!(
        golden.unwrap().as_str(),
        GOLDEN_TOOL.replace(r#""name":"golden""#, r#""name":"fake_golden""#)
    );
    rig.upstream.stop().await;
}

/// What a server sees of a call's params, as bytes cannot be compared where the legs differ.
#[tokio::test]
async fn of_params_only_what_is_about_the_leg_is_changed() {
    let params = r#"{"name":"fake_echo","x-top":1.5,"arguments":{"b":"x","n":10},"task":{"ttl":1},"_meta":{"vendor":{"k":[1]},"progressToken":"mine","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/clientCapabilities":{}}}"#;
    let seen = async |behaviour: &str| {
        let rig = Rig::fake(behaviour);
        let mut call = Call::new(
            Principal::local(),
            client_modern(),
            Target::Tool("fake_echo".parse().unwrap()),
            Raw::parse(params.to_owned().into()).unwrap(),
        );
        call.trace = TraceContext::read(TRACE, None, None).map(Arc::new);
        let mut result = rig.drive(call, None).await.complete();
        rig.upstream.stop().await;
        let token = result["structuredContent"]["_meta"]["progressToken"].take();
        assert!(token.is_u64(), "the token is ours: {token}");
        result["structuredContent"].take()
    };
    let same = json!({"name": "echo", "x-top": 1.5, "arguments": {"b": "x", "n": 10}});
    let mut legacy = seen("legacy").await;
    let meta = legacy["_meta"].take();
    assert_eq!(meta, json!({"vendor": {"k": [1]}, "progressToken": null, "traceparent": TRACE}));
    let mut modern = seen("modern").await;
    let meta = modern["_meta"].take();
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "toolgate");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"]["sampling"], json!({}));
    assert_eq!((&meta["vendor"], &meta["traceparent"]), (&json!({"k": [1]}), &json!(TRACE)));
    for mut params in [legacy, modern] {
        params.as_object_mut().unwrap().remove("_meta");
        assert_eq!(params, same);
    }
}

#[tokio::test]
async fn prompts_resources_and_completions_go_by_the_servers_own_names() {
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::fake(behaviour);
        let client = client_modern;
        let prompt =
            rig.send(client(), Target::Prompt("fake_greet".into()), json!({"name": "fake_greet"})).await;
        assert_eq!(prompt.complete()["asked"]["name"], "greet");
        let target = Target::Completion(CompletionRef::Prompt("fake_greet".into()));
        let params = json!({"ref": {"type": "ref/prompt", "name": "fake_greet"}, "argument": {"name": "a", "value": ""}});
        assert_eq!(
            rig.send(client(), target, params).await.complete()["completion"]["values"],
            json!(["greet"])
        );
        let read = |uri: &str| (Target::Resource(uri.into()), json!({"uri": uri}));
        let (target, params) = read("fake://t/7");
        assert_eq!(rig.send(client(), target, params).await.complete()["asked"]["uri"], "fake://t/7");
        for (client, code) in [(client_legacy(), "-32002"), (client_modern(), "-32602")] {
            let (target, params) = read("fake://t/none");
            let error = rig.send(client, target, params).await.failed();
            assert_eq!(error.as_forwarded().unwrap().get("code").unwrap().as_str(), code, "{behaviour}");
            assert_eq!(error.as_forwarded().unwrap().get("x-more").unwrap().as_str(), "1.5");
        }
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn progress_and_log_messages_reach_the_caller() {
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::fake(behaviour);
        rig.settled().await;
        let params =
            json!({"name": "fake_progress", "arguments": {"b": "slow"}, "_meta": {"progressToken": "mine"}});
        let target = Target::Tool("fake_progress".parse().unwrap());
        let call = Call::new(Principal::local(), client_legacy(), target, Raw::of(&params));
        let mut run = rig.hub.start(call);
        rig.until("the server has the call", |rig| rig.count("progressing") == 1).await;
        for step in 1..=3 {
            // All in all it takes longer than an answer may take, but not from one word to the next.
            pass(BEYOND * 2 / 3).await;
            std::fs::write(rig.place.path().join(format!("go-{step}")), "").unwrap();
            let event = tokio::time::timeout(PATIENCE, run.next()).await.expect("no progress");
            let Some(Event::Progress(progress)) = event else { panic!("{event:?}") };
            assert_eq!(progress.0.as_str(), format!(r#"{{"progress":{step},"x":"y"}}"#));
        }
        tokio::time::timeout(PATIENCE, drive(run, [])).await.expect("the call hangs").complete();
        let driven = rig.call(client_legacy(), "fake_log", json!({"b": ""}), None).await;
        let expect = [
            r#"log {"level":"warning","logger":"l","data":{"n":1.00}}"#,
            r#"notifications/vendor/thing {"n":1.00}"#,
        ];
        assert_eq!(driven.events, expect);
        assert_eq!(text(&driven.complete()), "info");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn giving_up_is_told_to_the_server() {
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::shaped(behaviour, json!({"timeout": 60_000}));
        rig.settled().await;
        let run = rig.hub.start(call(client_legacy(), "fake_hang", json!({"b": ""})));
        rig.until("the call is under way", |rig| rig.status().in_flight == 1).await;
        drop(run);
        rig.until("the server knows", |rig| rig.count("cancelled") == 1).await;
        assert_eq!(rig.status().in_flight, 0);
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_silent_call_ends_in_time_and_is_cancelled() {
    let rig = Rig::fake("legacy");
    let hang = call(client_legacy(), "fake_hang", json!({"b": ""}));
    let error = rig.late(hang, |rig| rig.count("hung") == 1).await.failed();
    assert_eq!((error.kind(), error.message()), (Kind::Timeout, "`fake` did not answer within 60000 ms"));
    rig.until("the server knows", |rig| rig.count("cancelled") == 1).await;
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_changed_list_is_listed_again() {
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::fake(behaviour);
        rig.call(client_legacy(), "fake_change", json!({"b": ""}), None).await.complete();
        rig.until("the new tool is known", |rig| rig.status().tools == TOOLS + 1).await;
        assert!(rig.names(ListKind::Tools).await.contains(&"fake_late".to_owned()));
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_watched_resource_tells_of_its_changes() {
    let rig = Rig::fake("legacy");
    let mut updates = toolgate_core::Source::updates(&*rig.upstream).unwrap();
    let watched =
        rig.send(client_legacy(), Target::Subscribe("fake://one".into()), json!({"uri": "fake://one"})).await;
    watched.complete();
    assert_eq!(&*updates.recv().await.unwrap().uri, "fake://one");
    // A server that was lost is told again what is watched.
    rig.call(client_legacy(), "fake_crash", json!({"b": ""}), None).await.failed();
    assert_eq!(&*updates.recv().await.unwrap().uri, "fake://one");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_call_may_take_as_long_as_the_table_of_its_server_says() {
    let rig = Rig::shaped("legacy", json!({"timeout": 1_800_000}));
    let own = toolgate_core::Source::time_limit(&*rig.upstream).unwrap();
    assert_eq!((own.limit.as_secs(), &*own.setting), (1800, "mcp.fake.timeout"));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_killed_server_comes_back_and_what_may_be_repeated_is() {
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::fake(behaviour);
        let survived = rig.call(client_legacy(), "fake_fragile", json!({}), None).await.complete();
        assert_eq!((text(&survived), rig.count("fragile")), ("survived", 2));
        let error = rig.call(client_legacy(), "fake_crash", json!({"b": ""}), None).await.failed();
        assert_eq!(error.kind(), Kind::ConnectionFailed);
        assert!(error.message().contains("exit code 9"), "{error}");
        assert_eq!(rig.count("crashed"), 1, "what may have been done is not done again");
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        assert_eq!(rig.status().lost, 2);
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn servers_that_do_not_take_the_question_are_legacy() {
    for (behaviour, starts) in [("legacy exits-on-probe", 2), ("legacy silent-on-probe", 1)] {
        let rig = Rig::shaped(behaviour, json!({"probe_timeout": 100, "start": "eager"}));
        rig.settled().await;
        assert_eq!(
            (rig.status().era.as_deref(), rig.count("started")),
            (Some("legacy"), starts),
            "{behaviour}"
        );
        // What was found out is remembered.
        rig.upstream.restart();
        rig.until("it is connected anew", |rig| {
            rig.count("started") > starts && rig.status().connections == 1
        })
        .await;
        assert_eq!(rig.count("started"), starts + 1, "{behaviour}");
        rig.upstream.stop().await;
    }
}

/// One that reads nothing for a while finds both questions, and answers both at once.
#[tokio::test]
async fn a_modern_server_that_is_slow_to_start_is_not_taken_for_another() {
    for (behaviour, round) in ["modern slow-start", "both slow-start"].into_iter().zip(0..).cycle().take(10) {
        let rig = Rig::shaped(behaviour, json!({"probe_timeout": 20}));
        rig.settled().await;
        let status = rig.status();
        assert_eq!(
            (status.era.as_deref(), status.state, rig.count("started")),
            (Some("modern"), State::Connected, 1),
            "{behaviour} {round}: {status:?}"
        );
        rig.upstream.stop().await;
    }
}

/// What was remembered of it is of another: it ends at the first word, or says nothing to it.
#[tokio::test]
async fn a_program_that_was_exchanged_for_one_of_another_era_is_asked_again_which() {
    for (before, after, era) in [
        ("modern", "legacy exits-on-probe", "legacy"),
        ("modern", "legacy silent-on-probe", "legacy"),
        ("legacy", "modern exits-on-handshake", "modern"),
    ] {
        let place = Arc::new(tempfile::tempdir().unwrap());
        let table = crate::rig::with(crate::rig::fake(before, place.path()), json!({"start": "eager"}));
        let kept = trial(table.clone()).await.definitions.as_deref().cloned();
        std::fs::write(place.path().join("behaviour"), after).unwrap();
        let rig = Rig::of(table, place, kept);
        if after.contains("silent") {
            rig.until("it is spoken to as before", |rig| rig.count("probed") == 1).await;
            pass(121).await;
            rig.until("it is asked which it is", |rig| rig.count("probed") == 2).await;
            pass(BEYOND).await;
        }
        rig.until("it is found out", |rig| rig.status().connections == 1).await;
        assert_eq!(rig.status().era.as_deref(), Some(era), "{after}");
        rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None).await.complete();
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_modern_program_that_dies_again_and_again_as_it_starts_is_not_taken_for_another() {
    for after in ["both dies-twice", "modern dies-twice", "modern dies-thrice"] {
        let place = Arc::new(tempfile::tempdir().unwrap());
        let table = crate::rig::with(crate::rig::fake("modern", place.path()), json!({"start": "eager"}));
        let kept = trial(table.clone()).await.definitions.as_deref().cloned();
        std::fs::write(place.path().join("behaviour"), after).unwrap();
        let rig = Rig::of(table, place, kept);
        rig.until("it is connected", |rig| {
            assert_eq!(rig.status().era.as_deref(), Some("modern"), "{after}");
            rig.status().connections == 1
        })
        .await;
        assert_eq!(rig.status().era.as_deref(), Some("modern"), "{after}");
        rig.upstream.stop().await;
    }
}

/// While it was taken for a legacy one, a client had a connection of its own to it.
#[tokio::test]
async fn a_program_that_turns_out_to_be_modern_is_left_with_one_process() {
    let cannot_be_asked = || client_with(Version::LATEST_LEGACY, Capabilities::default());
    for (start, client) in
        [("lazy", client_legacy()), ("eager", client_legacy()), ("lazy", cannot_be_asked())]
    {
        let place = Arc::new(tempfile::tempdir().unwrap());
        let table = crate::rig::with(crate::rig::fake("legacy", place.path()), json!({"start": start}));
        let kept = trial(table.clone()).await.definitions.as_deref().cloned();
        std::fs::write(place.path().join("behaviour"), "modern exits-on-handshake").unwrap();
        let rig = Rig::of(table, place, kept);
        for _ in 0..2 {
            rig.call(client.clone(), "fake_echo", json!({"b": ""}), None).await.complete();
        }
        assert_eq!(rig.status().era.as_deref(), Some("modern"));
        rig.until("there is another connection", |rig| rig.status().connections == 2).await;
        pass(11).await;
        rig.until("one of them is left", |rig| rig.status().connections == 1).await;
        rig.call(client.clone(), "fake_echo", json!({"b": ""}), None).await.complete();
        assert_eq!(rig.status().connections, 1);
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn the_era_can_be_said() {
    let right = trial(crate::rig::with(
        crate::rig::fake("modern", std::path::Path::new("/tmp")),
        json!({"era": "modern"}),
    ))
    .await;
    assert_eq!((right.status.state, right.status.era.as_deref()), (State::Connected, Some("modern")));
    let wrong = trial(crate::rig::with(
        crate::rig::fake("legacy", std::path::Path::new("/tmp")),
        json!({"era": "modern"}),
    ))
    .await;
    assert_eq!(wrong.status.state, State::Failed);
    assert_eq!(wrong.status.error.as_deref(), Some("it does not speak the modern era"));
}

#[tokio::test]
async fn an_upstream_that_nobody_has_any_more_ends() {
    let Rig { hub, upstream, place: _place } = Rig::shaped("legacy", json!({"start": "eager"}));
    let processes = loop {
        let status = upstream.status();
        if status.connections == 1 && status.tools > 0 {
            break status.processes;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    assert!(processes.iter().all(|process| alive(*process)));
    hub.set_sources(Vec::new());
    drop((hub, upstream));
    let limit = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    while processes.iter().any(|process| alive(*process)) {
        assert!(tokio::time::Instant::now() < limit, "its program lives on");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_program_gets_a_clean_environment() {
    let rig = Rig::shaped("legacy", json!({}));
    let seen = rig.call(client_legacy(), "fake_environment", json!({"b": ""}), None).await.complete();
    let mut names: Vec<&str> = text(&seen).split(' ').collect();
    // The shell and the harness set some of their own.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    assert_eq!(names, ["FAKE_BEHAVIOUR", "FAKE_PLACE", "HOME", "PATH"]);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn all_that_a_server_started_ends_with_it() {
    let rig = Rig::fake("legacy lingers");
    let grandchild = rig.call(client_legacy(), "fake_grandchild", json!({"b": ""}), None).await.complete();
    let processes = rig.status().processes;
    let grandchild: u32 = text(&grandchild).parse().unwrap();
    assert!(alive(grandchild));
    rig.upstream.stop().await;
    rig.until("the grandchild is gone", |_| !alive(grandchild)).await;
    assert!(processes.into_iter().all(|process| !alive(process)));
}

#[tokio::test]
async fn tools_are_shaped_as_configured() {
    let rig = Rig::shaped(
        "legacy",
        json!({"tools": {"allow": ["e*", "golden", "fail"], "deny": ["env*"], "rename": {"echo": "say"},
            "describe": {"echo": "Says it."}, "fixed": {"echo": {"a": 5}}, "hidden": {"echo": ["b"]}}}),
    );
    assert_eq!(rig.names(ListKind::Tools).await, ["fake_fail", "fake_golden", "fake_say"]);
    let listed: Value = rig.list(ListKind::Tools).await.to().unwrap();
    let say = &listed["tools"][2];
    assert_eq!(say["description"], "Says it.");
    assert_eq!(say["inputSchema"], json!({"type": "object", "properties": {}, "required": []}));
    let result =
        rig.call(client_legacy(), "fake_say", json!({"a": 1, "b": "x", "c": true}), None).await.complete();
    assert_eq!(result["structuredContent"]["arguments"], json!({"a": 5, "c": true}));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn arguments_are_checked_where_that_is_wanted() {
    let calls = async |check: &str| {
        let rig = Rig::shaped("legacy", json!({"check": check}));
        let driven = rig.call(client_legacy(), "fake_echo", json!({"a": "one"}), None).await;
        rig.upstream.stop().await;
        let noted = rig.notes().contains(&"was sent arguments that do not fit its schema");
        (matches!(driven.outcome, Outcome::Complete(_)), noted)
    };
    assert_eq!(calls("off").await, (true, false));
    assert_eq!(calls("warn").await, (true, true));
    assert_eq!(calls("enforce").await, (false, false));
}

#[tokio::test]
async fn a_lazy_server_starts_once_to_be_learned_and_then_when_it_is_used() {
    let place = Arc::new(tempfile::tempdir().unwrap());
    let table = crate::rig::fake("legacy", place.path());
    let learned = trial(table.clone()).await;
    assert_eq!((learned.status.state, learned.status.tools), (State::Connected, TOOLS));
    // What was learned can be kept in any form.
    let kept = serde_json::to_string(&*learned.definitions.unwrap()).unwrap();
    let rig = Rig::of(table, place, Some(serde_json::from_str(&kept).unwrap()));
    let names = rig.names(ListKind::Tools).await;
    assert_eq!((names.len(), rig.count("started"), rig.status().state), (TOOLS, 1, State::Connected));
    rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None).await.complete();
    assert_eq!(rig.count("started"), 2);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_is_switched_off_is_neither_started_nor_listed_by_what_was_kept() {
    let place = Arc::new(tempfile::tempdir().unwrap());
    let table = crate::rig::fake("legacy", place.path());
    let kept = trial(table.clone()).await.definitions.as_deref().cloned();
    let off = crate::rig::with(table, json!({"enabled": false, "start": "eager"}));
    let rig = Rig::of(off, place, kept);
    assert!(rig.hub.listings().iter().all(|(_, listing)| listing.tools.is_empty()));
    assert_eq!(rig.names(ListKind::Tools).await, [""; 0]);
    assert_eq!((rig.status().state, rig.count("started")), (State::Disabled, 1), "only to be learned");
    rig.upstream.set_enabled(true);
    rig.until("it is back", |rig| rig.status().tools == TOOLS).await;
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_can_be_switched_off_and_on() {
    let rig = Rig::shaped("legacy", json!({"enabled": false}));
    assert_eq!((rig.names(ListKind::Tools).await.len(), rig.status().state), (0, State::Disabled));
    rig.upstream.set_enabled(true);
    rig.until("it is connected", |rig| rig.status().tools == TOOLS).await;
    rig.upstream.set_enabled(false);
    rig.until("it is gone", |rig| rig.status().connections == 0 && rig.status().tools == 0).await;
    assert_eq!(rig.status().state, State::Disabled);
    rig.upstream.set_enabled(true);
    rig.until("it is back", |rig| rig.status().tools == TOOLS).await;
    rig.upstream.stop().await;
}
