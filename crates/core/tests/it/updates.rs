//! Resources that have new content, one by one and many at once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgate_core::{Change, Changes, Principal, Update};
use toolgate_testkit::{BrokenFilter, FakeFilter, FakeSource, builder, hub};
use toolgate_wire::Raw;

/// More than the hub passes on one by one.
const MANY: usize = 300;

/// The resources told of until this one is; `any` where any may have changed.
async fn told(changes: &mut Changes, last: &str) -> Vec<String> {
    let mut all = Vec::new();
    let telling = async {
        while all.last().is_none_or(|uri| *uri != last) {
            match changes.next().await.expect("the hub is there") {
                Change::Updated(update) => all.push(update.uri.to_string()),
                Change::AnyUpdated(_) => all.push("any".to_owned()),
                Change::Listed(..) | Change::Task(_) | Change::Told(_) => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), telling).await.expect("it is never told");
    all
}

#[tokio::test]
async fn of_a_burst_that_is_not_passed_on_one_by_one_any_resource_may_have_changed() {
    for is_hub_late in [true, false] {
        let source = Arc::new(FakeSource::new("a"));
        let hub = hub([source.clone()]);
        let mut changes = hub.changes(&Principal::local());
        for number in 0..MANY {
            source.updated(&format!("a://{number}"));
            // Where the hub gets its turns, only who listens is late.
            if !is_hub_late {
                tokio::task::yield_now().await;
            }
        }
        let all = told(&mut changes, "a://299").await;
        assert!(all.len() < MANY, "late hub: {is_hub_late}: all are told");
        assert!(all.contains(&"any".to_owned()), "late hub: {is_hub_late}: {all:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn bursts_of_one_source_are_told_as_its_own_and_once_a_second() {
    let source = Arc::new(FakeSource::new("a"));
    let hub = hub([source.clone()]);
    let mut changes = hub.changes(&Principal::local());
    let mut bursts = 0;
    for _ in 0..5 {
        (0..MANY).for_each(|number| source.updated(&format!("a://{number}")));
        bursts += told(&mut changes, "a://299").await.iter().filter(|uri| **uri == "any").count();
    }
    assert_eq!(bursts, 1, "the first is told at once");
    let began = tokio::time::Instant::now();
    let Some(Change::AnyUpdated(Some(of))) = changes.next().await else { panic!("the others are not told") };
    let waited = began.elapsed().as_millis();
    assert!(of.as_str() == "a" && (900..1100).contains(&waited), "{of} after {waited}");
    let silence = tokio::time::timeout(Duration::from_secs(60), changes.next()).await;
    assert!(silence.is_err(), "the others are told as one");
}

#[tokio::test]
async fn what_a_source_says_of_a_resource_passes_the_filters_and_its_uri_stays() {
    let source = Arc::new(FakeSource::new("a"));
    let hub = builder([source.clone()]).filter(Box::new(FakeFilter::new("hunter2", "[hidden]")));
    let hub = hub.build().unwrap();
    let mut changes = hub.changes(&Principal::local());
    let said = json!({"uri": "a://hunter2", "title": "of hunter2", "_meta": {"x": 1}});
    source.tells(Update { params: Some(Raw::of(&said)), ..Update::of("a://hunter2") });
    let Some(Change::Updated(update)) = changes.next().await else { panic!("it is not told") };
    let expect = r#"{"uri":"a://hunter2","title":"of [hidden]","_meta":{"x":1}}"#;
    assert_eq!((&*update.uri, update.to_params().as_str()), ("a://hunter2", expect));
}

#[tokio::test]
async fn that_a_resource_has_changed_is_told_where_a_filter_breaks_down() {
    let source = Arc::new(FakeSource::new("a"));
    let hub = builder([source.clone()]).filter(Box::new(BrokenFilter)).build().unwrap();
    let mut changes = hub.changes(&Principal::local());
    let said = json!({"uri": "a://one", "title": "a secret"});
    source.tells(Update { params: Some(Raw::of(&said)), ..Update::of("a://one") });
    let Some(Change::Updated(update)) = changes.next().await else { panic!("it is not told") };
    assert_eq!(update.to_params().as_str(), r#"{"uri":"a://one"}"#);
}
