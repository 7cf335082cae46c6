//! Who watches what, and for how long.

use toolgate_core::{Connected, Hub, Principal};
use toolgate_testkit::FakeSource;

use super::*;

/// A hub, whose connections have numbers.
fn hub() -> Hub {
    toolgate_testkit::hub([Arc::new(FakeSource::new("a"))])
}

fn watcher(connected: &Connected) -> Watcher {
    let principal = Principal::local().id.clone();
    Watcher { principal, connection: Some(connected.id()), declared: Declared::default() }
}

fn uris(watches: &Watches) -> Vec<String> {
    watches.of(|_| true).iter().map(|uri| uri.to_string()).collect()
}

#[tokio::test]
async fn twice_is_the_same_as_once_whatever_can_be_asked() {
    let (hub, watches) = (hub(), Watches::default());
    let connected = hub.watcher();
    let one = watcher(&connected);
    assert_eq!(watches.begin(&"a://1".into(), &one), Begun::New);
    assert_eq!(watches.begin(&"a://1".into(), &one), Begun::Already);
    let other = Watcher { declared: Declared { form: true, ..Declared::default() }, ..one.clone() };
    watches.cease("a://1", &other);
    assert!(uris(&watches).is_empty() && watches.watchers().is_empty());
}

#[tokio::test]
async fn who_has_left_watches_nothing_and_never_will() {
    let (hub, watches) = (hub(), Watches::default());
    let [gone, stays] = [hub.watcher(), hub.watcher()];
    watches.begin(&"a://1".into(), &watcher(&gone));
    watches.begin(&"a://2".into(), &watcher(&stays));
    watches.left(gone.id());
    assert_eq!(watches.begin(&"a://3".into(), &watcher(&gone)), Begun::Gone);
    assert_eq!(uris(&watches), ["a://2"]);
    watches.let_go(stays.id(), "a://2");
    assert!(watches.watchers().is_empty(), "nobody is kept who watches nothing");
    // Not all who ever left are remembered.
    (0..300).for_each(|_| watches.left(hub.watcher().id()));
    assert_eq!(watches.lock().gone.len(), MOST_GONE);
}

#[tokio::test]
async fn only_the_last_upstream_has_something_to_watch() {
    let (hub, watches) = (hub(), Watches::default());
    let connected = hub.watcher();
    let (first, one) = (watches.succeed(), watcher(&connected));
    first.begin(&"a://1".into(), &one);
    let second = first.succeed();
    assert!(uris(&first).is_empty() && first.watchers().is_empty() && !first.any("a://1", |_| true));
    assert_eq!((uris(&second), second.any("a://1", |_| true)), (vec!["a://1".to_owned()], true));
    // What was under way there counts here.
    first.begin(&"a://2".into(), &one);
    first.cease("a://1", &one);
    assert_eq!(uris(&second), ["a://2"]);
}

#[tokio::test]
async fn who_has_no_connection_is_forgotten_with_that_to_the_server() {
    let (hub, watches) = (hub(), Watches::default());
    let connected = hub.watcher();
    let one = watcher(&connected);
    let nameless = Watcher { connection: None, ..one.clone() };
    watches.begin(&"a://1".into(), &one);
    for number in 0..=MOST_NAMELESS {
        let begun = watches.begin(&format!("b://{number}").into(), &nameless);
        assert_eq!(begun == Begun::New, number < MOST_NAMELESS, "{number}");
    }
    assert_eq!(watches.begin(&"b://0".into(), &nameless), Begun::Already);
    assert_eq!(uris(&watches.succeed()), ["a://1"]);
}
