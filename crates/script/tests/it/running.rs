//! Approved scripts that run in a child.

use futures_util::future::join_all;
use serde_json::json;
use toolgate_core::{Call, Kind, Outcome, Principal, Target};
use toolgate_testkit::client_legacy;
use toolgate_wire::Raw;

use crate::scene::{Scene, answer, check_failed};

#[tokio::test]
async fn an_approved_script_answers_with_its_result_and_what_it_printed() {
    let scene = Scene::new();
    scene
        .approved(
            "sum.star",
            "# @description: Sums up.\nprint('begun')\ndef main():\n    return {'sum': 1 + 2}",
        )
        .await;
    let answer = scene.call("script_run", json!({"name": "sum"})).await.unwrap();
    assert_eq!(answer["result"], json!({"sum": 3}));
    assert_eq!((&answer["printed"], &answer["script"]), (&json!("begun\n"), &json!("sum.star")));
    assert!(answer["duration_ms"].is_u64());
    let listed = scene.call("script_list", json!({})).await.unwrap();
    assert_eq!(listed["items"][0]["name"], "sum.star");
    assert_eq!(listed["items"][0]["state"], "approved");
    assert_eq!(listed["items"][0]["description"], "Sums up.");
    assert_eq!(scene.call("script_reload", json!({})).await.unwrap(), json!({"scripts": 1, "approved": 1}));
}

#[tokio::test]
async fn functions_are_called_by_position_and_by_name() {
    let scene = Scene::new();
    scene.approved("f.star", "def add(a, b = 10):\n    return a + b").await;
    let run = |arguments| scene.call("script_run", arguments);
    let call = json!({"name": "f.star", "function": "add", "args": [1, 2]});
    assert_eq!(run(call).await.unwrap()["result"], 3);
    let call = json!({"name": "f", "function": "add", "kwargs": {"a": 9007199254740993_i64}});
    assert_eq!(run(call).await.unwrap()["result"], 9_007_199_254_741_003_i64);
    scene.approved("long.star", "def main(n):\n    return [n, n * 10, 1.0]").await;
    let params =
        r#"{"name":"script_run","arguments":{"name":"long","args":[123456789012345678901234567890]}}"#;
    let call = Call::new(
        Principal::named("ada"),
        client_legacy(),
        Target::Tool("script_run".parse().unwrap()),
        Raw::literal(params),
    );
    let Outcome::Complete(raw) = scene.hub.start(call).outcome().await else { panic!("it failed") };
    let exact = "[123456789012345678901234567890,1234567890123456789012345678900,1.0]";
    assert_eq!(raw.path(&["structuredContent", "result"]).unwrap().as_str(), exact);
    check_failed(
        run(json!({"name": "f", "function": "add"})).await,
        Kind::InvalidInput,
        &["`add(a, b = ...)`"],
    );
    check_failed(run(json!({"name": "f", "function": "sub"})).await, Kind::InvalidInput, &["there is `add`"]);
    let both = json!({"name": "f", "function": "add", "args": [1], "kwargs": {"b": 1}});
    check_failed(run(both).await, Kind::InvalidInput, &["both"]);
    check_failed(run(json!({"name": "f", "args": "1"})).await, Kind::InvalidInput, &[]);
}

#[tokio::test]
async fn a_failed_script_shows_its_traceback_and_what_it_printed() {
    let scene = Scene::new();
    let source = "def f():\n    fail('too bad')\ndef main():\n    print('here')\n    f()";
    check_failed(
        scene.run_source(source).await,
        Kind::InvalidInput,
        &["Traceback", "test.star:2", "test.star:5", "too bad", "Printed before:\nhere"],
    );
    check_failed(scene.run_source("x = [1,\n  2").await, Kind::InvalidInput, &["test.star:2"]);
    check_failed(scene.run_source("x = 1\ny = (1,\n\n").await, Kind::InvalidInput, &["test.star:2:8"]);
    check_failed(scene.run_source("x = 1\nif x:\n").await, Kind::InvalidInput, &["test.star:2:6"]);
    check_failed(scene.run_source("x = = 1").await, Kind::InvalidInput, &["test.star:1:5"]);
}

