//! However a call comes to its end, OpenCode does not work on.

use serde_json::{Value, json};

use super::Scene;
use crate::message::{cancelled, post_modern, request};
use crate::process::{Server, Stdio, until};

/// A prompt that takes long, and says so as it begins.
pub(super) fn slow() -> Value {
    json!({"name": "opencode_run", "arguments": {"prompt": "think slowly"}, "_meta": {"progressToken": "p"}})
}

pub(super) fn has_begun(message: &Value) -> bool {
    let words = message["params"]["message"].as_str().unwrap_or_default();
    message["method"] == "notifications/progress" && words.contains("thinking")
}

/// A client on standard input whose prompt the model has begun to answer.
fn begun(scene: &Scene) -> Stdio {
    let mut stdio = Stdio::start_in(scene.place(), &[]);
    stdio.send(request(7, "tools/call", &slow()));
    loop {
        let message = stdio.next();
        assert_ne!(message["id"], 7, "{message}");
        if has_begun(&message) {
            assert_eq!(scene.busy(), 1);
            return stdio;
        }
    }
}

#[test]
fn a_call_that_is_cancelled_is_stopped() {
    let scene = Scene::new("cancelled");
    let mut stdio = begun(&scene);
    stdio.send(cancelled(7));
    until("nothing works", || scene.busy() == 0);
    let (rest, code) = stdio.finish();
    assert!(rest.iter().all(|line| !line.contains("\"id\":7")), "{rest:?}");
    assert_eq!(code, Some(0));
}

#[test]
fn what_a_client_wanted_is_stopped_when_it_goes_away() {
    let scene = Scene::new("gone");
    let (_, code) = begun(&scene).finish();
    assert_eq!(code, Some(0));
    until("nothing works", || scene.busy() == 0);

    let server = Server::start_in(scene.place(), &[]);
    let mut open = post_modern(&server, "tools/call", 1, slow()).open();
    while !has_begun(&open.message().expect("it begins")) {}
    assert_eq!(scene.busy(), 1);
    drop(open);
    until("nothing works", || scene.busy() == 0);
}

#[test]
fn what_runs_is_stopped_when_we_end() {
    let scene = Scene::new("ended");
    let mut server = Server::start_in(scene.place(), &[]);
    let mut open = post_modern(&server, "tools/call", 1, slow()).open();
    while !has_begun(&open.message().expect("it begins")) {}
    assert_eq!(scene.busy(), 1);
    server.running.terminate();
    assert_eq!(server.running.code(), Some(0));
    assert_eq!(scene.busy(), 0);
}
