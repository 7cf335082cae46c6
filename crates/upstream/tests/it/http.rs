//! Servers over HTTP: of either era, with sessions that end, streams that break off, and answers that are wrong.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;
use toolgate_core::{Event, Kind, ListKind, Outcome, Target};
use toolgate_testkit::{Expect as _, call, client_legacy, client_modern, drive};
use toolgate_upstream::State;
use toolgate_wire::Raw;

use crate::fake::GOLDEN;
use crate::rig::{PATIENCE, Rig, pass, trial, with};
use crate::web::Web;
use crate::web::wire::{Asked, Reply, whole};

async fn rig(behaviour: &str) -> (Web, Rig) {
    let web = Web::start(behaviour).await;
    let rig = Rig::of(web.table(), Arc::new(tempfile::tempdir().unwrap()), None);
    rig.settled().await;
    (web, rig)
}

/// The same with someone at its door.
async fn behind(
    behaviour: &str,
    door: impl Fn(&Asked) -> Option<Reply> + Send + Sync + 'static,
) -> (Web, Rig) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let web = Web::serve(listener, behaviour, Some(Box::new(door)));
    let rig = Rig::of(web.table(), Arc::new(tempfile::tempdir().unwrap()), None);
    rig.settled().await;
    (web, rig)
}

#[tokio::test]
async fn servers_of_either_era_and_of_the_oldest_kind_are_listed_and_called() {
    for (behaviour, era, transport, tools) in [
        ("legacy", "legacy", "http", 8),
        ("plain", "legacy", "http", 8),
        ("oldest", "legacy", "sse", 8),
        // One tool says in no usable way which headers it needs.
        ("modern", "modern", "http", 7),
    ] {
        let (_web, rig) = rig(behaviour).await;
        let status = rig.status();
        assert_eq!(
            (status.era.as_deref(), &*status.transport, status.tools),
            (Some(era), transport, tools),
            "{behaviour} {status:?}"
        );
        for client in [client_legacy(), client_modern()] {
            let result = rig.call(client.clone(), "fake_echo", json!({"b": "x"}), None).await.complete();
            assert_eq!(result["structuredContent"]["arguments"], json!({"b": "x"}), "{behaviour}");
            let Outcome::Complete(raw) = rig.call(client, "fake_golden", json!({}), None).await.outcome
            else {
                panic!("not complete");
            };
            let sent = if behaviour == "modern" { GOLDEN.to_owned() } else { GOLDEN.replace('\n', " ") };
            assert_eq!(raw.as_str(), sent, "{behaviour}");
        }
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn headers_repeat_what_the_modern_era_wants_repeated() {
    let (_web, rig) = rig("modern").await;
    for region in ["eu", "süd", " x"] {
        let result =
            rig.call(client_legacy(), "fake_headed", json!({"region": region}), None).await.complete();
        assert_eq!(result["structuredContent"]["arguments"]["region"], region);
    }
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_forgotten_session_heals_without_a_failed_call() {
    for behaviour in ["legacy", "legacy says-400"] {
        let (web, rig) = rig(behaviour).await;
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        let before = (web.seen.initialized.load(Ordering::SeqCst), web.seen.calls.load(Ordering::SeqCst));
        web.seen.forget();
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        let after = (web.seen.initialized.load(Ordering::SeqCst), web.seen.calls.load(Ordering::SeqCst));
        assert_eq!(after, (before.0 + 1, before.1 + 1), "{behaviour}");
        rig.upstream.stop().await;
        rig.until("it was told good-bye", |_| web.seen.deleted.load(Ordering::SeqCst) > 0).await;
    }
}

#[tokio::test]
async fn a_server_that_is_started_anew_is_found_again() {
    for behaviour in ["legacy", "modern", "oldest"] {
        let (web, rig) = rig(behaviour).await;
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        let address = web.stop().await;
        if behaviour == "oldest" {
            // A call just before the stream ends may have been heard, and would not be repeated.
            rig.until("the end of the stream is seen", |rig| rig.status().lost == 1).await;
        }
        // The call comes while nobody is there; nothing of it left, so it goes on when somebody is.
        let back = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Web::start_at(behaviour, &address).await
        };
        let call = rig.call(client_legacy(), "fake_echo", json!({"b": "y"}), None);
        let (driven, _web) = tokio::join!(call, back);
        assert_eq!(driven.complete()["structuredContent"]["arguments"]["b"], "y", "{behaviour}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_silent_server_is_waited_for_only_so_long() {
    for behaviour in ["legacy", "modern", "oldest"] {
        let (web, rig) = rig(behaviour).await;
        let hang = call(client_legacy(), "fake_hang", json!({}));
        let error = rig.late(hang, |_| web.seen.calls.load(Ordering::SeqCst) > 0).await.failed();
        assert_eq!(error.kind(), Kind::Timeout, "{behaviour}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn connections_are_used_again() {
    for behaviour in ["legacy", "modern", "plain"] {
        let (web, rig) = rig(behaviour).await;
        for _ in 0..20 {
            rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        }
        let connections = web.seen.connections.load(Ordering::SeqCst);
        assert!(connections < 12, "{behaviour}: {connections} connections for 20 calls");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_method_that_fits_no_header_harms_only_its_call() {
    let (_web, rig) = rig("modern").await;
    let target = Target::Method("odd\nname".into());
    let error = rig.send(client_legacy(), target, json!({"name": "fake_echo"})).await.failed();
    assert!(error.message().contains("cannot be sent as a header"), "{error}");
    assert!(rig.status().state == State::Connected, "{:?}", rig.status());
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_has_moved_within_itself_is_followed() {
    let moved = |asked: &Asked| {
        (asked.path == "/mcp").then(|| whole(308, "text/plain", "").with("Location", "/moved"))
    };
    let (_web, rig) = behind("plain", moved).await;
    let result = rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
    assert_eq!(result["structuredContent"]["arguments"], json!({"b": "x"}));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_question_on_the_stream_of_a_call_is_that_calls() {
    let (_web, rig) = rig("legacy").await;
    let hanging = rig.hub.start(call(client_legacy(), "fake_hang", json!({})));
    rig.until("another call is under way", |rig| rig.status().in_flight == 1).await;
    let answer = json!({"action": "accept"});
    let driven = rig.call(client_legacy(), "fake_ask", json!({}), Some(answer.clone())).await;
    assert_eq!(driven.complete()["structuredContent"], answer);
    drop(hanging);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn what_a_server_says_by_itself_is_heard() {
    for behaviour in ["legacy", "modern", "oldest"] {
        let (web, rig) = rig(behaviour).await;
        rig.until("it is listened to", |_| web.seen.listeners() > 0).await;
        let before = web.seen.lists.load(Ordering::SeqCst);
        rig.call(client_legacy(), "fake_change", json!({}), None).await.complete();
        rig.until("it is listed again", |_| web.seen.lists.load(Ordering::SeqCst) > before).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn giving_up_closes_the_stream_of_a_modern_call() {
    let (web, rig) = rig("modern").await;
    let run = rig.hub.start(call(client_legacy(), "fake_hang", json!({})));
    rig.until("the call is under way", |_| web.seen.calls.load(Ordering::SeqCst) > 0).await;
    drop(run);
    rig.until("the server knows", |_| web.seen.closed.load(Ordering::SeqCst) == 1).await;
    rig.upstream.stop().await;
}

/// The answer is here when its call is given up, and nobody has looked at it.
#[tokio::test]
async fn a_task_that_nobody_wants_is_cancelled_with_the_headers_of_a_request() {
    let (web, rig) = rig("modern").await;
    let mut run = rig.hub.start(call(client_legacy(), "fake_echo", json!({"b": "talkative task"})));
    let said = tokio::time::timeout(PATIENCE, run.next()).await.expect("nothing is said");
    assert!(matches!(said, Some(Event::Log(_))), "{said:?}");
    // While its end is there the call waits for it to be read, and not for the answer.
    run.cancel();
    let cancelled = || web.seen.cancelled.load(Ordering::SeqCst);
    let refused = |rig: &Rig| rig.notes().contains(&"does not take what it is sent");
    rig.until("the server is told", |rig| cancelled() == 1 || refused(rig)).await;
    assert!(!refused(&rig));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn progress_comes_on_the_stream_of_the_answer() {
    for behaviour in ["legacy", "modern", "oldest"] {
        let (_web, rig) = rig(behaviour).await;
        let params = json!({"name": "fake_progress", "arguments": {}, "_meta": {"progressToken": "mine"}});
        let target = Target::Tool("fake_progress".parse().unwrap());
        let driven = rig.send(client_legacy(), target, params).await;
        assert_eq!(driven.events, [r#"progress {"progress":1}"#], "{behaviour}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_resumed() {
    let (_web, rig) = rig("legacy").await;
    rig.call(client_legacy(), "fake_echo", json!({"b": "resumed"}), None).await.complete();
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_call_outlasts_that_its_stream_cannot_be_resumed_for_a_moment() {
    let refused = AtomicUsize::new(0);
    let door = move |asked: &Asked| {
        let is_resumed = asked.method == "GET" && asked.headers.contains_key("last-event-id");
        let first = is_resumed && refused.fetch_add(1, Ordering::SeqCst) == 0;
        first.then(|| whole(503, "text/plain", "in a moment"))
    };
    let (_web, rig) = behind("legacy", door).await;
    rig.call(client_legacy(), "fake_echo", json!({"b": "resumed"}), None).await.complete();
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_is_listened_to_again_after_it_would_not_let_us_for_a_moment() {
    const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    // Where it is the place on the stream that the server does not know, it is not named again.
    for (status, place) in [(503, Some("5")), (429, Some("5")), (400, None)] {
        let (opened, goes_on) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let last = Arc::new(Mutex::new(None));
        let (count, go, named) = (opened.clone(), goes_on.clone(), last.clone());
        let door = move |asked: &Asked| {
            let reply = |text: String| whole(200, "text/event-stream", text);
            (asked.method == "GET").then(|| match count.fetch_add(1, Ordering::SeqCst) {
                0 => reply("id: 5\n\n".into()),
                _ if !go.load(Ordering::SeqCst) => whole(status, "text/plain", "in a moment"),
                _ => {
                    *named.lock().unwrap() = asked.headers.get("last-event-id").cloned();
                    reply(format!("retry: 60000\ndata: {CHANGED}\n\n"))
                }
            })
        };
        let (web, rig) = behind("legacy", door).await;
        rig.until("it does not let us", |_| opened.load(Ordering::SeqCst) > 1).await;
        rig.until("that is noted", |rig| rig.notes().contains(&"does not let us listen to it")).await;
        let before = web.seen.lists.load(Ordering::SeqCst);
        goes_on.store(true, Ordering::SeqCst);
        rig.until("it is heard again", |_| web.seen.lists.load(Ordering::SeqCst) > before).await;
        assert_eq!(last.lock().unwrap().as_deref(), place, "{status}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_server_learns_each_time_that_the_folders_of_its_client_changed() {
    for behaviour in ["legacy", "oldest"] {
        let told = Arc::new(AtomicUsize::new(0));
        let count = told.clone();
        let door = move |asked: &Asked| {
            let is_notice = String::from_utf8_lossy(&asked.body).contains("notifications/roots/list_changed");
            count.fetch_add(usize::from(is_notice), Ordering::SeqCst);
            None
        };
        let (_web, rig) = behind(behaviour, door).await;
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        for times in 1..=3 {
            toolgate_core::Source::roots_changed(&*rig.upstream);
            rig.until("it is told", |_| told.load(Ordering::SeqCst) == times).await;
        }
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_never_lets_us_listen_is_left_alone_and_used_as_before() {
    const NAMELESS: &str =
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no stream for this session"}}"#;
    for (status, body) in [(400, NAMELESS), (400, "no"), (403, ""), (404, ""), (406, "")] {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let door = move |asked: &Asked| {
            (asked.method == "GET").then(|| {
                count.fetch_add(1, Ordering::SeqCst);
                whole(status, "application/json", body)
            })
        };
        let (web, rig) = behind("legacy", door).await;
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        // The one by which it was learned, and the caller's own.
        let greeted = || web.seen.initialized.load(Ordering::SeqCst);
        assert_eq!(greeted(), 2);
        for _ in 0..8 {
            pass(31).await;
            rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        }
        let times = asked.load(Ordering::SeqCst);
        assert!(times <= 5 * greeted(), "{status}: asked {times} times");
        assert_eq!((greeted(), rig.status().lost), (2, 0), "{status}");
        assert_eq!(rig.notes(), Vec::<&str>::new(), "{status}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_ends_its_stream_at_once_is_not_asked_without_a_pause() {
    let opened = Arc::new(AtomicUsize::new(0));
    let count = opened.clone();
    let door = move |asked: &Asked| {
        (asked.method == "GET").then(|| {
            count.fetch_add(1, Ordering::SeqCst);
            whole(200, "text/event-stream", "retry: 0\n\n")
        })
    };
    let (_web, rig) = behind("legacy", door).await;
    rig.until("that is noted", |rig| rig.notes().contains(&"ends its stream again and again")).await;
    let before = opened.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let more = opened.load(Ordering::SeqCst) - before;
    assert!(more <= 1, "{more} streams in half a second");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn what_a_server_began_before_it_was_started_anew_is_not_sent_to_it_again() {
    let (web, rig) = rig("legacy").await;
    let error = rig.call(client_legacy(), "fake_echo", json!({"b": "restarted"}), None).await.failed();
    assert!(error.message().contains("it may have done what was asked"), "{error}");
    assert_eq!(web.seen.calls.load(Ordering::SeqCst), 1);
    rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
    rig.upstream.stop().await;
}

#[tokio::test]
async fn wrong_answers_fail_only_their_call() {
    let (_web, rig) = rig("legacy").await;
    for (how, kind) in [
        ("status", Kind::Upstream),
        ("html", Kind::Upstream),
        ("broken", Kind::Upstream),
        ("empty", Kind::Upstream),
        ("other", Kind::ConnectionFailed),
        ("large", Kind::Upstream),
        ("cut", Kind::Upstream),
        ("away", Kind::Upstream),
    ] {
        let error = rig.call(client_legacy(), "fake_echo", json!({"b": how}), None).await.failed();
        assert_eq!(error.kind(), kind, "{how}: {error}");
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
    }
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_wants_to_know_who_we_are_needs_auth() {
    for behaviour in ["legacy locked", "modern locked"] {
        let web = Web::start(behaviour).await;
        let report = trial(web.table()).await;
        assert_eq!(report.status.state, State::NeedsAuth, "{behaviour}");
        assert_eq!(report.status.challenge.as_deref(), Some("Bearer resource_metadata=\"x\""));
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_fails_and_is_found_when_it_comes() {
    // One that is bound and does not listen: nobody else can take its port meanwhile.
    let bound = tokio::net::TcpSocket::new_v4().unwrap();
    bound.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let free = bound.local_addr().unwrap();
    let report = trial(json!({"url": format!("http://{free}/mcp?key=hunter22")})).await;
    assert_eq!(report.status.state, State::Failed);
    let error = report.status.error.unwrap();
    assert!(!error.contains("hunter22") && error.to_lowercase().contains("refused"), "{error}");
    let (_web, rig) = rig("modern").await;
    assert_eq!(rig.names(ListKind::Tools).await.len(), 7);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_speaks_another_era_by_now_is_asked_again_which() {
    for [before, after] in [["legacy", "modern"], ["modern", "legacy"], ["oldest", "modern"]] {
        let (web, rig) = rig(before).await;
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
        let kept = rig.upstream.learned().borrow().as_deref().cloned();
        let table = web.table();
        rig.upstream.stop().await;
        let _web = Web::start_at(after, &web.stop().await).await;
        // It is known from before how it spoke.
        let rig = Rig::of(table, rig.place, kept);
        assert!(rig.status().era.is_some());
        let echo = async || rig.call(client_legacy(), "fake_echo", json!({"b": "y"}), None).await;
        let limit = tokio::time::Instant::now() + PATIENCE;
        while !matches!(echo().await.outcome, Outcome::Complete(_)) {
            assert!(tokio::time::Instant::now() < limit, "{before} to {after}: {:?}", rig.status());
        }
        assert_eq!(rig.status().era.as_deref(), Some(after), "{before}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn attempts_that_take_too_long_leave_no_stream_open() {
    let web = Web::start("oldest mute").await;
    let table = with(web.table(), json!({"startup_timeout": 1_000}));
    let rig = Rig::of(table, Arc::new(tempfile::tempdir().unwrap()), None);
    rig.until("it is tried again", |_| web.seen.opened.load(Ordering::SeqCst) >= 4).await;
    rig.until("one stream is open at most", |_| web.seen.listeners() <= 1).await;
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_notification_that_is_not_taken_does_not_hold_up_the_next() {
    let (web, rig) = rig("legacy slow-to-hear").await;
    for round in 1..=2 {
        let run = rig.hub.start(call(client_legacy(), "fake_hang", json!({})));
        rig.until("it is called", |_| web.seen.calls.load(Ordering::SeqCst) == round).await;
        drop(run);
    }
    rig.until("the first is told", |_| web.seen.given_up.load(Ordering::SeqCst) == 1).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    rig.until("the second is told", |_| web.seen.given_up.load(Ordering::SeqCst) == 2).await;
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_is_at_the_call_of_another_is_not_left_alone_for_those_that_are_late() {
    let web = Web::start("legacy slow-progress").await;
    let rig = Rig::of(web.table(), Arc::new(tempfile::tempdir().unwrap()), None);
    rig.settled().await;
    let mut slow = call(client_legacy(), "fake_progress", json!({"b": "x"}));
    slow.params =
        Raw::of(&json!({"name": "fake_progress", "arguments": {}, "_meta": {"progressToken": "p"}}));
    let mut slow = rig.hub.start(slow);
    rig.until("it is at it", |_| web.seen.waiting.load(Ordering::SeqCst) == 1).await;
    for _ in 0..6 {
        let before = web.seen.calls.load(Ordering::SeqCst);
        let late = rig.hub.start(call(client_legacy(), "fake_hang", json!({"b": "x"})));
        rig.until("the server has it", |_| web.seen.calls.load(Ordering::SeqCst) > before).await;
        for seconds in [5, 30] {
            pass(seconds).await;
            web.seen.go.notify_one();
            let event = tokio::time::timeout(PATIENCE, slow.next()).await.expect("no word of it");
            assert!(matches!(event, Some(Event::Progress(_))));
        }
        pass(26).await;
        assert_eq!(drive(late, []).await.failed().kind(), Kind::Timeout);
    }
    rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
    rig.upstream.stop().await;
}
