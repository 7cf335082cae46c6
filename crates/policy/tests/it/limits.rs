//! Limits: tokens by a clock moved by hand, places by turns.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use toolgate_core::{Admission, Kind, Limiter, Outcome, Principal, SourceId, Target, TooMany};
use toolgate_host::Clock;
use toolgate_policy::{LimitSettings, Limits};
use toolgate_testkit::{Expect, FakeSource, builder, drive};

use crate::support::{call_of, tables};

fn settings(text: &str) -> LimitSettings {
    let tables = tables(text);
    LimitSettings::load(&tables.limits, &tables.principals).unwrap()
}

fn limits(text: &str) -> (Limits, Clock) {
    let clock = Clock::manual(0);
    (Limits::new(settings(text), clock.clone()), clock)
}

fn tool(name: &str) -> Target {
    Target::Tool(name.parse().unwrap())
}

/// How many of so many requests are granted.
fn granted(limits: &Limits, who: &Principal, target: Option<&Target>, of: usize) -> usize {
    (0..of).filter(|_| limits.take(who, target).is_ok()).count()
}

#[test]
fn each_principal_has_a_bucket_of_its_own() {
    let (limits, clock) = limits("");
    let (alice, bob) = (Principal::named("alice"), Principal::named("bob"));
    assert_eq!(granted(&limits, &alice, None, 50), 20);
    assert_eq!(granted(&limits, &bob, Some(&tool("x")), 50), 20);
    clock.advance(Duration::from_millis(450));
    assert_eq!(granted(&limits, &alice, None, 50), 4);
    clock.advance(Duration::from_secs(3600));
    assert_eq!(granted(&limits, &alice, None, 50), 20);
}

#[test]
fn of_a_row_of_refusals_the_first_is_told() {
    let (limits, clock) = limits("[limits]\nrate = 1\nburst = 2");
    let alice = Principal::named("alice");
    assert_eq!(granted(&limits, &alice, None, 2), 2);
    let refused = |first, millis| Err(TooMany { retry_after: Duration::from_millis(millis), first });
    assert_eq!(limits.take(&alice, None), refused(true, 1000));
    assert_eq!(limits.take(&alice, None), refused(false, 1000));
    clock.advance(Duration::from_millis(900));
    assert_eq!(limits.take(&alice, None), refused(false, 100));
    clock.advance(Duration::from_millis(100));
    assert!(limits.take(&alice, None).is_ok());
    assert_eq!(limits.take(&alice, None), refused(true, 1000));
}

#[test]
fn a_principal_may_have_a_pace_of_its_own_and_limits_can_be_off() {
    let (limits, _) = limits("[principals.alice]\nrate = 100\nburst = 100");
    assert_eq!(granted(&limits, &Principal::named("alice"), None, 200), 100);
    assert_eq!(granted(&limits, &Principal::named("bob"), None, 200), 20);
    limits.set(settings("[limits]\nenabled = false"));
    assert_eq!(granted(&limits, &Principal::named("bob"), None, 200), 200);
}

#[test]
fn without_a_pace_there_are_still_only_so_many_places() {
    let (limits, _) = limits("");
    limits.set(settings("[limits]\nburst = 2\nconcurrent = 1\nqueue = 0").at_any_pace());
    let (alice, source) = (Principal::named("alice"), SourceId::new("slow"));
    assert_eq!(granted(&limits, &alice, None, 200), 200);
    let first = limits.enter(&alice, &source);
    assert!(matches!(first, Admission::Now(_)));
    assert!(matches!(limits.enter(&alice, &source), Admission::Full));
}

