//! Questions to a person that wait in the store, and answers that hold longer than one call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{broadcast, oneshot};
use toolgate_core::{
    ApprovalState, Approvals, AskBy, AuditQuery, AuditRow, Call, Capabilities, Client, Collection, Decision,
    Document, Entry, Gate, Hub, Judged, Judgement, Kind, Lasting, ListKind, NewConnection, Principal,
    Recorder, Result, Settings, Store, Stored, ToolItem, Transport, Verdict, Write, Written,
};
use toolgate_host::Clock;
use toolgate_testkit::{
    Driven, Expect, FakeGate, FakeSource, MemoryStore, builder, call, client_legacy, client_with, drive,
    list_names, tool_item,
};
use toolgate_wire::{Raw, Version};

/// A gate that asks about every call, under rules whose version can be changed.
pub(crate) struct Asking(pub(crate) Arc<Mutex<&'static str>>);

impl Gate for Asking {
    fn name(&self) -> &'static str {
        "asking"
    }

    fn judge(&self, _: Judged<'_>) -> Judgement {
        Judgement::by("careful".into(), Verdict::Ask("it writes".into()))
    }

    fn version(&self) -> Arc<str> {
        (*self.0.lock().unwrap()).into()
    }
}

/// A record that keeps how each call ended, and who answered for it.
#[derive(Default)]
pub(crate) struct Answered(pub(crate) Mutex<Vec<(&'static str, Option<String>)>>);

impl Recorder for Answered {
    fn ready(&self) -> Result<()> {
        Ok(())
    }

    fn wants_arguments(&self) -> bool {
        false
    }

    fn record(&self, entry: &Entry<'_>) {
        self.0.lock().unwrap().push((entry.outcome, entry.approver.map(Into::into)));
    }
}

struct Desk {
    hub: Hub,
    source: Arc<FakeSource>,
    inbox: Approvals,
    store: Arc<MemoryStore>,
    clock: Clock,
    policy: Arc<Mutex<&'static str>>,
}

fn desk() -> Desk {
    let clock = Clock::manual(1_000_000);
    desk_on(Arc::new(MemoryStore::on(clock.clone())), clock)
}

/// A process that uses this store.
fn desk_on(store: Arc<MemoryStore>, clock: Clock) -> Desk {
    recorded_desk(store, clock, Arc::default())
}

fn recorded_desk(store: Arc<MemoryStore>, clock: Clock, record: Arc<Answered>) -> Desk {
    let source = Arc::new(FakeSource::new("a").echo("write").echo("other"));
    let policy = Arc::new(Mutex::new("1"));
    let inbox = Approvals::new(store.clone(), clock.clone());
    let hub = builder([source.clone()])
        .gate(Box::new(Asking(policy.clone())))
        .approvals(inbox.clone())
        .recorder(record)
        .clock(clock.clone())
        .build()
        .unwrap();
    Desk { hub, source, inbox, store, clock, policy }
}

/// A client that cannot be asked anything.
fn mute() -> Arc<Client> {
    client_with(Version::LATEST_LEGACY, Capabilities::default())
}

fn write(n: u64) -> Call {
    call(mute(), "write", json!({"n": n}))
}

impl Desk {
    async fn end_of(&self, call: Call) -> Driven {
        drive(self.hub.start(call), []).await
    }

    /// The one question that waits, once there is one.
    async fn waiting(&self) -> String {
        loop {
            let all = self.inbox.list().await.unwrap();
            if let Some(one) = all.iter().find(|approval| approval.state == ApprovalState::Pending) {
                return one.id.clone();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Gives a tool another definition, and tells which one it had.
    async fn redefine(&self, name: &str, raw: Raw) -> Raw {
        let mut before = None;
        self.source.change(|listing| {
            let tool = listing.tools.iter_mut().find(|tool| tool.name.as_str() == name).unwrap();
            before = Some(tool.raw.clone());
            *tool = Arc::new(ToolItem { raw, ..tool_item(name) });
        });
        list_names(&self.hub, ListKind::Tools).await;
        before.unwrap()
    }

    async fn decide(&self, decision: Decision) {
        let id = self.waiting().await;
        self.inbox.decide(&id, &decision, "ops").await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_cannot_be_asked_is_told_before_its_time_is_up_how_to_get_the_approval() {
    let desk = desk();
    let began = tokio::time::Instant::now();
    let driven = desk.end_of(write(1)).await;
    assert!(began.elapsed() < Duration::from_secs(60), "many clients give up after a minute");
    assert!(driven.events[0].contains("toolgate approvals approve"), "{:?}", driven.events);
    let id = desk.waiting().await;
    let error = driven.failed();
    assert_eq!(error.kind(), Kind::NeedsApproval);
    assert!(error.next_step().unwrap().contains(&format!("toolgate approvals approve {id}")));
    assert_eq!(desk.source.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_yes_while_the_call_waits_lets_it_run_once() {
    let desk = desk();
    let (driven, ()) = tokio::join!(desk.end_of(write(1)), desk.decide(Decision::Approve(Lasting::Once)));
    driven.complete();
    assert_eq!(desk.source.calls(), 1);
    // The same call again is another call.
    assert_eq!(desk.end_of(write(1)).await.failed().kind(), Kind::NeedsApproval);
    assert_eq!(desk.source.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_late_yes_waits_for_the_retry_and_is_used_by_one_of_all_who_come() {
    let desk = desk();
    desk.end_of(write(1)).await.failed();
    desk.decide(Decision::Approve(Lasting::Once)).await;
    let all = tokio::join!(desk.end_of(write(1)), desk.end_of(write(1)), desk.end_of(write(1)));
    let ended = [all.0, all.1, all.2].map(|driven| driven.outcome.label());
    assert_eq!(ended.iter().filter(|label| **label == "complete").count(), 1, "{ended:?}");
    assert_eq!(desk.source.calls(), 1);
}

/// A store that gives others a turn before it answers, as one on a disk does, and keeps one list back if told to.
#[derive(Default)]
struct Unhurried(MemoryStore, Mutex<Option<oneshot::Receiver<()>>>);

impl Store for Unhurried {
    fn get<'a>(&'a self, collection: Collection, id: &'a str) -> Stored<'a, Option<Document>> {
        let found = self.0.get(collection, id);
        Box::pin(async move {
            tokio::task::yield_now().await;
            found.await
        })
    }

    fn list(&self, collection: Collection) -> Stored<'_, Vec<Document>> {
        let (found, late) = (self.0.list(collection), self.1.lock().unwrap().take());
        Box::pin(async move {
            if let Some(late) = late {
                late.await.unwrap();
            }
            found.await
        })
    }

    fn write(&self, writes: Vec<Write>) -> Stored<'_, Written> {
        self.0.write(writes)
    }

    fn changes(&self) -> broadcast::Receiver<Collection> {
        self.0.changes()
    }

    fn append_audit(&self, rows: Vec<AuditRow>) -> Stored<'_, ()> {
        self.0.append_audit(rows)
    }

    fn find_audit<'a>(&'a self, query: &'a AuditQuery) -> Stored<'a, Vec<AuditRow>> {
        self.0.find_audit(query)
    }

    fn prune_audit(&self, before_ms: u64) -> Stored<'_, u64> {
        self.0.prune_audit(before_ms)
    }
}

#[tokio::test(start_paused = true)]
async fn of_all_who_read_the_same_yes_at_once_one_uses_it() {
    let source = Arc::new(FakeSource::new("a").echo("write"));
    let inbox = Approvals::new(Arc::new(Unhurried::default()), Clock::system());
    let gate = Asking(Arc::new(Mutex::new("1")));
    let hub = builder([source.clone()]).gate(Box::new(gate)).approvals(inbox.clone()).build().unwrap();
    let end = || drive(hub.start(write(1)), []);
    end().await.failed();
    let id = inbox.list().await.unwrap()[0].id.clone();
    inbox.decide(&id, &Decision::Approve(Lasting::Once), "ops").await.unwrap();
    let all = tokio::join!(end(), end(), end());
    let ended = [all.0, all.1, all.2].map(|driven| driven.outcome.label());
    assert_eq!(ended.iter().filter(|label| **label == "complete").count(), 1, "{ended:?}");
    assert_eq!(source.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_yes_to_something_else_under_the_same_id_counts_for_nothing() {
    for part in ["principal", "target", "digest", "rule", "policy"] {
        let desk = desk();
        desk.end_of(write(1)).await.failed();
        let id = desk.waiting().await;
        desk.inbox.decide(&id, &Decision::Approve(Lasting::Once), "ops").await.unwrap();
        let document = desk.store.get(Collection::Approvals, &id).await.unwrap().unwrap();
        let mut other: serde_json::Value = serde_json::from_str(&document.body).unwrap();
        other[part] = "another".into();
        let replace = Write::Replace {
            collection: Collection::Approvals,
            id,
            revision: document.revision,
            body: other.to_string(),
            expires_ms: document.expires_ms,
        };
        assert_eq!(desk.store.write(vec![replace]).await.unwrap(), Written::Done);
        desk.end_of(write(1)).await.failed();
        assert_eq!(desk.source.calls(), 0, "{part}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_is_for_this_caller_target_arguments_and_policy_alone() {
    let desk = desk();
    desk.end_of(write(1)).await.failed();
    desk.decide(Decision::Approve(Lasting::Once)).await;
    let other_tool = call(mute(), "other", json!({"n": 1}));
    let mut other_caller = write(1);
    other_caller.principal = Principal::named("mallory");
    for stranger in [write(2), other_tool, other_caller] {
        assert_eq!(desk.end_of(stranger).await.failed().kind(), Kind::NeedsApproval);
    }
    *desk.policy.lock().unwrap() = "2";
    assert_eq!(desk.end_of(write(1)).await.failed().kind(), Kind::NeedsApproval);
    assert_eq!(desk.source.calls(), 0);
    // The tool is another one for as long as its definition is; that others change is no matter.
    *desk.policy.lock().unwrap() = "1";
    let before = desk.redefine("write", Raw::literal(r#"{"name":"write","description":"all"}"#)).await;
    assert_eq!(desk.end_of(write(1)).await.failed().kind(), Kind::NeedsApproval);
    desk.redefine("write", before).await;
    desk.redefine("other", Raw::literal(r#"{"name":"other","description":"more"}"#)).await;
    // Key order and spacing make no other call.
    let mut same = write(1);
    same.params = Raw::literal(r#"{ "arguments" : {"n" : 1}, "name":"write"}"#);
    desk.end_of(same).await.complete();
}

#[tokio::test(start_paused = true)]
async fn a_no_denies_with_its_reason_and_is_not_asked_again_until_it_expires() {
    let desk = desk();
    let no = Decision::Reject(Some("not on Fridays".into()));
    let (driven, ()) = tokio::join!(desk.end_of(write(1)), desk.decide(no));
    let error = driven.failed();
    assert_eq!((error.kind(), error.message()), (Kind::Denied, "`ops` rejected this call: not on Fridays"));
    assert_eq!(desk.end_of(write(1)).await.failed().kind(), Kind::Denied);
    desk.clock.advance(Duration::from_secs(3601));
    assert_eq!(desk.end_of(write(1)).await.failed().kind(), Kind::NeedsApproval);
    assert_eq!(desk.source.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_record_names_who_said_yes_and_who_said_no() {
    let clock = Clock::manual(1_000_000);
    let record = Arc::new(Answered::default());
    let desk = recorded_desk(Arc::new(MemoryStore::on(clock.clone())), clock, record.clone());
    desk.end_of(write(1)).await.failed();
    desk.decide(Decision::Reject(None)).await;
    desk.end_of(write(1)).await.failed();
    for (n, decision) in [(2, Decision::Reject(None)), (3, Decision::Approve(Lasting::Once))] {
        tokio::join!(desk.end_of(write(n)), desk.decide(decision));
    }
    for action in ["decline", "accept", "cancel"] {
        let run = desk.hub.start(call(client_legacy(), "write", json!({"n": action})));
        drive(run, [("careful", json!({"action": action}))]).await;
    }
    let record = record.0.lock().unwrap();
    let told: Vec<_> = record.iter().map(|(outcome, by)| (*outcome, by.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("needsApproval", None),
            ("denied", Some("ops")),
            ("denied", Some("ops")),
            ("complete", Some("ops")),
            ("denied", Some("local at the client")),
            ("complete", Some("local at the client")),
            ("denied", None),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_yes_that_comes_too_late_counts_for_nothing() {
    let desk = desk();
    desk.end_of(write(1)).await.failed();
    desk.decide(Decision::Approve(Lasting::Once)).await;
    desk.clock.advance(Duration::from_secs(3601));
    assert_eq!(desk.end_of(write(1)).await.failed().kind(), Kind::NeedsApproval);
    desk.clock.advance(Duration::from_secs(3601));
    let id = "0000";
    assert_eq!(
        desk.inbox.decide(id, &Decision::Approve(Lasting::Once), "ops").await.unwrap_err().kind(),
        Kind::NotFound
    );
    assert_eq!(desk.source.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_yes_runs_out_by_our_own_clock_too() {
    // The store's clock stands still.
    let desk = desk_on(Arc::new(MemoryStore::on(Clock::manual(1_000_000))), Clock::manual(1_000_000));
    desk.end_of(write(1)).await.failed();
    desk.decide(Decision::Approve(Lasting::Once)).await;
    desk.clock.advance(Duration::from_secs(3601));
    desk.end_of(write(1)).await.failed();
    assert_eq!(desk.source.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_question_outlives_the_process_that_asked_and_its_answer_runs_once() {
    let clock = Clock::manual(1_000_000);
    let store = Arc::new(MemoryStore::on(clock.clone()));
    let first = desk_on(store.clone(), clock.clone());
    first.end_of(write(1)).await.failed();
    drop(first);
    let second = desk_on(store.clone(), clock.clone());
    second.decide(Decision::Approve(Lasting::Once)).await;
    let third = desk_on(store, clock);
    third.end_of(write(1)).await.complete();
    assert_eq!(second.end_of(write(1)).await.failed().kind(), Kind::NeedsApproval);
    assert_eq!((second.source.calls(), third.source.calls()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn always_makes_a_rule_that_can_be_forgotten() {
    let desk = desk();
    let (driven, ()) = tokio::join!(desk.end_of(write(1)), desk.decide(Decision::Approve(Lasting::Always)));
    driven.complete();
    desk.end_of(write(2)).await.complete();
    let another_process = desk_on(desk.store.clone(), desk.clock.clone());
    another_process.end_of(write(3)).await.complete();
    assert_eq!(
        desk.end_of(call(mute(), "other", json!({}))).await.failed().kind(),
        Kind::NeedsApproval,
        "another target is another matter"
    );
    let rules = desk.inbox.remembered().await.unwrap();
    assert_eq!(rules.len(), 1);
    assert_eq!((&*rules[0].target, &*rules[0].rule, &*rules[0].by), ("tool:write", "careful", "ops"));
    desk.inbox.forget(&rules[0].id).await.unwrap();
    for process in [&desk, &another_process] {
        assert_eq!(process.end_of(write(4)).await.failed().kind(), Kind::NeedsApproval);
    }
    assert_eq!(desk.inbox.forget(&rules[0].id).await.unwrap_err().kind(), Kind::NotFound);
}

#[tokio::test(start_paused = true)]
async fn what_is_forgotten_while_someone_reads_it_is_forgotten() {
    let source = Arc::new(FakeSource::new("a").echo("write"));
    let store = Arc::new(Unhurried::default());
    let inbox = Approvals::new(store.clone(), Clock::system());
    let gate = Asking(Arc::new(Mutex::new("1")));
    let hub = builder([source.clone()]).gate(Box::new(gate)).approvals(inbox.clone()).build().unwrap();
    let end = |n| drive(hub.start(write(n)), []);
    end(1).await.failed();
    let id = inbox.list().await.unwrap()[0].id.clone();
    inbox.decide(&id, &Decision::Approve(Lasting::Always), "ops").await.unwrap();
    let rule = inbox.remembered().await.unwrap()[0].id.clone();
    let (go, late) = oneshot::channel();
    *store.1.lock().unwrap() = Some(late);
    // One reads what is remembered, and has the answer late; another reads it after it was forgotten.
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        inbox.forget(&rule).await.unwrap();
        assert_eq!(end(3).await.failed().kind(), Kind::NeedsApproval);
        go.send(()).unwrap();
    };
    let (slow, ()) = tokio::join!(end(2), meanwhile);
    slow.complete();
    assert_eq!(end(4).await.failed().kind(), Kind::NeedsApproval);
}

#[tokio::test(start_paused = true)]
async fn always_is_for_this_caller_and_this_rule_alone() {
    let desk = desk();
    let (driven, ()) = tokio::join!(desk.end_of(write(1)), desk.decide(Decision::Approve(Lasting::Always)));
    driven.complete();
    let mut other_caller = write(1);
    other_caller.principal = Principal::named("mallory");
    assert_eq!(desk.end_of(other_caller).await.failed().kind(), Kind::NeedsApproval);
    let other_rule = builder([desk.source.clone()])
        .gate(Box::new(FakeGate::asking("another rule")))
        .approvals(desk.inbox.clone())
        .clock(desk.clock.clone())
        .build()
        .unwrap();
    assert_eq!(drive(other_rule.start(write(1)), []).await.failed().kind(), Kind::NeedsApproval);
    desk.end_of(write(1)).await.complete();
    assert_eq!(desk.source.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_yes_at_the_client_holds_for_a_call_a_connection_or_always() {
    for (allow, same, other, away) in [
        ("once", false, false, false),
        ("session", true, false, false),
        ("always", true, true, true),
        ("forever", false, false, false),
    ] {
        let desk = desk();
        let connect = || {
            let principal = Principal::local();
            desk.hub.connect(NewConnection { transport: Transport::Stdio, principal, process: None })
        };
        let (here, there) = (connect(), connect());
        let on = |connection: Option<_>, client: Arc<Client>, n: u64| Call {
            connection,
            ..call(client, "write", json!({"n": n}))
        };
        let yes = json!({"action": "accept", "content": {"allow": allow}});
        let run = desk.hub.start(on(Some(here.id()), client_legacy(), 1));
        drive(run, [("careful", yes)]).await.complete();
        for (connection, passes) in [(Some(here.id()), same), (Some(there.id()), other), (None, away)] {
            let outcome = desk.end_of(on(connection, mute(), 2)).await.outcome;
            assert_eq!(matches!(outcome, toolgate_core::Outcome::Complete(_)), passes, "{allow}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_answer_leaves_the_question_to_the_inbox() {
    let desk = desk();
    let mut run = desk.hub.start(call(client_legacy(), "write", json!({})));
    let asked = run.next().await;
    let (driven, ()) = tokio::join!(drive(run, []), desk.decide(Decision::Approve(Lasting::Once)));
    driven.complete();
    drop(asked);
}

#[tokio::test(start_paused = true)]
async fn a_no_at_the_client_is_the_end_of_it() {
    let desk = desk();
    let run = desk.hub.start(call(client_legacy(), "write", json!({})));
    assert_eq!(drive(run, [("careful", json!({"action": "decline"}))]).await.failed().kind(), Kind::Denied);
    assert!(desk.inbox.list().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_ways_of_asking_are_tried_in_the_order_configured() {
    let desk = desk();
    desk.hub.set_settings(Settings { ask_by: [AskBy::Inbox].into(), ..Settings::default() });
    let driven = drive(desk.hub.start(call(client_legacy(), "write", json!({}))), []).await;
    assert!(driven.events.iter().all(|event| !event.starts_with("ask")), "{:?}", driven.events);
    assert_eq!(driven.failed().kind(), Kind::NeedsApproval);
    desk.hub.set_settings(Settings { ask_by: [AskBy::Client].into(), ..Settings::default() });
    assert_eq!(desk.end_of(write(9)).await.failed().kind(), Kind::NeedsApproval);
    assert_eq!(desk.inbox.list().await.unwrap().len(), 1, "only the first was put into the inbox");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_answer_lets_nothing_run() {
    let desk = desk();
    desk.store.fail(true);
    assert_eq!(desk.end_of(write(1)).await.failed().kind(), Kind::Internal);
    assert_eq!(desk.source.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_given_once_and_found_by_the_beginning_of_its_id() {
    let desk = desk();
    desk.end_of(write(1)).await.failed();
    let id = desk.waiting().await;
    let yes = Decision::Approve(Lasting::Once);
    assert_eq!(desk.inbox.decide("", &yes, "ops").await.unwrap_err().kind(), Kind::NotFound);
    assert_eq!(
        desk.inbox.decide(&id, &Decision::Approve(Lasting::Session), "ops").await.unwrap_err().kind(),
        Kind::InvalidInput,
        "there is no connection to remember it for"
    );
    desk.inbox.decide(&id[..6], &yes, "ops").await.unwrap();
    let again = desk.inbox.decide(&id, &Decision::Reject(None), "eve").await.unwrap_err();
    assert!(again.message().contains("approved already"), "{again}");
}

#[tokio::test(start_paused = true)]
async fn a_yes_for_a_connection_that_there_is_not_holds_for_this_call() {
    let desk = desk();
    let yes = json!({"action": "accept", "content": {"allow": "session"}});
    let run = desk.hub.start(call(client_legacy(), "write", json!({})));
    drive(run, [("careful", yes)]).await.complete();
    assert!(desk.inbox.remembered().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_person_is_shown_the_very_numbers_that_were_sent() {
    let desk = desk();
    let mut exact = write(1);
    exact.params = Raw::literal(r#"{"name":"write","arguments":{"n":123456789012345678901234567890}}"#);
    desk.end_of(exact).await.failed();
    let shown = desk.inbox.list().await.unwrap()[0].arguments.clone();
    assert!(shown.contains("123456789012345678901234567890"), "{shown}");
}