#[tokio::test]
async fn what_breaks_a_child_is_told_and_the_next_one_is_served() {
    let scene = Scene::new();
    scene.approved("fine.star", "result = 'fine'").await;
    for (source, words) in [
        (
            "def main():\n    x = []\n    for i in range(1000000):\n        x = [x]\n    return str(x)",
            "nests so deeply",
        ),
        ("result = ('y' * 1000000).replace('y', 'z' * 1000000)", "more than 128 MB of memory"),
        ("fail('x' * 20000000)", "xxxx…"),
        ("secrets.get('x' * 20000000)", "more than 65536 bytes"),
        ("tools.call('x' * 20000000)", "more than 65536 bytes"),
        ("http.get('http://' + 'x' * 20000000)", "more than 65536 bytes"),
        ("http.get('http://x', headers = {'a': 'x' * 20000000})", "more than 65536 bytes"),
    ] {
        assert_eq!(scene.run("fine").await.unwrap(), "fine");
        check_failed(scene.run_source(source).await, Kind::InvalidInput, &[words]);
        assert_eq!(scene.run("fine").await.unwrap(), "fine");
    }
}

#[test]
fn a_child_can_do_nothing_but_compute() {
    #[expect(clippy::disallowed_methods, reason = "the probe is started as a program of its own")]
    let probe = std::process::Command::new(env!("CARGO_BIN_EXE_script-child")).arg("probe").output().unwrap();
    let said = String::from_utf8(probe.stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "landlock true",
            "seccomp true",
            "read a file: refused",
            "list a folder: refused",
            "write a file: refused",
            "connect: refused",
            "listen: refused",
            "send a datagram: refused",
            "start a program: refused",
            "start a thread: refused",
            "take 256 MB: refused",
            "take 16 MB: done",
        ],
        "{said}"
    );
}

#[tokio::test]
async fn an_unknown_script_suggests_the_nearest() {
    let scene = Scene::new();
    scene.approved("report.star", "result = 1").await;
    let error = scene.run("reprot").await.unwrap_err();
    assert_eq!((error.kind(), error.next_step()), (Kind::NotFound, Some("did you mean `report.star`?")));
    for name in ["../report", "/etc/passwd", "", "exec:0123456789abcdef"] {
        check_failed(scene.run(name).await, Kind::InvalidInput, &["cannot be the name"]);
    }
}

#[tokio::test]
async fn scripts_load_approved_scripts_only() {
    let scene = Scene::new();
    scene.approved("lib.star", "def double(x):\n    return 2 * x").await;
    let source = "load('lib.star', 'double')\nresult = double(21)";
    assert_eq!(scene.run_source(source).await.unwrap(), 42);
    scene.write("lib.star", "def double(x):\n    return 0");
    check_failed(
        scene.run("test").await,
        Kind::InvalidInput,
        &["'lib.star' is pending approval", "modified"],
    );
    check_failed(
        scene.run_source("load('no.star', 'x')").await,
        Kind::InvalidInput,
        &["there is no script `no.star`"],
    );
}

#[tokio::test]
async fn a_child_is_reused_by_its_principal_and_remembers_nothing() {
    let scene = Scene::new();
    scene
        .approved(
            "a.star",
            "state = []\ndef main():\n    state.append(1) if False else None\n    return len(state)",
        )
        .await;
    for _ in 0..5 {
        assert_eq!(scene.run("a").await.unwrap(), 0);
        let other = scene.call_as("grace", "script_run", json!({"name": "a"})).await;
        assert_eq!(answer(other).unwrap()["result"], 0);
    }
}

#[tokio::test]
async fn many_run_at_once() {
    let scene = Scene::new();
    scene.approved("wait.star", "def main(n):\n    time.sleep(0.05)\n    return n").await;
    let runs = (0..20).map(|number| {
        let who = format!("caller{}", number % 5);
        let scene = &scene;
        async move {
            let call = json!({"name": "wait", "function": "main", "args": [number]});
            answer(scene.call_as(&who, "script_run", call).await).unwrap()["result"].clone()
        }
    });
    let answers = join_all(runs).await;
    assert_eq!(answers, (0..20).map(|number| json!(number)).collect::<Vec<_>>());
}
