//! Servers that tell some of their lists, and others not: what they tell is offered.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::ListKind;
use toolgate_testkit::{Expect as _, call, client_legacy, drive};
use toolgate_upstream::{Definitions, State};

use crate::fake::TOOLS;
use crate::rig::{BEYOND, PATIENCE, Rig, fake, pass, trial};

/// Ways not to tell a list, each with what is noted of it.
const WAYS: [(&str, &str, &str); 4] = [
    ("unknown-prompts-list", "does not list its prompts", "it answered an error: unknown method"),
    ("unknown-resources-list", "does not list its resources", "it answered an error: unknown method"),
    ("failing-prompts-list", "does not list its prompts", "it answered an error: the backend is down"),
    ("failing-resources-list", "does not list its resources", "it answered an error: the backend is down"),
];

/// Waits until this is noted.
async fn noted(rig: &Rig, what: &str, detail: &str) {
    let is_it = |rig: &Rig| rig.status().notes.iter().any(|note| note.what == what && note.detail == detail);
    rig.until(what, is_it).await;
}

fn be_well(rig: &Rig) {
    std::fs::write(rig.place.path().join("well"), "").unwrap();
}

#[tokio::test]
async fn what_a_server_tells_is_offered_whatever_else_it_does_not_tell() {
    for (way, what, detail) in WAYS {
        for era in ["legacy", "modern"] {
            let rig = Rig::fake(&format!("{era} {way}"));
            assert_eq!(rig.names(ListKind::Tools).await.len(), TOOLS, "{era} {way}");
            let tells = |list: &str| !way.ends_with(list);
            assert_eq!(rig.names(ListKind::Prompts).await.len(), usize::from(tells("prompts-list")));
            assert_eq!(rig.names(ListKind::Resources).await.len(), usize::from(tells("resources-list")));
            assert_eq!(rig.names(ListKind::Templates).await, ["fake://t/{id}"]);
            assert_eq!((rig.status().state, rig.status().error), (State::Connected, None), "{era} {way}");
            noted(&rig, what, detail).await;
            rig.call(client_legacy(), "fake_change", json!({"b": ""}), None).await.complete();
            rig.until("the new tool is known", |rig| rig.status().tools == TOOLS + 1).await;
            rig.upstream.stop().await;
        }
    }
}

#[tokio::test]
async fn a_trial_of_a_server_that_does_not_tell_a_list_names_that_list() {
    for (way, what, detail) in WAYS {
        let place = tempfile::tempdir().unwrap();
        let report = trial(fake(&format!("legacy {way}"), place.path())).await;
        assert_eq!((report.status.state, report.status.tools), (State::Connected, TOOLS), "{way}");
        assert_eq!(report.definitions.unwrap().tools().len(), TOOLS);
        let notes: Vec<_> = report.status.notes.iter().map(|note| (&*note.what, &*note.detail)).collect();
        assert_eq!(notes, [(what, detail)]);
    }
    let place = tempfile::tempdir().unwrap();
    let report = trial(fake("legacy failing-tools-list", place.path())).await;
    let error = "cannot be listed: it answered an error: the backend is down";
    assert_eq!((report.status.state, report.status.error.as_deref()), (State::Failed, Some(error)));
    assert_eq!(report.status.notes[0].what, "does not list its tools");
}

