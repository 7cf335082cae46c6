//! What waits on a desk.

use bytes::Bytes;
use futures_util::FutureExt as _;

use super::*;
use crate::watches::{Watcher, Watches};

/// A desk, and what leaves it.
fn desk(declared: Declared) -> (Arc<Desk>, mpsc::Receiver<Out>) {
    let (outbox, sent) = mpsc::channel(8);
    let reports = Reports {
        noticed: Arc::default(),
        updates: Updates::new(Watches::default()),
        journal: Arc::new(Journal::new("up".into())),
    };
    (Desk::new(outbox, declared, &reports), sent)
}

#[test]
fn who_gives_up_a_request_that_will_leave_tells_the_server() {
    let check = |left: bool, handed_over: bool, expect: bool| {
        let (desk, mut sent) = desk(Declared::default());
        let mut ticket = desk.place(Some(Caller::default())).unwrap();
        ticket.left.store(left, Ordering::Release);
        ticket.handed_over = handed_over;
        drop(ticket);
        let told = sent.try_recv().ok().map(|out| out.frame);
        let cancelled: &[u8] =
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert_eq!(told.as_deref(), expect.then_some(cancelled), "{left} {handed_over}");
    };
    check(false, false, false);
    check(true, false, true);
    check(false, true, true);
    check(true, true, true);
}

#[test]
fn changed_folders_are_told_of_once_until_that_has_left() {
    let (desk, mut sent) = desk(Declared::default());
    (0..100).for_each(|_| desk.roots_changed());
    let first = sent.try_recv().unwrap();
    assert!(sent.try_recv().is_err());
    desk.roots_changed();
    assert!(sent.try_recv().is_err(), "it is not sent yet");
    first.leave();
    desk.roots_changed();
    sent.try_recv().unwrap().leave();
    // Where there was no room for it, it is told of when there is.
    (0..8).for_each(|_| desk.post(log(1)));
    desk.roots_changed();
    (0..8).for_each(|_| drop(sent.try_recv().unwrap()));
    assert!(sent.try_recv().is_err());
    desk.roots_changed();
    assert!(sent.try_recv().is_ok());
}

#[test]
fn a_message_that_is_too_large_fails_the_only_one_it_can_be_for() {
    #[track_caller]
    fn check(given_up: bool, answered: bool, fails: bool) {
        let (desk, _sent) = desk(Declared::default());
        let mut first = desk.place(Some(Caller::default())).unwrap();
        (first.handed_over, first.lingers) = (true, Some(Duration::from_secs(30)));
        let id = first.id;
        if !given_up {
            drop(desk.answer(id, Ok(Raw::NULL)));
        }
        drop(first);
        if answered {
            drop(desk.answer(id, Ok(Raw::NULL)));
        }
        let mut second = desk.place(Some(Caller::default())).unwrap();
        desk.too_large(None);
        assert_eq!(second.answer.try_recv().is_ok(), fails, "{given_up} {answered}");
    }
    check(false, false, true);
    check(true, false, false);
    check(true, true, true);
}

#[test]
fn what_is_said_for_calls_is_told_from_the_rest() {
    #[track_caller]
    fn check(frame: &'static str, expect: u64) {
        let (desk, _sent) = desk(Declared::default());
        let _call = desk.place(Some(Caller::default())).unwrap();
        let _list = desk.place(None).unwrap();
        desk.take(Bytes::from_static(frame.as_bytes()), None);
        assert_eq!(desk.served(), expect, "{frame}");
    }
    check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 1);
    check(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#, 0);
    check(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no ping"}}"#, 0);
    check(
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
        1,
    );
    check(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#, 0);
}

fn log(bytes: usize) -> Bytes {
    let text = "x".repeat(bytes);
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{text}"}}}}"#
    )
    .into()
}

fn question(id: &str) -> Bytes {
    format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"elicitation/create","params":{{"message":"Who?"}}}}"#)
        .into()
}

fn notes(desk: &Desk) -> Vec<String> {
    desk.journal.notes().into_iter().map(|note| note.what.into_owned()).collect()
}

