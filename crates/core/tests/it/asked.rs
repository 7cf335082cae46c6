//! What is done for a question to a person, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use toolgate_core::{Approvals, Call, Decision, Filter, Hub, Lasting, Outcome};
use toolgate_host::Clock;
use toolgate_testkit::{Expect, FakeGate, FakeSource, MemoryStore, builder, call, drive, text};
use toolgate_wire::Raw;

/// Counts how often arguments are looked at, which is done only for who is asked.
struct Counting(Arc<AtomicUsize>);

impl Filter for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn json(&self, raw: Raw) -> Raw {
        self.0.fetch_add(usize::from(raw.as_str().starts_with(r#"{"written":"#)), Ordering::SeqCst);
        raw
    }

    fn text(&self, _: &str) -> Option<String> {
        None
    }
}

fn writes(n: usize) -> Call {
    call(toolgate_core::local_client(), "write", json!({"written": "x".repeat(n)}))
}

#[tokio::test(start_paused = true)]
async fn arguments_are_put_down_for_a_question_and_not_for_what_was_answered_before() {
    let looked = Arc::new(AtomicUsize::new(0));
    let source = FakeSource::new("a").tool("write", |_, _| async { Ok(Outcome::Complete(text("done"))) });
    let inbox = Approvals::new(Arc::new(MemoryStore::new()), Clock::system());
    let hub: Hub = builder([Arc::new(source)])
        .filter(Box::new(Counting(looked.clone())))
        .gate(Box::new(FakeGate::asking("ok")))
        .approvals(inbox.clone())
        .build()
        .unwrap();
    let times = || looked.swap(0, Ordering::SeqCst);
    let waiting = || async { inbox.list().await.unwrap().pop().unwrap().id };

    drive(hub.start(writes(1)), []).await.failed();
    assert_eq!(times(), 1, "it is asked about");
    inbox.decide(&waiting().await, &Decision::Approve(Lasting::Once), "ops").await.unwrap();
    drive(hub.start(writes(1)), []).await.complete();
    assert_eq!(times(), 0, "someone said yes to it meanwhile");

    drive(hub.start(writes(1)), []).await.failed();
    assert_eq!(times(), 1, "it is asked about again");
    inbox.decide(&waiting().await, &Decision::Approve(Lasting::Always), "ops").await.unwrap();
    for n in 1..4 {
        drive(hub.start(writes(n)), []).await.complete();
    }
    assert_eq!(times(), 0, "it is always allowed");
}
