//! What changes while a person is asked: a yes counts for what it was said to, and for nothing else.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use toolgate_core::{
    ApprovalState, Approvals, Capabilities, Decision, Error, Event, Gate, Hub, Judged, Judgement, Kind,
    Lasting, ListKind, Run, ToolItem, Verdict,
};
use toolgate_testkit::{
    Driven, Expect, FakeGate, FakeSource, MemoryStore, approval, builder, call, client_legacy, client_with,
    drive, list_names, tool_item,
};
use toolgate_wire::{Raw, Version};

use crate::inbox::{Answered, Asking};

/// What the rules of a [`Ruled`] say of every call.
#[derive(Clone, Copy)]
enum Effect {
    Ask,
    Deny,
    Pass,
}

/// A gate whose rules can be exchanged: their version, and what they say.
struct Ruled(Arc<Mutex<(&'static str, Effect)>>);

impl Gate for Ruled {
    fn name(&self) -> &'static str {
        "ruled"
    }

    fn judge(&self, _: Judged<'_>) -> Judgement {
        let verdict = match self.0.lock().unwrap().1 {
            Effect::Ask => Verdict::Ask("it writes".into()),
            Effect::Deny => Verdict::Deny(Error::new(Kind::Denied, "nobody writes any more")),
            Effect::Pass => Verdict::Pass,
        };
        Judgement::by("careful".into(), verdict)
    }

    fn version(&self) -> Arc<str> {
        self.0.lock().unwrap().0.into()
    }
}

struct Scene {
    hub: Hub,
    source: Arc<FakeSource>,
    inbox: Approvals,
    rules: Arc<Mutex<(&'static str, Effect)>>,
    hidden: Arc<AtomicBool>,
    record: Arc<Answered>,
}

fn scene() -> Scene {
    let source = Arc::new(FakeSource::new("a").echo("write"));
    let rules = Arc::new(Mutex::new(("1", Effect::Ask)));
    let (hidden, record) = (Arc::new(AtomicBool::new(false)), Arc::new(Answered::default()));
    let inbox = Approvals::new(Arc::new(MemoryStore::new()), toolgate_host::Clock::system());
    let hides = hidden.clone();
    let hub = builder([source.clone()])
        .gate(Box::new(Ruled(rules.clone())))
        .gate(Box::new(FakeGate::showing(move |_, _| !hides.load(Ordering::SeqCst))))
        .approvals(inbox.clone())
        .recorder(record.clone())
        .build()
        .unwrap();
    Scene { hub, source, inbox, rules, hidden, record }
}

/// What changes before the person answers.
#[derive(Clone, Copy)]
enum Change {
    Rules(Effect),
    Hidden,
    Definition,
}

impl Scene {
    async fn change(&self, change: Change) {
        match change {
            Change::Rules(effect) => *self.rules.lock().unwrap() = ("2", effect),
            Change::Hidden => {
                self.hidden.store(true, Ordering::SeqCst);
                // As whoever changes the rules does.
                self.hub.set_settings(toolgate_core::Settings { page_size: 7, ..Default::default() });
                self.source.change(|listing| listing.tools.push(Arc::new(tool_item("another"))));
                list_names(&self.hub, ListKind::Tools).await;
            }
            Change::Definition => {
                let raw = Raw::literal(r#"{"name":"write","description":"all"}"#);
                let item = ToolItem { raw, ..tool_item("write") };
                self.source.change(|listing| listing.tools[0] = Arc::new(item));
                list_names(&self.hub, ListKind::Tools).await;
            }
        }
    }

    /// Has the client asked; a yes comes after the change, and to whatever is asked then.
    async fn at_the_client(&self, change: Change) -> Driven {
        let mut run = self.hub.start(call(client_legacy(), "write", json!({"n": 1})));
        let asked = run.next().await;
        let Some(Event::Ask(ask)) = asked else { panic!("nobody is asked: {asked:?}") };
        self.change(change).await;
        let mut answers = toolgate_core::Answers::default();
        answers.insert("careful", Raw::literal(r#"{"action":"accept"}"#));
        ask.answer(Ok(answers));
        drive(run, [("careful", json!({"action": "accept"}))]).await
    }

    /// The same in the inbox, where an operator says yes to each question there is.
    async fn in_the_inbox(&self, change: Change) -> Driven {
        let mute = client_with(Version::LATEST_LEGACY, Capabilities::default());
        let run: Run = self.hub.start(call(mute, "write", json!({"n": 1})));
        let approving = async {
            self.say_yes(0).await;
            self.say_yes(1).await;
        };
        let first = async {
            self.waiting().await;
            self.change(change).await;
            approving.await;
        };
        tokio::select! {
            biased;
            driven = drive(run, []) => driven,
            () = async { first.await; std::future::pending().await } => unreachable!(),
        }
    }

    async fn waiting(&self) -> String {
        loop {
            let all = self.inbox.list().await.unwrap();
            if let Some(one) = all.iter().find(|approval| approval.state == ApprovalState::Pending) {
                return one.id.clone();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Says yes to the question that waits when so many were answered.
    async fn say_yes(&self, answered: usize) {
        let id = self.waiting().await;
        let all = self.inbox.list().await.unwrap();
        assert_eq!(all.len(), answered + 1);
        self.inbox.decide(&id, &Decision::Approve(Lasting::Once), "ops").await.unwrap();
    }

    fn approver(&self) -> Option<String> {
        self.record.0.lock().unwrap().last().unwrap().1.clone()
    }
}

/// A change, how the call ends, and how many more questions there are.
const CASES: [(Change, Result<(), Kind>, usize); 5] = [
    (Change::Rules(Effect::Deny), Err(Kind::Denied), 0),
    (Change::Rules(Effect::Ask), Ok(()), 1),
    (Change::Rules(Effect::Pass), Ok(()), 0),
    (Change::Hidden, Err(Kind::UnknownTarget), 0),
    (Change::Definition, Ok(()), 1),
];

#[track_caller]
fn check(scene: &Scene, driven: Driven, ends: Result<(), Kind>) {
    match ends {
        Ok(()) => drop(driven.complete()),
        Err(kind) => assert_eq!(driven.failed().kind(), kind),
    }
    assert_eq!(scene.source.calls(), usize::from(ends.is_ok()));
    assert_eq!(scene.approver().is_some(), ends.is_ok(), "what did not run was approved by nobody");
}

#[tokio::test(start_paused = true)]
async fn a_yes_at_the_client_to_what_changed_meanwhile_is_judged_again() {
    for (change, ends, more) in CASES {
        let scene = scene();
        let driven = scene.at_the_client(change).await;
        assert_eq!(driven.events.len(), more, "{:?}", driven.events);
        check(&scene, driven, ends);
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_in_the_inbox_to_what_changed_meanwhile_is_judged_again() {
    for (change, ends, more) in CASES {
        let scene = scene();
        let driven = scene.in_the_inbox(change).await;
        assert_eq!(scene.inbox.list().await.unwrap().len(), 1 + more);
        check(&scene, driven, ends);
    }
}

#[tokio::test]
async fn of_two_answers_neither_counts_under_rules_that_changed_between_them() {
    let (source, policy) = (Arc::new(FakeSource::new("a").echo("write")), Arc::new(Mutex::new("1")));
    let hub = builder([source.clone()])
        .gate(Box::new(Asking(policy.clone())))
        .gate(Box::new(FakeGate::asking("ok")))
        .build()
        .unwrap();
    let mut run = hub.start(call(client_legacy(), "write", json!({})));
    let Some(Event::Ask(ask)) = run.next().await else { panic!("nobody is asked") };
    *policy.lock().unwrap() = "2";
    let mut answers = toolgate_core::Answers::default();
    answers.insert("careful", Raw::literal(r#"{"action":"accept"}"#));
    ask.answer(Ok(answers));
    let yes = json!({"action": "accept"});
    let driven =
        drive(run, [("ok", yes.clone()), ("careful", json!({"action": "decline"})), ("ok", yes)]).await;
    assert_eq!(driven.events.len(), 2, "{:?}", driven.events);
    assert_eq!(driven.failed().kind(), Kind::Denied);
    assert_eq!(source.calls(), 0);
}

#[tokio::test]
async fn rules_that_change_with_every_answer_do_not_keep_a_call_forever() {
    let (source, policy) = (Arc::new(FakeSource::new("a").echo("write")), Arc::new(Mutex::new("1")));
    let hub = builder([source.clone()]).gate(Box::new(Asking(policy.clone()))).build().unwrap();
    let mut run = hub.start(call(client_legacy(), "write", json!({})));
    for version in ["2", "3", "4", "5", "6", "7", "8", "9"] {
        let Some(Event::Ask(ask)) = run.next().await else { panic!("nobody is asked") };
        *policy.lock().unwrap() = version;
        let mut answers = toolgate_core::Answers::default();
        answers.insert("careful", Raw::literal(r#"{"action":"accept"}"#));
        ask.answer(Ok(answers));
    }
    assert_eq!(drive(run, []).await.failed().kind(), Kind::NeedsApproval);
    assert_eq!(source.calls(), 0);
}

/// A gate whose rules are exchanged while it judges for the so-manieth time: then another of them asks.
struct Exchanged {
    at: usize,
    judged: AtomicUsize,
}

impl Exchanged {
    fn now(&self) -> (&'static str, &'static str) {
        if self.judged.load(Ordering::SeqCst) < self.at { ("1", "old") } else { ("2", "new") }
    }
}

impl Gate for Exchanged {
    fn name(&self) -> &'static str {
        "exchanged"
    }

    fn judge(&self, _: Judged<'_>) -> Judgement {
        let (_, rule) = self.now();
        self.judged.fetch_add(1, Ordering::SeqCst);
        approval(rule)
    }

    fn version(&self) -> Arc<str> {
        self.now().0.into()
    }
}

#[tokio::test]
async fn a_yes_to_rules_that_changed_while_they_were_judged_counts_for_nothing() {
    for at in 1..5 {
        let source = Arc::new(FakeSource::new("a").echo("write"));
        let gate = Exchanged { at, judged: AtomicUsize::new(0) };
        let hub = builder([source.clone()]).gate(Box::new(gate)).build().unwrap();
        let run = hub.start(call(client_legacy(), "write", json!({})));
        let yes = json!({"action": "accept"});
        let driven = drive(run, [("old", yes), ("new", json!({"action": "decline"}))]).await;
        let (is_over, asked) = (at > 3, driven.events.join("\n"));
        assert_eq!(asked.contains("ask new"), !is_over, "{at}: {asked}");
        assert_eq!(source.calls(), usize::from(is_over), "{at}: {asked}");
    }
}

#[tokio::test]
async fn a_yes_to_a_call_of_one_server_is_none_to_another_of_its_name() {
    for answer in ["accept", "decline"] {
        let server = || Arc::new(FakeSource::new("a").echo("write"));
        let (before, after) = (server(), server());
        let hub = builder([before.clone()]).gate(Box::new(FakeGate::asking("careful"))).build().unwrap();
        let mut run = hub.start(call(client_legacy(), "write", json!({})));
        let Some(Event::Ask(ask)) = run.next().await else { panic!("nobody is asked") };
        hub.set_sources(vec![after.clone()]);
        let mut answers = toolgate_core::Answers::default();
        answers.insert("careful", Raw::literal(r#"{"action":"accept"}"#));
        ask.answer(Ok(answers));
        let driven = drive(run, [("careful", json!({"action": answer}))]).await;
        assert_eq!(driven.events.len(), 1, "{:?}", driven.events);
        assert_eq!((before.calls(), after.calls()), (0, usize::from(answer == "accept")));
    }
}