#[test]
fn a_call_has_to_pass_every_limit_that_it_matches_or_costs_nothing() {
    let text = r#"
        [[limits.targets]]
        targets = ["web_*"]
        rate = 1
        burst = 5
        [[limits.targets]]
        targets = ["web_fetch"]
        rate = 1
        burst = 3
        principals = ["role:guests", "mallory"]
    "#;
    let (limits, _) = limits(text);
    let guest = Principal::with_roles("guest", ["guests".into()]);
    let (fetch, search, other) = (tool("web_fetch"), tool("web_search"), tool("other"));
    assert_eq!(granted(&limits, &guest, Some(&fetch), 10), 3);
    // The seven that were refused took nothing of the other limits.
    assert_eq!(granted(&limits, &guest, Some(&search), 10), 2);
    assert_eq!(granted(&limits, &guest, Some(&other), 30), 15);
    let member = Principal::named("member");
    assert_eq!(granted(&limits, &member, Some(&fetch), 10), 5);
}

#[test]
fn a_token_that_is_given_back_can_be_taken_again() {
    let text = "[limits]\nrate = 1\nburst = 2\n[[limits.targets]]\ntargets = [\"x\"]\nrate = 1\nburst = 1";
    let (limits, _) = limits(text);
    let (alice, x) = (Principal::named("alice"), tool("x"));
    for _ in 0..10 {
        let taken = limits.take(&alice, Some(&x)).unwrap();
        limits.give_back(&alice, &x, &taken);
    }
    assert_eq!(granted(&limits, &alice, Some(&x), 5), 1);
    assert_eq!(granted(&limits, &alice, None, 5), 1);
}

#[test]
fn what_is_given_back_late_lets_no_more_pass_than_if_it_had_not_been_taken() {
    let text = "[[limits.targets]]\ntargets = [\"x\"]\nrate = 1\nburst = 4";
    let (limits, clock) = limits(text);
    let (alice, x) = (Principal::named("alice"), tool("x"));
    let taken: Vec<_> = (0..4).map(|_| limits.take(&alice, Some(&x)).unwrap()).collect();
    let nested = || (0..10).filter(|_| limits.take_nested(&alice, &x).is_ok()).count();
    clock.advance(Duration::from_secs(2));
    assert_eq!((granted(&limits, &alice, None, 50), nested()), (20, 2));
    taken.iter().for_each(|taken| limits.give_back(&alice, &x, taken));
    assert_eq!((granted(&limits, &alice, None, 50), nested()), (0, 2), "two of four had flowed back");
}

#[test]
fn what_was_taken_under_other_settings_is_not_given_back() {
    let text = "[limits]\nrate = 1\nburst = 4";
    let (limits, _) = limits(text);
    let (alice, x) = (Principal::named("alice"), tool("x"));
    let taken: Vec<_> = (0..4).map(|_| limits.take(&alice, Some(&x)).unwrap()).collect();
    limits.set(settings("[limits]\nrate = 2\nburst = 4"));
    taken.iter().for_each(|taken| limits.give_back(&alice, &x, taken));
    assert_eq!(granted(&limits, &alice, None, 9), 0);
}

#[test]
fn a_nested_call_counts_for_its_target_and_not_for_its_principal() {
    let text = "[limits]\nrate = 1\nburst = 2\n[[limits.targets]]\ntargets = [\"x\"]\nrate = 1\nburst = 3";
    let (limits, clock) = limits(text);
    let (alice, x, y) = (Principal::named("alice"), tool("x"), tool("y"));
    let nested = |target| (0..10).filter(|_| limits.take_nested(&alice, target).is_ok()).count();
    let taken = limits.take_nested(&alice, &x).unwrap();
    assert_eq!((nested(&y), nested(&x)), (10, 2));
    // They share the bucket of the target with calls that are not nested.
    assert!(limits.take(&alice, Some(&x)).is_err());
    limits.give_back_nested(&alice, &x, &taken);
    assert_eq!(nested(&x), 1);
    // None of this, nor what was given back, has touched what is the principal's own.
    assert_eq!(granted(&limits, &alice, None, 5), 2);
    assert_eq!(nested(&y), 10);
    clock.advance(Duration::from_secs(1));
    assert_eq!(nested(&x), 1);
}

