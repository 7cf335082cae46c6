//! A yes that covers the rounds of a call whose source asks by result: each once, and none for longer than it counts.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::{Approvals, Call, Capabilities, Client, Decision, Hub, Kind, Lasting, Outcome, Settings};
use toolgate_host::Clock;
use toolgate_testkit::{
    Expect, FakeGate, FakeSource, MemoryStore, builder, call, client_modern, client_with, drive, first_round,
    retry, text,
};
use toolgate_wire::{Raw, Version};

use crate::inbox::Answered;

struct Scene {
    hub: Hub,
    source: Arc<FakeSource>,
    clock: Clock,
    inbox: Approvals,
    record: Arc<Answered>,
}

/// A hub with a rule that asks about a source that asks for folders twice.
fn scene(settings: Settings) -> Scene {
    let source = Arc::new(FakeSource::new("a").tool("ask", |permitted, _| async move {
        let asked: usize = permitted.state().map_or(0, |state| state.parse().unwrap());
        if asked == 2 {
            return Ok(Outcome::Complete(text("done")));
        }
        let requests = Raw::literal(r#"{"where":{"method":"roots/list","params":{}}}"#);
        Ok(Outcome::InputRequired { requests, state: Some((asked + 1).to_string()) })
    }));
    let (clock, record) = (Clock::manual(1_000_000), Arc::new(Answered::default()));
    let inbox = Approvals::new(Arc::new(MemoryStore::on(clock.clone())), clock.clone());
    let hub = builder([source.clone()])
        .gate(Box::new(FakeGate::asking("ok")))
        .approvals(inbox.clone())
        .recorder(record.clone())
        .clock(clock.clone())
        .settings(settings)
        .build()
        .unwrap();
    Scene { hub, source, clock, inbox, record }
}

fn from(client: Arc<Client>) -> Call {
    call(client, "ask", json!({"n": 1}))
}

impl Scene {
    /// What a retry is asked, and the state to come back with.
    async fn next(&self, state: &str, responses: Value) -> (String, String) {
        let again = retry(from(client_modern()), state, responses);
        let (requests, state) = first_round(&self.hub, again).await.asked();
        (requests.as_object().unwrap().keys().cloned().collect(), state)
    }

    /// The state of a call that a person approved at the client, and that asked for folders since.
    async fn approved(&self) -> String {
        let (_, state) = first_round(&self.hub, from(client_modern())).await.asked();
        let (asked, state) = self.next(&state, json!({"ok": {"action": "accept"}})).await;
        assert_eq!(asked, "where");
        state
    }
}

fn here() -> Value {
    json!({"where": {"roots": []}})
}

#[tokio::test]
async fn a_state_that_comes_twice_is_asked_about_again() {
    let scene = scene(Settings::default());
    let first = scene.approved().await;
    let (asked, second) = scene.next(&first, here()).await;
    assert_eq!((&*asked, scene.source.calls()), ("where", 2));
    for state in [&first, &first] {
        let (asked, _) = scene.next(state, here()).await;
        assert_eq!((&*asked, scene.source.calls()), ("ok", 2));
    }
    let end = || first_round(&scene.hub, retry(from(client_modern()), &second, here()));
    end().await.complete();
    assert_eq!(scene.source.calls(), 3);
    end().await.asked();
    assert_eq!(scene.source.calls(), 3);
}

#[tokio::test]
async fn rounds_do_not_prolong_an_approval() {
    let scene = scene(Settings { approval_ttl: Duration::from_secs(500), ..Settings::default() });
    let state = scene.approved().await;
    scene.clock.advance(Duration::from_secs(299));
    let (asked, state) = scene.next(&state, here()).await;
    assert_eq!(asked, "where");
    scene.clock.advance(Duration::from_secs(202));
    let (asked, _) = scene.next(&state, here()).await;
    assert_eq!((&*asked, scene.source.calls()), ("ok", 2));
}

#[tokio::test(start_paused = true)]
async fn a_yes_from_the_inbox_counts_as_long_as_its_question() {
    let scene = scene(Settings::default());
    let mute = || from(client_with(Version::LATEST, Capabilities { roots: true, ..Capabilities::default() }));
    drive(scene.hub.start(mute()), []).await.failed();
    scene.clock.advance(Duration::from_secs(3500));
    let id = scene.inbox.list().await.unwrap()[0].id.clone();
    scene.inbox.decide(&id, &Decision::Approve(Lasting::Once), "ops").await.unwrap();
    let (_, state) = first_round(&scene.hub, mute()).await.asked();
    scene.clock.advance(Duration::from_secs(200));
    let late = first_round(&scene.hub, retry(mute(), &state, here())).await.failed();
    assert_eq!((late.kind(), scene.source.calls()), (Kind::NeedsApproval, 1));
}

#[tokio::test]
async fn the_record_of_every_round_names_who_said_yes() {
    let scene = scene(Settings::default());
    let state = scene.approved().await;
    let (_, state) = scene.next(&state, here()).await;
    first_round(&scene.hub, retry(from(client_modern()), &state, here())).await.complete();
    let by = Some("local at the client".to_owned());
    let rounds = ["inputRequired", "inputRequired", "complete"].map(|outcome| (outcome, by.clone()));
    assert_eq!(*scene.record.0.lock().unwrap(), rounds);
}

#[tokio::test]
async fn only_so_many_are_kept_and_the_others_are_asked_about_again() {
    let scene = scene(Settings { max_parked: 1, ..Settings::default() });
    let (kept, beyond) = (scene.approved().await, scene.approved().await);
    let (asked, _) = scene.next(&kept, here()).await;
    assert_eq!(asked, "where");
    let (asked, _) = scene.next(&beyond, here()).await;
    assert_eq!(asked, "ok");
    scene.clock.advance(Duration::from_secs(301));
    let (asked, _) = scene.next(&scene.approved().await, here()).await;
    assert_eq!(asked, "where", "time makes room");
}
