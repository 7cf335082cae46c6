//! What clients watch is watched on, whatever becomes of the connection to the server, for as long as they stay.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::{
    Call, Change, Changes, Connected, ListKind, NewConnection, Principal, Target, Transport,
};
use toolgate_testkit::{Expect as _, client_legacy, drive};
use toolgate_wire::Raw;

use crate::rig::{PATIENCE, Rig, fake, with};

/// How the fake server of each era says that it was told of one that is watched.
const ERAS: [(&str, &str); 2] = [("legacy", "subscribed"), ("modern", "watches-1")];

fn connect(rig: &Rig, who: &'static str) -> Connected {
    let (transport, principal) = (Transport::Http, Principal::named(who));
    rig.hub.connect(NewConnection { transport, principal, process: None })
}

fn watching(by: &Connected, who: &'static str, target: Target) -> Call {
    let params = Raw::of(&json!({"uri": target.name()}));
    let call = Call::new(Principal::named(who), client_legacy(), target, params);
    Call { connection: Some(by.id()), ..call }
}

async fn watch(rig: &Rig, by: &Connected, who: &'static str, uri: &str) {
    rig.drive(watching(by, who, Target::Subscribe(uri.into())), None).await.complete();
}

/// A client that watches the resource, which the server was told.
async fn watcher(rig: &Rig, told: &str) -> Connected {
    rig.settled().await;
    let client = connect(rig, "ann");
    watch(rig, &client, "ann", "fake://one").await;
    rig.until("it is watched", |rig| rig.count(told) == 1).await;
    client
}