#[test]
fn other_settings_keep_what_was_used() {
    let target = "[[limits.targets]]\ntargets = [\"x\"]\nrate = 1\nburst = 4\n";
    let (limits, _) = limits(target);
    let (alice, x) = (Principal::named("alice"), tool("x"));
    assert_eq!(granted(&limits, &alice, Some(&x), 3), 3);
    assert_eq!(granted(&limits, &alice, None, 7), 7);
    let new = "[[limits.targets]]\ntargets = [\"y\"]\nrate = 1\nburst = 9\n";
    limits.set(settings(&format!("[limits]\nrate = 50\nburst = 40\n{new}{target}")));
    assert_eq!(granted(&limits, &alice, Some(&x), 9), 1, "three of four were used");
    assert_eq!(granted(&limits, &alice, Some(&tool("y")), 20), 9);
    assert_eq!(granted(&limits, &alice, None, 99), 20, "ten and ten more of forty were used");
}

#[test]
fn any_number_of_principals_takes_bounded_room_and_gets_no_more() {
    let (limits, clock) = limits("[limits]\nrate = 1\nburst = 1");
    let many = 40_000;
    let all: usize = (0..many).map(|n| granted(&limits, &Principal::named(format!("p{n}")), None, 2)).sum();
    // Those for whom there was no room shared what is left.
    assert!((16_384..=16_384 + 16).contains(&all), "{all}");
    clock.advance(Duration::from_secs(5));
    assert_eq!(granted(&limits, &Principal::named("new"), None, 2), 1);
}

/// The place, if there is one at once.
fn enter(limits: &Limits, who: &str) -> Admission<'static> {
    // What is returned borrows nothing of the limiter, but its type cannot say so.
    match limits.enter(&Principal::named(who), &SourceId::new("slow")) {
        Admission::Now(place) => Admission::Now(place),
        Admission::Waiting(_) => Admission::Full,
        Admission::Full => Admission::Full,
    }
}

#[test]
fn a_source_has_so_many_places_and_gives_them_back() {
    let (limits, _) = limits("[limits]\nconcurrent = 2\nqueue = 0\n[limits.sources.other]\nconcurrent = 1");
    let Admission::Now(first) = enter(&limits, "a") else { panic!("no place") };
    let Admission::Now(_second) = enter(&limits, "b") else { panic!("no place") };
    assert!(matches!(enter(&limits, "c"), Admission::Full));
    assert!(matches!(limits.enter(&Principal::named("c"), &SourceId::new("other")), Admission::Now(_)));
    drop(first);
    assert!(matches!(enter(&limits, "c"), Admission::Now(_)));
}

#[tokio::test]
async fn the_queue_is_bounded_and_nobody_can_fill_it_for_others() {
    let (limits, _) = limits("[limits]\nconcurrent = 1\nqueue = 4");
    let source = SourceId::new("slow");
    let (alice, bob) = (Principal::named("alice"), Principal::named("bob"));
    let Admission::Now(place) = limits.enter(&alice, &source) else { panic!("no place") };
    let mut waiting = Vec::new();
    while let Admission::Waiting(place) = limits.enter(&alice, &source) {
        waiting.push(place);
    }
    assert_eq!(waiting.len(), 4);
    let Admission::Waiting(bobs) = limits.enter(&bob, &source) else { panic!("alice filled the queue") };
    // Who gives up makes room.
    drop(waiting.pop());
    drop(waiting.pop());
    assert!(matches!(limits.enter(&alice, &source), Admission::Waiting(_)));
    // Bob has waited less long, but was never served.
    drop(place);
    let place = tokio::time::timeout(Duration::from_secs(60), bobs).await.unwrap();
    // More places let all come in.
    limits.set(settings("[limits]\nconcurrent = 9\nqueue = 4"));
    for waiting in waiting {
        drop(tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap());
    }
    drop(place);
    assert!(matches!(limits.enter(&alice, &source), Admission::Now(_)));
}