#[tokio::test]
async fn what_was_known_of_a_list_that_is_not_told_stays_and_the_others_change() {
    for way in ["failing-tools-list", "failing-resources-list"] {
        let place = Arc::new(tempfile::tempdir().unwrap());
        let table = fake("legacy", place.path());
        let kept = trial(table.clone()).await.definitions.as_deref().cloned();
        std::fs::write(place.path().join("behaviour"), format!("legacy {way}")).unwrap();
        let rig = Rig::of(table, place, kept);
        rig.call(client_legacy(), "fake_change", json!({"b": ""}), None).await.complete();
        rig.until("it does not tell it", |rig| rig.count(&way.replace("failing-", "")) > 0).await;
        let tools = if way == "failing-tools-list" { TOOLS } else { TOOLS + 1 };
        rig.until("the new tool is known, if it is told", |rig| rig.status().tools == tools).await;
        rig.until("it is well", |rig| rig.status().state == State::Connected).await;
        assert_eq!(rig.names(ListKind::Resources).await, ["fake://one"], "{way}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_list_that_was_not_told_is_asked_for_again_alone() {
    for era in ["legacy", "modern"] {
        let rig = Rig::fake(&format!("{era} failing-resources-list"));
        rig.settled().await;
        let tools = rig.count("asked-tools");
        pass(11).await;
        rig.until("it is asked for again", |rig| rig.count("resources-list") == 2).await;
        assert_eq!(rig.status().connections, 1, "{era}: it is not let go meanwhile");
        be_well(&rig);
        pass(21).await;
        rig.until("it is there", |rig| rig.status().resources == 2).await;
        assert_eq!(rig.names(ListKind::Resources).await, ["fake://one"]);
        assert_eq!((rig.count("asked-tools"), rig.count("started")), (tools, 1), "{era}");
        pass(11).await;
        rig.until("it is let go", |rig| rig.status().connections == 0).await;
        rig.upstream.stop().await;
    }
}

/// What is remembered of a server, as it is after it was kept.
fn kept(definitions: &Definitions) -> Option<Definitions> {
    serde_json::from_str(&serde_json::to_string(definitions).unwrap()).ok()
}

#[tokio::test]
async fn what_is_remembered_of_a_server_that_had_not_told_all_is_learned_again_at_the_next_start() {
    for way in ["failing-prompts-list", "hanging-prompts-list", "hanging-resources-list"] {
        let place = Arc::new(tempfile::tempdir().unwrap());
        let table = fake(&format!("legacy {way}"), place.path());
        let rig = Rig::of(table.clone(), place.clone(), None);
        rig.until("the tools are offered", |rig| rig.status().tools == TOOLS).await;
        let kept = kept(rig.upstream.learned().borrow().as_ref().unwrap());
        rig.upstream.stop().await;
        be_well(&rig);
        let rig = Rig::of(table.clone(), place.clone(), kept);
        // Nobody calls it.
        rig.until("all of it is there", |rig| (rig.status().prompts, rig.status().resources) == (1, 2)).await;
        let kept = self::kept(rig.upstream.learned().borrow().as_ref().unwrap());
        rig.upstream.stop().await;
        let started = rig.count("started");
        let rig = Rig::of(table, place, kept);
        rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None).await.complete();
        assert_eq!(rig.count("started"), started + 1, "{way}: it is not learned before it is called");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_never_tells_a_list_is_not_started_for_it_again_and_again() {
    let place = Arc::new(tempfile::tempdir().unwrap());
    let table = fake("legacy failing-prompts-list", place.path());
    let definitions = trial(table.clone()).await.definitions.unwrap();
    let rig = Rig::of(table, place, kept(&definitions));
    rig.until("it is learned again", |rig| rig.count("prompts-list") == 2).await;
    for _ in 0..10 {
        pass(700).await;
    }
    rig.until("it is let go", |rig| rig.status().connections == 0).await;
    pass(700).await;
    assert_eq!((rig.status().connections, rig.count("started")), (0, 2));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_list_that_never_comes_keeps_nobody_from_the_others() {
    for era in ["legacy", "modern"] {
        let rig = Rig::fake(&format!("{era} hanging-resources-list"));
        rig.until("the tools are offered", |rig| rig.status().tools == TOOLS).await;
        assert_eq!((rig.status().state, rig.count("resources-list")), (State::Connected, 1), "{era}");
        let run = rig.hub.start(call(client_legacy(), "fake_change", json!({"b": ""})));
        tokio::time::timeout(PATIENCE, drive(run, [])).await.expect("the call hangs").complete();
        pass(BEYOND).await;
        rig.until("the new tool is known", |rig| rig.status().tools == TOOLS + 1).await;
        noted(&rig, "does not list its resources", "no answer within 60000 ms").await;
        assert_eq!(rig.names(ListKind::Prompts).await, ["fake_greet"]);
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn lists_that_never_come_are_waited_for_together() {
    let lists = ["resources-list", "resources-templates-list", "prompts-list"];
    let hanging = lists.map(|list| format!("hanging-{list}")).join(" ");
    let rig = Rig::shaped(&format!("legacy {hanging}"), json!({"timeout": 100_000}));
    for (list, seconds) in lists.into_iter().zip([101, 101, 19]) {
        rig.until("it is asked for it", |rig| rig.count(list) == 1).await;
        pass(seconds).await;
    }
    noted(&rig, "does not list its prompts", "no answer within 220000 ms").await;
    // Whoever was kept from it by the others is asked first the next time.
    rig.settled().await;
    pass(11).await;
    rig.until("it is asked for again", |rig| rig.count("prompts-list") == 2).await;
    assert_eq!(rig.count("resources-list"), 1);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_program_that_ends_over_one_list_has_told_the_others() {
    let rig = Rig::fake("legacy exits-on-resources-list");
    rig.until("the tools are offered", |rig| rig.status().tools == TOOLS).await;
    noted(&rig, "does not list its resources", "its program ended with exit code 7").await;
    rig.upstream.stop().await;
}