/// The next resource of which it is told that it has changed, or may have.
async fn next_updated(changes: &mut Changes) -> String {
    let told = async {
        loop {
            if let Some(Change::Updated(update)) = changes.next().await {
                return update.uri.to_string();
            }
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("no change is told")
}

/// Waits until it is told that the resource has changed, or may have.
async fn updated(changes: &mut Changes) {
    assert_eq!(next_updated(changes).await, "fake://one");
}

async fn switch_off(rig: &Rig) {
    rig.upstream.set_enabled(false);
    rig.until("it is off", |rig| rig.status().processes.is_empty()).await;
    offers(rig, false).await;
}

async fn switch_on(rig: &Rig) {
    rig.upstream.set_enabled(true);
    offers(rig, true).await;
}

/// Waits until the hub has the resources of the server, or has them no more.
async fn offers(rig: &Rig, on: bool) {
    let so = async {
        while rig.names(ListKind::Resources).await.is_empty() == on {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, so).await.expect("the hub never knows");
}

/// Has the server do one more thing, after all that it was told before.
async fn echo(rig: &Rig, by: &Connected, who: &'static str) {
    let call = toolgate_testkit::call(client_legacy(), "fake_echo", json!({"b": "x"}));
    let call = Call { principal: Principal::named(who), connection: Some(by.id()), ..call };
    rig.drive(call, None).await.complete();
}

#[tokio::test]
async fn what_is_watched_is_watched_again_when_a_server_is_switched_on_again() {
    for (era, told) in ERAS {
        let rig = Rig::fake(era);
        let _client = watcher(&rig, told).await;
        switch_off(&rig).await;
        let mut changes = rig.hub.changes(&Principal::named("ann"));
        // Nobody calls it: it is started for who waits for a word of it.
        rig.upstream.set_enabled(true);
        rig.until("it is watched again", |rig| rig.count(told) == 2).await;
        updated(&mut changes).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn what_may_have_changed_while_a_server_could_not_say_so_is_told() {
    for (era, told) in ERAS {
        let rig = Rig::fake(&format!("{era} tells-nothing"));
        let _client = watcher(&rig, told).await;
        switch_off(&rig).await;
        let mut changes = rig.hub.changes(&Principal::named("ann"));
        rig.upstream.set_enabled(true);
        updated(&mut changes).await;
        rig.until("it is watched again", |rig| rig.count(told) == 2).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn what_a_modern_server_is_listened_to_for_later_may_have_changed_until_it_agrees() {
    let rig = Rig::fake("modern tells-nothing slow-to-agree");
    let mut changes = rig.hub.changes(&Principal::named("ann"));
    let client = watcher(&rig, "watches-1").await;
    updated(&mut changes).await;
    // What it was asked before anybody watched is given up by then.
    echo(&rig, &client, "ann").await;
    let given_up = rig.count("cancelled");
    watch(&rig, &client, "ann", "fake://t/1").await;
    rig.until("it is asked for both", |rig| rig.count("asked-for-2") == 1).await;
    assert_eq!(rig.count("cancelled"), given_up, "until it agrees it is listened to as before");
    std::fs::write(rig.place.path().join("go"), "").unwrap();
    assert_eq!(next_updated(&mut changes).await, "fake://t/1");
    rig.until("only the last counts", |rig| rig.count("cancelled") == given_up + 1).await;
    watch(&rig, &client, "ann", "fake://t/2").await;
    assert_eq!(next_updated(&mut changes).await, "fake://t/2", "the others were heard all the while");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn what_is_watched_while_a_modern_server_does_not_listen_may_have_changed() {
    let rig = Rig::fake("modern tells-nothing refuses-to-listen");
    rig.settled().await;
    let client = connect(&rig, "ann");
    watch(&rig, &client, "ann", "fake://one").await;
    let mut changes = rig.hub.changes(&Principal::named("ann"));
    let refused = rig.count("refused-to-listen");
    rig.until("it refuses again", |rig| rig.count("refused-to-listen") > refused).await;
    std::fs::write(rig.place.path().join("well"), "").unwrap();
    watch(&rig, &client, "ann", "fake://t/1").await;
    let told = [next_updated(&mut changes).await, next_updated(&mut changes).await];
    assert_eq!(told, ["fake://one", "fake://t/1"]);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn what_is_watched_is_watched_again_when_the_table_of_a_server_changes() {
    for (era, told) in ERAS {
        for more in
            [json!({}), json!({"share": "session"}), json!({"share": "all"}), json!({"start": "eager"})]
        {
            let mut rig = Rig::fake(era);
            let _client = watcher(&rig, told).await;
            let mut changes = rig.hub.changes(&Principal::named("ann"));
            let table = with(fake(era, rig.place.path()), with(more, json!({"timeout": 61_000})));
            rig.replace(table, None);
            rig.until("it is watched again", |rig| rig.count(told) == 2).await;
            updated(&mut changes).await;
            rig.upstream.stop().await;
        }
    }
}

#[tokio::test]
async fn a_server_whose_definitions_are_kept_is_started_for_who_watches_it() {
    for (era, told) in ERAS {
        let mut rig = Rig::fake(era);
        let _client = watcher(&rig, told).await;
        let kept = rig.upstream.learned().borrow().clone().unwrap();
        rig.replace(fake(era, rig.place.path()), Some((*kept).clone()));
        rig.until("it is watched again", |rig| rig.count(told) == 2).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn what_is_watched_survives_a_server_that_speaks_another_era() {
    for ((before, watched), (after, again)) in [(ERAS[0], ERAS[1]), (ERAS[1], ERAS[0])] {
        let mut rig = Rig::fake(before);
        let _client = watcher(&rig, watched).await;
        rig.replace(fake(after, rig.place.path()), None);
        rig.until("it is watched again", |rig| rig.count(again) == 1).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_table_that_changes_twice_in_a_row_loses_nothing() {
    for (era, told) in ERAS {
        let mut rig = Rig::fake(era);
        let client = watcher(&rig, told).await;
        let table = |timeout: u64| with(fake(era, rig.place.path()), json!({"timeout": timeout}));
        let tables: [Value; 2] = [61_000, 62_000].map(table);
        for table in tables {
            rig.replace(table, None);
        }
        let mut changes = rig.hub.changes(&Principal::named("ann"));
        rig.until("it is watched again", |rig| rig.count(told) >= 2).await;
        updated(&mut changes).await;
        // Only the last one watches; it is let go of there.
        let let_go = if era == "legacy" { "unsubscribed" } else { "watches-0" };
        let before = rig.count(let_go);
        drop(client);
        rig.until("it is let go", |rig| rig.count(let_go) > before).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn who_left_or_unsubscribed_meanwhile_is_forgotten() {
    let mut rig = Rig::fake("legacy");
    let [gone, stays] = [watcher(&rig, "subscribed").await, connect(&rig, "ann")];
    for uri in ["fake://t/1", "fake://t/2", "fake://t/3"] {
        watch(&rig, &stays, "ann", uri).await;
    }
    switch_off(&rig).await;
    drop(gone);
    rig.hub.let_go(stays.id(), "fake://t/1");
    switch_on(&rig).await;
    rig.until("the rest is watched again", |rig| rig.count("subscribed") == 4 + 2).await;
    echo(&rig, &stays, "ann").await;
    assert_eq!((rig.count("subscribed"), rig.count("unsubscribed")), (4 + 2, 0));

    rig.drive(watching(&stays, "ann", Target::Unsubscribe("fake://t/2".into())), None).await.complete();
    rig.until("it is let go", |rig| rig.count("unsubscribed") == 1).await;
    rig.replace(fake("legacy", rig.place.path()), None);
    rig.until("the last one is watched again", |rig| rig.count("subscribed") == 4 + 2 + 1).await;
    echo(&rig, &stays, "ann").await;
    assert_eq!(rig.count("subscribed"), 4 + 2 + 1);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn what_principals_watch_is_watched_again_on_the_connection_of_each() {
    let rig = Rig::fake("legacy");
    rig.settled().await;
    let [ann, ben] = [connect(&rig, "ann"), connect(&rig, "ben")];
    watch(&rig, &ann, "ann", "fake://one").await;
    watch(&rig, &ben, "ben", "fake://one").await;
    rig.until("each watches", |rig| rig.count("subscribed") == 2).await;
    switch_off(&rig).await;
    switch_on(&rig).await;
    rig.until("each watches again", |rig| rig.count("subscribed") == 4).await;
    // Each lets go by itself.
    drop(ann);
    rig.until("one lets go", |rig| rig.count("unsubscribed") == 1).await;
    echo(&rig, &ben, "ben").await;
    assert_eq!(rig.count("unsubscribed"), 1);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_has_a_watched_resource_no_more_is_used_as_before() {
    let rig = Rig::fake("legacy forgets");
    let client = watcher(&rig, "subscribed").await;
    switch_off(&rig).await;
    std::fs::write(rig.place.path().join("forgotten"), "").unwrap();
    switch_on(&rig).await;
    rig.until("it refuses", |rig| rig.count("refused") == 1).await;
    echo(&rig, &client, "ann").await;
    rig.until("that is noted", |rig| rig.notes().contains(&"does not let a resource be watched again")).await;
    // Who asks anew learns what the server says to it, and once the server has it again, may watch it.
    let ask = || rig.drive(watching(&client, "ann", Target::Subscribe("fake://one".into())), None);
    ask().await.failed();
    assert_eq!(rig.count("refused"), 2);
    std::fs::remove_file(rig.place.path().join("forgotten")).unwrap();
    ask().await.complete();
    echo(&rig, &client, "ann").await;
    assert_eq!((rig.count("subscribed"), rig.count("refused")), (2, 2));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn whoever_is_refused_because_the_server_is_switched_off_does_not_watch() {
    let rig = Rig::fake("legacy refuses-first");
    rig.settled().await;
    let client = connect(&rig, "ann");
    let asking = rig.hub.start(watching(&client, "ann", Target::Subscribe("fake://one".into())));
    rig.until("the server is asked", |rig| rig.count("asked-to-watch") == 1).await;
    switch_off(&rig).await;
    drive(asking, []).await.failed();
    switch_on(&rig).await;
    watch(&rig, &client, "ann", "fake://t/1").await;
    echo(&rig, &client, "ann").await;
    assert_eq!((rig.count("asked-to-watch"), rig.count("subscribed")), (2, 1));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_flood_of_changes_reaches_nobody_but_who_watches_them() {
    let rig = Rig::fake("legacy");
    let client = watcher(&rig, "subscribed").await;
    let mut changes = rig.hub.changes(&Principal::named("ann"));
    let call = toolgate_testkit::call(client_legacy(), "fake_flood", json!({"b": "updates"}));
    let call = Call { principal: Principal::named("ann"), connection: Some(client.id()), ..call };
    rig.drive(call, None).await.complete();
    // The last of them comes when the others are over.
    let (mut told, second) = (0, Duration::from_secs(1));
    while let Ok(change) = tokio::time::timeout(2 * second, changes.next()).await {
        match change {
            Some(Change::Updated(update)) => {
                assert_eq!(&*update.uri, "fake://one");
                told += 1;
            }
            Some(Change::Listed(..) | Change::Task(_) | Change::Told(_)) => {}
            _ => panic!("all that anybody watches has to be looked at"),
        }
    }
    assert!((1..200).contains(&told), "told {told} times");
    rig.upstream.stop().await;
}