#[tokio::test]
async fn a_place_that_was_given_to_someone_who_left_goes_on() {
    let (limits, _) = limits("[limits]\nconcurrent = 1\nqueue = 4");
    let (alice, source) = (Principal::named("alice"), SourceId::new("slow"));
    let Admission::Now(place) = limits.enter(&alice, &source) else { panic!("no place") };
    let Admission::Waiting(gone) = limits.enter(&alice, &source) else { panic!("no queue") };
    let Admission::Waiting(next) = limits.enter(&alice, &source) else { panic!("no queue") };
    drop(place);
    // It was handed to the first, who never looks.
    drop(gone);
    drop(tokio::time::timeout(Duration::from_secs(60), next).await.unwrap());
    assert!(matches!(limits.enter(&alice, &source), Admission::Now(_)));
}

/// Two hundred clients of four principals want one slow source.
async fn shares(concurrent: u32, clients: [(&'static str, usize); 4]) -> BTreeMap<&'static str, usize> {
    let text = format!("[limits]\nrate = 1000000\nburst = 100000\nconcurrent = {concurrent}\nqueue = 256");
    let slow = FakeSource::new("slow").tool("slow", |_, _| async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok(Outcome::Complete(toolgate_testkit::text("done")))
    });
    let limits = Arc::new(Limits::new(settings(&text), Clock::system()));
    let hub = builder([Arc::new(slow)]).limiter(limits).build().unwrap();
    let done: Arc<Mutex<BTreeMap<&'static str, usize>>> = Arc::default();
    let until = tokio::time::Instant::now() + Duration::from_secs(4);
    let mut all = JoinSet::new();
    for (name, _) in clients.iter().flat_map(|(name, count)| (0..*count).map(move |n| (*name, n))) {
        let (hub, done) = (hub.clone(), done.clone());
        all.spawn(async move {
            while tokio::time::Instant::now() < until {
                drive(hub.start(call_of(Principal::named(name), "slow", &json!({}))), []).await.complete();
                // Once the others have stopped, what is left in the queue is no contest.
                if tokio::time::Instant::now() < until {
                    *done.lock().unwrap().entry(name).or_default() += 1;
                }
            }
        });
    }
    all.join_all().await;
    Arc::into_inner(done).unwrap().into_inner().unwrap()
}

#[tokio::test(start_paused = true)]
async fn every_principal_gets_an_equal_share_however_many_clients_it_has() {
    let uneven = [("a", 1), ("b", 9), ("c", 40), ("d", 150)];
    // One client cannot be in two places, so with more places only principals with more clients can use a share of them.
    let many = [("a", 10), ("b", 20), ("c", 40), ("d", 130)];
    for (concurrent, clients) in [(1, uneven), (2, uneven), (3, many), (8, many), (16, many)] {
        let shares = shares(concurrent, clients).await;
        let equal = shares.values().sum::<usize>() / 4;
        assert!(equal >= 90, "{shares:?}");
        for (name, share) in &shares {
            let off = share.abs_diff(equal) * 100 / equal;
            assert!(off <= 20, "{name} is {off} % off at {concurrent}: {shares:?}");
        }
    }
}

#[tokio::test]
async fn beyond_the_limit_the_caller_is_told_when_to_come_again() {
    let source = Arc::new(FakeSource::new("files").echo("x"));
    let (limits, _) = limits("[limits]\nrate = 2\nburst = 1");
    let hub = builder([source.clone()]).limiter(Arc::new(limits)).build().unwrap();
    let call = || call_of(Principal::named("alice"), "x", &json!({}));
    drive(hub.start(call()), []).await.complete();
    let error = drive(hub.start(call()), []).await.failed();
    assert_eq!(error.kind(), Kind::RateLimited);
    assert_eq!(error.message(), "Rate limit exceeded. Please try again later.");
    assert_eq!(error.detail().unwrap().as_str(), r#"{"retryAfterMs":500}"#);
    assert_eq!(source.calls(), 1);
}

#[tokio::test]
async fn a_denied_call_costs_no_token() {
    let source = Arc::new(FakeSource::new("files").echo("x"));
    let (limits, _) = limits("[limits]\nrate = 1\nburst = 2");
    let gate = toolgate_testkit::FakeGate::new(|_| {
        toolgate_core::Verdict::Deny(toolgate_core::Error::new(Kind::Denied, "no"))
    });
    let hub = builder([source]).limiter(Arc::new(limits)).gate(Box::new(gate)).build().unwrap();
    for _ in 0..10 {
        let error = drive(hub.start(call_of(Principal::named("alice"), "x", &json!({}))), []).await.failed();
        assert_eq!(error.kind(), Kind::Denied);
    }
}

#[tokio::test]
async fn a_call_that_a_person_was_asked_about_costs_its_token_also_if_they_say_no() {
    let source = Arc::new(FakeSource::new("files").echo("x"));
    let (limits, _) = limits("[limits]\nrate = 1\nburst = 2");
    let gate = toolgate_testkit::FakeGate::asking("ok");
    let hub = builder([source]).limiter(Arc::new(limits)).gate(Box::new(gate)).build().unwrap();
    for expect in [Kind::Denied, Kind::Denied, Kind::RateLimited] {
        let run = hub.start(call_of(Principal::named("alice"), "x", &json!({})));
        let error = drive(run, [("ok", json!({"action": "decline"}))]).await.failed();
        assert_eq!(error.kind(), expect);
    }
}

#[test]
fn threads_that_take_at_once_get_no_more_than_there_is() {
    let text =
        "[limits]\nrate = 1\nburst = 500\n[[limits.targets]]\ntargets = [\"x\"]\nrate = 1\nburst = 300";
    let (limits, _) = limits(text);
    let (alice, x) = (Principal::named("alice"), tool("x"));
    let all: usize = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| granted(&limits, &alice, Some(&x), 200))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(all, 300);
    assert_eq!(granted(&limits, &alice, None, 500), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn however_calls_come_and_go_no_place_is_lost_or_given_twice() {
    let (limits, _) = limits("[limits]\nconcurrent = 3\nqueue = 1000");
    let limits = Arc::new(limits);
    let inside = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut all = JoinSet::new();
    for number in 0..300_usize {
        let (limits, inside) = (limits.clone(), inside.clone());
        all.spawn(async move {
            let (who, source) = (Principal::named(format!("p{}", number % 7)), SourceId::new("slow"));
            for round in 0..10_usize {
                let place = match limits.enter(&who, &source) {
                    Admission::Now(place) => place,
                    // Some give up before, some while they wait.
                    Admission::Waiting(_) if (number + round) % 5 == 0 => continue,
                    Admission::Waiting(place) if (number + round) % 5 == 1 => {
                        match tokio::time::timeout(Duration::from_micros(50), place).await {
                            Ok(place) => place,
                            Err(_) => continue,
                        }
                    }
                    Admission::Waiting(place) => place.await,
                    Admission::Full => panic!("there is room for all"),
                };
                let now = inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
                assert!(now <= 3, "{now} at once");
                tokio::task::yield_now().await;
                inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                drop(place);
            }
        });
    }
    tokio::time::timeout(Duration::from_secs(120), all.join_all()).await.unwrap();
    let enter = || limits.enter(&Principal::named("last"), &SourceId::new("slow"));
    let places: Vec<Admission<'_>> = (0..3).map(|_| enter()).collect();
    assert!(places.iter().all(|place| matches!(place, Admission::Now(_))), "a place was lost");
    assert!(matches!(enter(), Admission::Waiting(_)), "a place was given twice");
}
