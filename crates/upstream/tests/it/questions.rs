//! Servers that ask: whom, by which way, and who shares a connection with whom.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgate_core::{
    Call, Capabilities, Change, Changes, Event, NewConnection, Notice, Principal, Source as _, Transport,
};
use toolgate_testkit::{Expect as _, call, client_legacy, client_modern, client_with, first_round, retry};
use toolgate_wire::{Era, Version};

use crate::rig::{BEYOND, PATIENCE, Rig, pass, text};

/// A question in the middle of a call reaches a client of either era.
#[tokio::test]
async fn a_legacy_server_asks_a_client_of_either_era() {
    let rig = Rig::fake("legacy");
    let answer = json!({"action": "accept", "content": {"n": 1}});
    let asked = rig.call(client_legacy(), "fake_ask", json!({"b": "Who?"}), Some(answer.clone())).await;
    assert!(asked.events[0].starts_with("ask question elicitation/create"), "{:?}", asked.events);
    assert_eq!(asked.complete()["structuredContent"], answer);

    let asking = || call(client_modern(), "fake_ask", json!({"b": "Who?"}));
    let (requests, state) = first_round(&rig.hub, asking()).await.asked();
    assert_eq!(requests["question"]["params"]["message"], "Who?");
    let again = rig.drive(retry(asking(), &state, json!({"question": answer})), None).await;
    assert_eq!(again.complete()["structuredContent"], answer);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_modern_server_asks_a_client_of_either_era() {
    let rig = Rig::fake("modern");
    rig.settled().await;
    let answer = json!({"action": "accept", "content": {"n": 1}});
    let run = rig.hub.start(call(client_legacy(), "fake_input", json!({"b": ""})));
    let asked = toolgate_testkit::drive(run, [("who", answer.clone())]).await;
    assert_eq!(asked.complete()["structuredContent"], json!({"who": answer}));

    let asking = || call(client_modern(), "fake_input", json!({"b": ""}));
    let (requests, state) = first_round(&rig.hub, asking()).await.asked();
    assert_eq!(requests["who"]["params"]["message"], "Who?");
    assert_ne!(state, "kept", "the state is sealed");
    let again = rig.drive(retry(asking(), &state, json!({"who": answer})), None).await;
    assert_eq!(again.complete()["structuredContent"], json!({"who": answer}));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_is_told_only_what_its_client_can_answer() {
    let rig = Rig::fake("legacy");
    let unable = client_with(Version::LATEST_LEGACY, Capabilities::default());
    let refused = rig.call(unable, "fake_ask", json!({"b": "Who?"}), None).await.complete();
    assert_eq!(refused["structuredContent"]["code"], -32601);
    let able = Capabilities { sampling: true, ..Capabilities::default() };
    let able = client_with(Version::LATEST_LEGACY, able);
    let sampled =
        rig.call(able, "fake_sample", json!({"b": ""}), Some(json!({"role": "assistant"}))).await.complete();
    assert!(text(&sampled).contains("assistant"), "{sampled}");
    assert_eq!(rig.status().connections, 2, "clients that can answer different things do not share");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn two_principals_never_see_each_others_questions() {
    let rig = Arc::new(Rig::fake("legacy"));
    rig.settled().await;
    let asking = |name: &'static str| {
        let rig = rig.clone();
        async move {
            let call = Call {
                principal: Principal::named(name),
                ..call(client_legacy(), "fake_ask", json!({"b": name}))
            };
            let answer = json!({"action": "accept", "content": {"who": name}});
            rig.drive(call, Some(answer)).await
        }
    };
    let (one, two) = tokio::join!(asking("ann"), asking("bob"));
    for (name, driven) in [("ann", one), ("bob", two)] {
        assert!(driven.events[0].contains(&format!(r#""message":"{name}""#)), "{:?}", driven.events);
        assert_eq!(driven.complete()["structuredContent"]["content"]["who"], name);
    }
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_question_amid_several_calls_is_declined_and_reported() {
    let rig = Arc::new(Rig::shaped("legacy", json!({"share": "all", "timeout": 60_000})));
    rig.settled().await;
    let hanging = rig.hub.start(call(client_legacy(), "fake_hang", json!({"b": ""})));
    rig.until("the first call is under way", |rig| rig.status().in_flight == 1).await;
    let asked = rig.call(client_legacy(), "fake_ask", json!({"b": "Who?"}), None).await;
    assert_eq!(asked.events, Vec::<String>::new());
    assert_eq!(asked.complete()["structuredContent"], json!({"action": "decline"}));
    assert!(rig.notes().contains(&"asked without saying for which call"), "{:?}", rig.notes());
    drop(hanging);
    rig.upstream.stop().await;
}

/// The server may ask for what nobody waits for any more, while another waits.
#[tokio::test]
async fn a_question_that_may_belong_to_a_call_given_up_is_declined_and_reported() {
    let rig = Rig::shaped("legacy", json!({"share": "all"}));
    rig.settled().await;
    let by = |name, tool| Call {
        principal: Principal::named(name),
        ..call(client_legacy(), tool, json!({"b": "Who?"}))
    };
    let answer = json!({"action": "accept", "content": {"n": 1}});
    let hanging = rig.hub.start(by("ann", "fake_hang"));
    rig.until("the server has the call", |rig| rig.count("hung") == 1).await;
    drop(hanging);
    rig.until("it is given up", |rig| rig.count("cancelled") == 1).await;
    let asked = rig.drive(by("bob", "fake_ask"), Some(answer.clone())).await;
    assert_eq!(asked.events, Vec::<String>::new());
    assert_eq!(asked.complete()["structuredContent"], json!({"action": "decline"}));
    assert!(rig.notes().contains(&"asked without saying for which call"), "{:?}", rig.notes());
    // The server does not answer what it was told to stop; after its time nobody expects that it is at it.
    pass(BEYOND).await;
    let asked = rig.drive(by("bob", "fake_ask"), Some(answer.clone())).await;
    assert_eq!(asked.complete()["structuredContent"], answer);
    rig.upstream.stop().await;
}

/// Nor does another get there by giving up more calls than are remembered.
#[tokio::test]
async fn a_question_of_a_call_given_up_reaches_nobody_who_gives_up_many() {
    let rig = Rig::shaped("legacy", json!({"share": "all"}));
    rig.settled().await;
    let by = |name, tool| Call {
        principal: Principal::named(name),
        ..call(client_legacy(), tool, json!({"b": "Who?"}))
    };
    let give_up = async |name, before: usize| {
        let hanging = rig.hub.start(by(name, "fake_hang"));
        rig.until("the server has the call", |rig| rig.count("hung") == before + 1).await;
        drop(hanging);
        rig.until("it is given up", |rig| rig.count("cancelled") == before + 1).await;
    };
    give_up("ann", 0).await;
    for before in 1..=64 {
        give_up("bob", before).await;
    }
    let asked = rig.drive(by("bob", "fake_ask"), Some(json!({"action": "accept"}))).await;
    assert_eq!(asked.events, Vec::<String>::new());
    assert_eq!(asked.complete()["structuredContent"], json!({"action": "decline"}));
    rig.upstream.stop().await;
}

/// Whoever gave a call up is still the one to be asked.
#[tokio::test]
async fn who_gave_a_call_up_is_asked_for_the_next() {
    let rig = Rig::shaped("legacy", json!({"share": "all"}));
    rig.settled().await;
    let connected = rig.hub.connect(NewConnection {
        transport: Transport::Stdio,
        principal: Principal::named("ann"),
        process: None,
    });
    let by = |tool| Call {
        principal: Principal::named("ann"),
        connection: Some(connected.id()),
        ..call(client_legacy(), tool, json!({"b": "Who?"}))
    };
    let hanging = rig.hub.start(by("fake_hang"));
    rig.until("the server has the call", |rig| rig.count("hung") == 1).await;
    drop(hanging);
    rig.until("it is given up", |rig| rig.count("cancelled") == 1).await;
    let answer = json!({"action": "accept", "content": {"n": 1}});
    let asked = rig.drive(by("fake_ask"), Some(answer.clone())).await;
    assert_eq!(asked.complete()["structuredContent"], answer);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_question_before_the_first_call_waits_for_it() {
    let rig = Rig::fake("legacy asks-roots");
    let answer = json!({"roots": [{"uri": "file:///x"}]});
    let driven = rig.call(client_legacy(), "fake_echo", json!({"b": ""}), Some(answer)).await;
    let asked: Vec<&String> = driven.events.iter().filter(|event| event.contains("roots/list")).collect();
    assert_eq!(asked.len(), 1, "{:?}", driven.events);
    driven.complete();
    rig.upstream.stop().await;
}

#[tokio::test]
async fn who_shares_a_connection_is_configured() {
    // Two principals, the first of them in two sessions.
    for (share, connections) in [("all", 1), ("principal", 2), ("session", 3)] {
        let rig = Rig::shaped("legacy", json!({"share": share}));
        rig.settled().await;
        let mut open = Vec::new();
        for name in ["ann", "ann", "bob"] {
            let principal = Principal::named(name);
            let new =
                NewConnection { transport: Transport::Stdio, principal: principal.clone(), process: None };
            let connected = rig.hub.connect(new);
            let connection = Some(connected.id());
            open.push(connected);
            let call = Call { principal, connection, ..call(client_legacy(), "fake_echo", json!({"b": ""})) };
            rig.drive(call, None).await.complete();
        }
        rig.until("the line it was learned by is gone", |rig| rig.status().connections == connections).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_server_learns_that_the_folders_of_its_client_changed() {
    let rig = Rig::fake("legacy");
    rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None).await.complete();
    rig.upstream.roots_changed();
    rig.until("the server knows", |rig| rig.count("roots") == 1).await;
    rig.upstream.stop().await;
}

/// Those of a client elsewhere are told by the connections that it has a part in.
#[tokio::test]
async fn a_server_learns_by_the_connection_of_a_client_that_its_folders_changed() {
    for (share, told) in [("all", 1), ("principal", 1), ("session", 1)] {
        let rig = Rig::shaped("legacy", json!({"share": share}));
        rig.settled().await;
        // Two principals, the first of them in two sessions.
        let mut open = Vec::new();
        for name in ["ann", "ann", "bob"] {
            let principal = Principal::named(name);
            let transport = Transport::Http;
            let connected =
                rig.hub.connect(NewConnection { transport, principal: principal.clone(), process: None });
            let connection = Some(connected.id());
            let echo = call(client_legacy(), "fake_echo", json!({"b": ""}));
            rig.drive(Call { principal, connection, ..echo }, None).await.complete();
            open.push(connected);
        }
        rig.hub.roots_changed_of(&Principal::named("ann"), open[0].id());
        rig.until("the server knows", |rig| rig.count("roots") == told).await;
        // Whoever else was told had heard of it by now.
        for (name, connected) in ["ann", "ann", "bob"].into_iter().zip(&open) {
            let (principal, connection) = (Principal::named(name), Some(connected.id()));
            let echo = call(client_legacy(), "fake_echo", json!({"b": ""}));
            rig.drive(Call { principal, connection, ..echo }, None).await.complete();
        }
        assert_eq!(rig.count("roots"), told, "{share}");
        rig.upstream.stop().await;
    }
}

fn connect(rig: &Rig) -> toolgate_core::Connected {
    let (transport, principal) = (Transport::Stdio, Principal::local());
    rig.hub.connect(NewConnection { transport, principal, process: None })
}

/// The next word for a client; none where something else is told first that comes after it.
async fn word(changes: &mut Changes) -> Arc<Notice> {
    let told = async {
        loop {
            if let Some(Change::Told(notice)) = changes.next().await {
                return notice;
            }
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("nothing is told")
}

/// What a server says between calls goes to the clients of whose connection it is, and to no others.
#[tokio::test]
async fn what_a_server_says_of_no_call_is_told_to_the_clients_of_the_one_whose_it_is() {
    for (share, hear) in [("principal", [true, true]), ("session", [true, false]), ("all", [false, false])] {
        let rig = Rig::shaped("legacy", json!({"share": share}));
        rig.settled().await;
        let [ann, bob] = ["ann", "bob"].map(Principal::named);
        let (mut anns, mut bobs) = (rig.hub.changes(&ann), rig.hub.changes(&bob));
        let mut open = Vec::new();
        for principal in [&ann, &ann, &bob] {
            let (transport, principal) = (Transport::Stdio, principal.clone());
            open.push(rig.hub.connect(NewConnection { transport, principal, process: None }));
        }
        let by = |principal: &Arc<Principal>, place: usize, tool, b| {
            let (principal, connection) = (principal.clone(), Some(open[place].id()));
            rig.drive(Call { principal, connection, ..call(client_legacy(), tool, json!({"b": b})) }, None)
        };
        for (principal, place) in [(&ann, 1), (&bob, 2)] {
            by(principal, place, "fake_echo", "").await.complete();
        }
        by(&ann, 0, "fake_log", "later").await.complete();
        let mut expected: Vec<_> =
            open.iter().zip(hear).filter(|(_, hears)| *hears).map(|(it, _)| it.id()).collect();
        expected.sort();
        for (method, params) in [
            ("notifications/message", r#"{"level":"warning","logger":"l","data":{"n":1.00}}"#),
            ("notifications/vendor/thing", r#"{"n":1.00}"#),
        ] {
            let mut told = Vec::new();
            for _ in &expected {
                let notice = word(&mut anns).await;
                assert_eq!((&*notice.method, notice.params.as_str()), (method, params), "{share}");
                told.push(notice.connection);
            }
            told.sort();
            assert_eq!(told, expected, "{share}");
        }
        for changes in [&mut anns, &mut bobs] {
            let quiet = tokio::time::timeout(Duration::from_millis(50), word(changes)).await;
            assert!(quiet.is_err(), "{share} {quiet:?}");
        }
        assert_eq!(rig.notes(), Vec::<&str>::new(), "{share}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn that_a_visit_is_over_is_told_after_the_call_to_the_client_that_was_asked() {
    let rig = Rig::fake("legacy");
    rig.settled().await;
    let (mut changes, connected) = (rig.hub.changes(&Principal::local()), connect(&rig));
    let answer = json!({"action": "accept"});
    let asking = |client| call(client, "fake_question", json!({"b": "url later"}));
    // Nobody can be told who has no connection, or whose revision has no word for it.
    rig.drive(asking(client_legacy()), Some(answer.clone())).await.complete();
    let old = client_with(Version::V2025_06_18, client_legacy().capabilities);
    let by_old = Call { connection: Some(connected.id()), ..asking(old) };
    rig.drive(by_old, Some(answer.clone())).await.complete();
    let mute = client_with(Version::LATEST_LEGACY, Capabilities::default());
    let left_to_it =
        Call { connection: Some(connected.id()), ..call(mute, "fake_visit", json!({"b": "before"})) };
    rig.drive(left_to_it, None).await.failed();
    let first = word(&mut changes).await;
    assert_eq!(first.params.as_str(), r#"{"elicitationId":"v-1"}"#, "it was left to its client");

    let asked = Call { connection: Some(connected.id()), ..asking(client_legacy()) };
    let driven = rig.drive(asked, Some(answer)).await;
    let notice = word(&mut changes).await;
    assert_eq!((&*notice.method, notice.connection), ("notifications/elicitation/complete", connected.id()));
    assert_eq!(notice.params.as_str(), r#"{"elicitationId":"e-1","x":1.00}"#);
    assert!(!driven.events.iter().any(|event| event.contains("complete")), "{:?}", driven.events);
    driven.complete();
    // What is said twice is told once.
    rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None).await.complete();
    let quiet = tokio::time::timeout(Duration::from_millis(50), word(&mut changes)).await;
    assert!(quiet.is_err(), "{quiet:?}");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_learns_at_once_that_nobody_will_answer() {
    let rig = Rig::fake("legacy");
    rig.settled().await;
    let answer = json!({"action": "accept", "content": {"n": 1}});
    for (abandoned, client) in [(1, client_legacy()), (2, client_modern())] {
        let connected = connect(&rig);
        let asking = Call {
            connection: Some(connected.id()),
            ..call(client.clone(), "fake_ask", json!({"b": "Who?"}))
        };
        // A legacy client cancels its call; a modern one goes away while its call is parked.
        let mut run = rig.hub.start(asking);
        let Some(Event::Ask(ask)) = run.next().await else { panic!("not asked") };
        if client.era() == Era::Modern {
            rig.hub.park(run, ask).asked();
            drop(connected);
        } else {
            drop(run);
        }
        rig.until("the server knows", |rig| rig.count("nobody-answers") == abandoned).await;
        // And its next question is the only one.
        let again = rig.call(client_legacy(), "fake_ask", json!({"b": "Who?"}), Some(answer.clone())).await;
        assert_eq!(again.complete()["structuredContent"], answer);
        assert_eq!(rig.notes(), Vec::<&str>::new());
    }
    rig.upstream.stop().await;
}
