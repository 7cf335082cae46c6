//! What events make of the state of a tab.

use serde_json::json;

use super::*;

/// A page whose document is loaded, and which has asked for something itself and in a frame.
fn busy() -> State {
    let mut state = State::new("main", "s1", "");
    commit(&mut state, "l1");
    ask(&mut state, "s1", "r1");
    state.frame_in_process("s2", &json!({"targetId": "frame", "url": "http://b.example/"}));
    ask(&mut state, "s2", "r2");
    state
}

fn commit(state: &mut State, loader: &str) {
    let frame = json!({"id": "main", "loaderId": loader, "url": "http://a.example/"});
    state.apply("s1", "Page.frameNavigated", &json!({"frame": frame}));
}

fn ask(state: &mut State, session: &str, id: &str) {
    let request = json!({"url": format!("http://a.example/{id}"), "method": "GET"});
    let params = json!({"requestId": id, "type": "Fetch", "request": request});
    state.apply(session, "Network.requestWillBeSent", &params);
}

#[track_caller]
fn check(state: &State, under_way: &[&str]) {
    let urls: Vec<String> = under_way.iter().map(|id| format!("http://a.example/{id}")).collect();
    assert_eq!(state.network.under_way(), urls);
    assert_eq!(state.network.quiet_since().is_some(), under_way.is_empty());
}

#[test]
fn requests_end_with_whoever_would_tell_their_end() {
    let mut state = busy();
    check(&state, &["r1", "r2"]);
    state.session_gone("s2");
    check(&state, &["r1"]);
    state.apply("s1", "Inspector.targetCrashed", &json!({}));
    check(&state, &[]);
}

#[test]
fn another_document_leaves_the_requests_of_the_one_before() {
    let mut state = busy();
    // It is asked for while the one before is still there.
    ask(&mut state, "s1", "l2");
    commit(&mut state, "l2");
    check(&state, &["l2"]);
    state.apply("s1", "Network.loadingFinished", &json!({"requestId": "l2"}));
    check(&state, &[]);
}