#[test]
fn a_server_that_said_something_for_a_late_call_only_was_not_at_others() {
    #[track_caller]
    fn check(frames: &[&'static str], expect: bool) {
        let (desk, _sent) = desk(Declared::default());
        let _before = desk.place(Some(Caller::default())).unwrap();
        desk.take(Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#), None);
        let late = desk.place(Some(Caller::default())).unwrap();
        let _other = desk.place(Some(Caller::default())).unwrap();
        frames.iter().for_each(|frame| desk.take(Bytes::from_static(frame.as_bytes()), None));
        assert_eq!(late.silence(Duration::ZERO).serves_others, expect, "{frames:?}");
    }
    let own =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#;
    let others =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#;
    check(&[], false);
    check(&[own, own], false);
    check(&[own, others, own], true);
    check(&[r#"{"jsonrpc":"2.0","id":3,"result":{}}"#], true);
}

#[test]
fn what_waits_for_a_call_is_bounded_by_its_bytes() {
    let (desk, mut sent) = desk(Declared { form: true, ..Declared::default() });
    let mut ticket = desk.place(Some(Caller::default())).unwrap();
    let mut events = ticket.events.take().unwrap();
    for _ in 0..5 {
        desk.take(log(5 << 20), None);
    }
    assert_eq!((events.len(), notes(&desk)), (3, vec!["sends more than its caller can read".to_owned()]));
    // Beside them there is room for a word, and for as many questions as fit.
    desk.take(log(10), None);
    (0..20).for_each(|number| desk.take(question(&number.to_string()), None));
    assert_eq!(events.len(), 3 + 1 + 15);
    let declined = sent.try_recv().unwrap().frame;
    assert_eq!(&*declined, br#"{"jsonrpc":"2.0","id":"15","result":{"action":"decline"}}"#);
    // What is read makes room, but a question only when it is answered.
    let told: Vec<Told> = std::iter::from_fn(|| events.try_recv().ok()).map(|told| *told).collect();
    let (asked, read): (Vec<Told>, Vec<Told>) =
        told.into_iter().partition(|told| matches!(told.said, Said::Asked(_)));
    drop(read);
    (0..4).for_each(|_| desk.take(log(5 << 20), None));
    assert_eq!(events.len(), 3);
    drop(asked);
    desk.take(log(900 << 10), None);
    assert_eq!(events.len(), 4);
}

#[test]
fn a_message_of_any_size_that_may_come_finds_room() {
    let (desk, _sent) = desk(Declared::default());
    let mut ticket = desk.place(Some(Caller::default())).unwrap();
    let empty = log(0).len();
    desk.take(log(crate::transport::MESSAGE_LIMIT - empty), None);
    assert!(ticket.events.as_mut().unwrap().try_recv().is_ok());
}

#[test]
fn what_waits_does_so_without_the_rest_of_its_frame() {
    let (desk, _sent) = desk(Declared { form: true, ..Declared::default() });
    let mut ticket = desk.place(Some(Caller::default())).unwrap();
    let rest = format!(r#","x":"{}"}}"#, "x".repeat(1 << 20));
    let with_rest = |frame: &Bytes| {
        let text = std::str::from_utf8(frame).unwrap().strip_suffix('}').unwrap();
        Bytes::from(format!("{text}{rest}"))
    };
    for frame in [log(10), question("q")] {
        let frame = with_rest(&frame);
        desk.take(frame.clone(), None);
        let told = ticket.events.as_mut().unwrap().try_recv().unwrap();
        let (Said::Log(params) | Said::Asked(Question { params, .. })) = &told.said else {
            panic!("{:?}", told.said);
        };
        let id = if let Said::Asked(question) = &told.said { question.id.as_str() } else { "" };
        let kept = [params.as_bytes(), id.as_bytes()];
        assert!(kept.iter().all(|part| !frame.as_ptr_range().contains(&part.as_ptr())), "{:?}", told.said);
    }
}

#[test]
fn a_request_or_a_page_with_a_long_name_is_not_remembered() {
    let (desk, mut sent) = desk(Declared { url: true, ..Declared::default() });
    let mut ticket = desk.place(Some(Caller::default())).unwrap();
    desk.take(question(&"x".repeat(LONGEST_ID)), None);
    assert!(ticket.events.as_mut().unwrap().try_recv().is_err() && sent.try_recv().is_err());
    assert_eq!(notes(&desk), ["named a request in too many words"]);
    for (length, expect) in [(LONGEST_ID, true), (LONGEST_ID + 1, false)] {
        let page = Named::Elicitation("x".repeat(length));
        desk.name(page.clone(), ticket.id);
        assert_eq!(desk.lock().named.contains_key(&page), expect, "{length}");
    }
}

/// A server's word that the visit of a page is over, as long as it is made.
fn over(page: &str, padding: usize) -> Bytes {
    let x = "x".repeat(padding);
    let params = format!(r#"{{"elicitationId":"{page}","x":"{x}"}}"#);
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{params}}}"#).into()
}

/// Begins to wait for a page, and says whether its visit is over already.
fn is_over(desk: &Arc<Desk>, page: &str) -> bool {
    let mut ticket = desk.place(Some(Caller::default())).unwrap();
    desk.await_named(Named::Elicitation(page.to_owned()), ticket.id, None);
    ticket.events.as_mut().unwrap().try_recv().is_ok_and(|told| matches!(told.said, Said::Visited(..)))
}

#[test]
fn a_visit_that_is_over_before_anybody_waits_for_it_is_over_for_the_first_who_does() {
    let (desk, _sent) = desk(Declared::default());
    for _ in 0..2 {
        desk.take(over("page", 0), None);
    }
    assert!(!is_over(&desk, "another"));
    assert!(is_over(&desk, "page"));
    assert!(!is_over(&desk, "page"), "nobody else is told");
    let (other, _sent) = self::desk(Declared::default());
    desk.take(over("page", 0), None);
    assert!(!is_over(&other, "page"), "another connection is not told");
}

#[test]
fn a_visit_that_is_over_while_somebody_waits_for_it_is_not_remembered() {
    let (desk, _sent) = desk(Declared::default());
    let mut ticket = desk.place(Some(Caller::default())).unwrap();
    desk.await_named(Named::Elicitation("page".to_owned()), ticket.id, None);
    desk.take(over("page", 0), None);
    assert!(ticket.events.as_mut().unwrap().try_recv().is_ok());
    assert!(!is_over(&desk, "page"));
}

#[test]
fn few_visits_that_nobody_waits_for_are_remembered_and_no_long_ones() {
    let (desk, _sent) = desk(Declared::default());
    (0..65).for_each(|number| desk.take(over(&number.to_string(), 0), None));
    assert!(!is_over(&desk, "0") && is_over(&desk, "1") && is_over(&desk, "64"));
    for (page, padding) in [("x".repeat(4096), 0), ("page".to_owned(), 4096)] {
        desk.take(over(&page, padding), None);
        assert!(!is_over(&desk, &page), "{padding}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_visit_that_nobody_waits_for_is_forgotten_in_time() {
    let (desk, _sent) = desk(Declared::default());
    desk.take(over("page", 0), None);
    tokio::time::advance(Duration::from_secs(31)).await;
    assert!(!is_over(&desk, "page"));
}

#[tokio::test]
async fn a_server_agrees_to_the_last_listening_or_to_none() {
    #[track_caller]
    fn check(params: &str, on: Option<u64>, expect: bool) {
        let (desk, _sent) = desk(Declared::default());
        let [earlier, last] = [Arc::new(Notify::new()), Arc::new(Notify::new())];
        desk.listens(3, earlier.clone());
        desk.listens(4, last.clone());
        let method = method::SUBSCRIPTIONS_ACKNOWLEDGED;
        desk.take(format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#).into(), on);
        let agreed = [earlier, last].map(|agreed| agreed.notified().now_or_never().is_some());
        assert_eq!(agreed, [false, expect], "{params} {on:?}");
    }
    check(r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":4}}"#, None, true);
    check(r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}"#, None, false);
    check("{}", Some(3), false);
    check("{}", Some(4), true);
    check("{}", None, true);
}

#[test]
fn what_is_said_of_a_changed_resource_goes_on_but_for_the_stream_it_came_on() {
    #[track_caller]
    fn check(params: &str, expect: &str, more: bool) {
        let watches = Watches::default();
        let principal = Principal::local().id.clone();
        let watcher = Watcher { principal, connection: None, declared: Declared::default() };
        watches.begin(&"a:x".into(), &watcher);
        let told = Updates::new(watches);
        let reports = Reports {
            noticed: Arc::default(),
            updates: told.clone(),
            journal: Arc::new(Journal::new("up".into())),
        };
        let desk = Desk::new(mpsc::channel(8).0, Declared::default(), &reports);
        let mut updates = told.subscribe();
        let frame =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{params}}}"#);
        desk.take(frame.into(), None);
        let update = updates.try_recv().unwrap();
        assert_eq!((&*update.uri, update.params.is_some()), ("a:x", more), "{params}");
        assert_eq!(update.to_params().as_str(), expect, "{params}");
    }
    let stream = r#""io.modelcontextprotocol/subscriptionId":7"#;
    check(r#"{"uri":"a:x"}"#, r#"{"uri":"a:x"}"#, false);
    check(&format!(r#"{{"uri":"a:x","_meta":{{{stream}}}}}"#), r#"{"uri":"a:x"}"#, false);
    let titled = r#"{"title":"X","uri":"a:x","_meta":{"why":[1.0]}}"#;
    check(titled, titled, true);
    check(
        &format!(r#"{{"uri":"a:x","_meta":{{{stream},"why":1}}}}"#),
        r#"{"uri":"a:x","_meta":{"why":1}}"#,
        true,
    );
    let long = format!(r#"{{"uri":"a:x","title":"{}"}}"#, "x".repeat(LONGEST_UPDATE));
    check(&long, r#"{"uri":"a:x"}"#, false);
}
