//! What one caller can have kept: questions that wait, and answers that hold.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use toolgate_core::{
    ApprovalState, Approvals, Call, Capabilities, Collection, Decision, Exposition, Hub, Kind, Lasting,
    NewConnection, Principal, Remembered, Settings, Store, Transport, Write, Written,
};
use toolgate_host::Clock;
use toolgate_testkit::{
    Expect, FakeGate, FakeSource, MemoryStore, builder, call, client_legacy, client_with, drive,
};
use toolgate_wire::Version;

struct Scene {
    hub: Hub,
    inbox: Approvals,
    store: Arc<MemoryStore>,
    clock: Clock,
}

/// A hub with a rule that asks about everything, in the inbox; no call waits there for longer than this.
fn scene(approval_wait: Duration) -> Scene {
    let clock = Clock::manual(1_000_000);
    let store = Arc::new(MemoryStore::on(clock.clone()));
    let inbox = Approvals::new(store.clone(), clock.clone());
    let hub = builder([Arc::new(FakeSource::new("a").echo("write"))])
        .gate(Box::new(FakeGate::asking("ok")))
        .approvals(inbox.clone())
        .clock(clock.clone())
        .settings(Settings { approval_wait, ..Settings::default() })
        .build()
        .unwrap();
    Scene { hub, inbox, store, clock }
}

fn write(n: u64) -> Call {
    call(client_with(Version::LATEST_LEGACY, Capabilities::default()), "write", json!({"n": n}))
}

impl Scene {
    async fn refused(&self, call: Call) -> toolgate_core::Error {
        drive(self.hub.start(call), []).await.failed()
    }

    async fn pending(&self) -> Vec<String> {
        let all = self.inbox.list().await.unwrap();
        all.into_iter().filter(|asked| asked.state == ApprovalState::Pending).map(|asked| asked.id).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn one_caller_cannot_fill_the_inbox() {
    let scene = scene(Duration::from_secs(1));
    let errors = join_all((0..120).map(|n| scene.refused(write(n)))).await;
    assert!(errors.iter().all(|error| error.kind() == Kind::NeedsApproval));
    let too_many = "too many of your calls wait for an answer";
    let refused: Vec<usize> = (0..120).filter(|n| errors[*n].message() == too_many).collect();
    assert_eq!((scene.pending().await.len(), refused.len()), (100, 20));
    let counted = scene.hub.scrape(Exposition::Plain);
    assert!(counted.lines().any(|line| line == "toolgate_approvals_asked_total 100"), "{counted}");
    assert!(errors[refused[0]].next_step().unwrap().contains("toolgate approvals list"));
    // What waits already waits on, and others are not in the way of it.
    let waiting = (0..120).find(|n| !refused.contains(n)).unwrap() as u64;
    assert_ne!(scene.refused(write(waiting)).await.message(), too_many);
    let mut other = write(1000);
    other.principal = Principal::named("mallory");
    assert_ne!(scene.refused(other).await.message(), too_many);
    // An answer makes room for one.
    let id = scene.pending().await[0].clone();
    scene.inbox.decide(&id, &Decision::Reject(None), "ops").await.unwrap();
    assert_ne!(scene.refused(write(1001)).await.message(), too_many);
    assert_eq!(scene.refused(write(1002)).await.message(), too_many);
}

#[tokio::test(start_paused = true)]
async fn of_too_many_answers_that_hold_the_oldest_of_the_same_caller_goes() {
    let scene = scene(Duration::ZERO);
    let remembered = |n: u64, principal: &str| Remembered {
        id: format!("{principal}{n}"),
        principal: principal.into(),
        target: format!("resource:x:{n}"),
        rule: "ok".into(),
        session: None,
        by: "ops".into(),
        at_ms: n,
    };
    let old = (0..1000).map(|n| remembered(n + 1, "local")).chain([remembered(0, "other")]);
    for kept in old {
        let insert = Write::Insert {
            collection: Collection::Remembered,
            id: kept.id.clone(),
            body: serde_json::to_string(&kept).unwrap(),
            expires_ms: None,
        };
        assert_eq!(scene.store.write(vec![insert]).await.unwrap(), Written::Done);
    }
    let always = json!({"action": "accept", "content": {"allow": "always"}});
    let run = scene.hub.start(call(client_legacy(), "write", json!({})));
    drive(run, [("ok", always)]).await.complete();
    let kept = scene.inbox.remembered().await.unwrap();
    let ids: Vec<&str> = kept.iter().map(|kept| &*kept.id).collect();
    assert_eq!((ids.len(), &ids[..2]), (1001, ["other0", "local2"].as_slice()));
    assert_eq!(kept.last().unwrap().target, "tool:write");
}

#[tokio::test(start_paused = true)]
async fn who_waits_does_not_look_again_for_each_question_of_others() {
    let scene = scene(Duration::from_secs(45));
    let others = async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        for n in 0..1000 {
            let insert = Write::Insert {
                collection: Collection::Approvals,
                id: format!("other{n}"),
                body: "{}".into(),
                expires_ms: None,
            };
            assert_eq!(scene.store.write(vec![insert]).await.unwrap(), Written::Done);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        scene.store.reads()
    };
    let (_, reads) = tokio::join!(scene.refused(write(1)), others);
    assert!(reads < 20, "{reads}");
}

#[tokio::test(start_paused = true)]
async fn a_yes_for_a_connection_is_for_the_one_that_asked_last() {
    let scene = scene(Duration::ZERO);
    let connect = || {
        let principal = Principal::local();
        scene.hub.connect(NewConnection { transport: Transport::Stdio, principal, process: None })
    };
    let (gone, here) = (connect(), connect());
    let on = |connection, n| Call { connection: Some(connection), ..write(n) };
    scene.refused(on(gone.id(), 1)).await;
    let first = scene.inbox.list().await.unwrap().remove(0);
    scene.clock.advance(Duration::from_secs(60));
    scene.refused(on(here.id(), 1)).await;
    let second = scene.inbox.list().await.unwrap().remove(0);
    assert_eq!((&second.id, second.expires_ms), (&first.id, first.expires_ms), "it lives no longer for that");
    scene.inbox.decide(&second.id, &Decision::Approve(Lasting::Session), "ops").await.unwrap();
    assert_eq!(scene.refused(on(gone.id(), 2)).await.kind(), Kind::NeedsApproval);
    drive(scene.hub.start(on(here.id(), 2)), []).await.complete();
}
