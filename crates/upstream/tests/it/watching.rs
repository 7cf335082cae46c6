//! What belongs to a client's connection ends with it: what it watches, and what only it uses.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::{
    Call, Capabilities, Client, Connected, Kind, NewConnection, Outcome, Principal, Target, Transport,
};
use toolgate_testkit::{Driven, Expect as _, call, client_legacy, client_with, drive};
use toolgate_wire::{Raw, Version};

use crate::rig::{PATIENCE, Rig, pass, with};
use crate::web::Web;

fn connect(rig: &Rig) -> Connected {
    let principal = Principal::local();
    rig.hub.connect(NewConnection { transport: Transport::Http, principal, process: None })
}

fn watching(by: &Connected, on: bool) -> Call {
    let target = if on { Target::Subscribe } else { Target::Unsubscribe };
    let params = Raw::of(&json!({"uri": "fake://one"}));
    let mut call = Call::new(Principal::local(), client_legacy(), target("fake://one".into()), params);
    call.connection = Some(by.id());
    call
}

async fn watch(rig: &Rig, by: &Connected, on: bool) {
    rig.drive(watching(by, on), None).await.complete();
}

async fn echo(rig: &Rig, by: &Connected) -> Driven {
    echo_from(client_legacy(), rig, by).await
}

async fn echo_from(client: Arc<Client>, rig: &Rig, by: &Connected) -> Driven {
    let mut call = call(client, "fake_echo", json!({"b": "x"}));
    call.connection = Some(by.id());
    rig.drive(call, None).await
}

#[tokio::test]
async fn what_a_client_watches_is_let_go_of_when_it_leaves() {
    for (era, watched, unwatched) in
        [("legacy", "subscribed", "unsubscribed"), ("modern", "watches-1", "watches-0")]
    {
        let rig = Rig::fake(era);
        rig.settled().await;
        let [one, other] = [connect(&rig), connect(&rig)];
        // One that says it twice, and one that says it never, count as they should.
        for by in [&one, &one, &other] {
            watch(&rig, by, true).await;
        }
        rig.until("it is watched", |rig| rig.count(watched) == 1).await;
        let before = rig.count(unwatched);
        watch(&rig, &connect(&rig), false).await;
        drop(one);
        echo(&rig, &other).await.complete();
        assert_eq!((rig.count(watched), rig.count(unwatched)), (1, before), "{era}: one still watches");
        drop(other);
        rig.until("it is not watched any more", |rig| rig.count(unwatched) == before + 1).await;
        // It can be watched again.
        let again = connect(&rig);
        watch(&rig, &again, true).await;
        rig.until("it is watched again", |rig| rig.count(watched) >= 2).await;
        watch(&rig, &again, false).await;
        rig.until("it is let go", |rig| rig.count(unwatched) == before + 2).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn whoever_comes_while_another_is_refused_asks_for_itself() {
    let rig = Rig::fake("legacy refuses-first");
    rig.settled().await;
    let [one, other] = [connect(&rig), connect(&rig)];
    let first = rig.hub.start(watching(&one, true));
    rig.until("the server is asked", |rig| rig.count("asked-to-watch") == 1).await;
    let second = rig.hub.start(watching(&other, true));
    // It has some turns to come as far as it can.
    pass(0).await;
    std::fs::write(rig.place.path().join("go"), "").unwrap();
    drive(first, []).await.failed();
    drive(second, []).await.complete();
    // It does one thing after the other.
    echo(&rig, &other).await.complete();
    assert_eq!(rig.count("subscribed"), 1);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_program_of_one_client_ends_with_it() {
    // One that can be asked nothing may get the program by which the server was learned.
    for client in [client_legacy(), client_with(Version::LATEST_LEGACY, Capabilities::default())] {
        let rig = Rig::shaped("legacy", json!({"share": "session"}));
        let [one, other] = [connect(&rig), connect(&rig)];
        echo_from(client.clone(), &rig, &one).await.complete();
        echo_from(client.clone(), &rig, &other).await.complete();
        rig.until("each has one", |rig| rig.status().processes.len() == 2).await;
        drop(one);
        rig.until("one is left", |rig| rig.status().processes.len() == 1).await;
        echo_from(client, &rig, &other).await.complete();
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn clients_for_whom_there_is_no_room_harm_nobody_else() {
    let web = Web::start("legacy").await;
    let table = with(web.table(), json!({"share": "session"}));
    let rig = Rig::of(table, Arc::new(tempfile::tempdir().unwrap()), None);
    let mut all: Vec<Connected> = Vec::new();
    let error = loop {
        let next = connect(&rig);
        let driven = echo(&rig, &next).await;
        all.push(next);
        if let Outcome::Failed(error) = driven.outcome {
            break error;
        }
        assert!(all.len() <= 256, "there is room without end");
    };
    assert_eq!(
        (error.kind(), error.message(), error.next_step()),
        (
            Kind::ConnectionFailed,
            "`fake` has 256 connections already",
            Some("share connections with `mcp.fake.share = \"all\"`")
        )
    );
    let late = all.pop().unwrap();
    for _ in 0..10 {
        echo(&rig, &late).await.failed();
    }
    echo(&rig, &all[0]).await.complete();
    // Whoever leaves makes room, once the server was told good-bye.
    drop(all.pop());
    let limit = tokio::time::Instant::now() + PATIENCE;
    while matches!(echo(&rig, &late).await.outcome, Outcome::Failed(_)) {
        assert!(tokio::time::Instant::now() < limit, "there is never room");
    }
    rig.upstream.stop().await;
}
