//! Pages and their cursors.

use std::sync::Arc;

use base64::Engine as _;
use serde_json::Value;
use toolgate_core::{Hub, Kind, ListKind, Listing, Look, Principal, Settings};
use toolgate_testkit::{FakeSource, builder, hub, list, resource_item, tool_item};
use toolgate_wire::Version;

fn tools(range: std::ops::Range<u32>) -> impl FnOnce(&mut Listing) {
    move |listing| listing.tools.extend(range.map(|number| Arc::new(tool_item(&format!("t{number:05}")))))
}

fn names(page: &Value) -> Vec<String> {
    let tools = page["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn expected(numbers: impl Iterator<Item = u32>) -> Vec<String> {
    numbers.map(|number| format!("t{number:05}")).collect()
}

async fn rest(hub: &Hub, page: &Value) -> Value {
    list(hub, ListKind::Tools, page["nextCursor"].as_str()).await
}

#[tokio::test]
async fn many_items_come_in_pages_of_a_thousand_and_in_exact_order() {
    let sources = [FakeSource::new("a").with(tools(0..1700)), FakeSource::new("b").with(tools(1700..2500))];
    let hub = hub(sources.map(Arc::new));
    let first = list(&hub, ListKind::Tools, None).await;
    let second = rest(&hub, &first).await;
    let third = rest(&hub, &second).await;
    let sizes = [&first, &second, &third].map(|page| names(page).len());
    assert_eq!(sizes, [1000, 1000, 500]);
    assert!(third.get("nextCursor").is_none());
    let all: Vec<_> = [&first, &second, &third].into_iter().flat_map(names).collect();
    assert_eq!(all, expected(0..2500));
    let cursor = first["nextCursor"].as_str().unwrap();
    assert!(!cursor.contains("t00999"), "{cursor}");
}

/// A hub with pages of three over `a` (t00000 … t00004) and `b` (t00005 … t00009).
fn small() -> (Hub, Arc<FakeSource>, Arc<FakeSource>) {
    let a = Arc::new(FakeSource::new("a").with(tools(0..5)));
    let b = Arc::new(FakeSource::new("b").with(tools(5..10)));
    let settings = Settings { page_size: 3, ..Settings::default() };
    (builder([a.clone(), b.clone()]).settings(settings).build().unwrap(), a, b)
}

#[tokio::test]
async fn a_cursor_stays_where_it_is_when_items_come_and_go() {
    type Change = fn(&mut Listing);
    let cases: [(&str, Change, Vec<u32>); 5] = [
        ("before it", |a| a.tools.push(Arc::new(tool_item("t"))), vec![3, 4, 5]),
        ("the item itself", |a| drop(a.tools.remove(2)), vec![3, 4, 5]),
        ("all before it", |a| drop(a.tools.drain(0..3)), vec![3, 4, 5]),
        ("right behind it", |a| drop(a.tools.remove(3)), vec![4, 5, 6]),
        ("its whole source", |a| a.tools.clear(), vec![5, 6, 7]),
    ];
    for (name, change, expect) in cases {
        let (hub, a, _) = small();
        let first = list(&hub, ListKind::Tools, None).await;
        assert_eq!(names(&first), expected(0..3));
        a.change(change);
        assert_eq!(names(&rest(&hub, &first).await), expected(expect.into_iter()), "{name}");
    }
}

#[tokio::test]
async fn a_cursor_at_the_end_gives_an_empty_page() {
    let (hub, _, b) = small();
    let mut page = list(&hub, ListKind::Tools, None).await;
    for _ in 0..2 {
        page = rest(&hub, &page).await;
    }
    assert_eq!(names(&page), expected(6..9));
    b.change(|listing| listing.tools.clear());
    let last = rest(&hub, &page).await;
    assert_eq!(names(&last), Vec::<String>::new());
    assert!(last.get("nextCursor").is_none());
}

#[tokio::test]
async fn a_bad_cursor_is_refused() {
    let many = |listing: &mut Listing| {
        listing.resources.extend((0..9).map(|number| resource_item(&format!("x:{number}"))));
    };
    let source = Arc::new(FakeSource::new("a").with(tools(0..9)).with(many));
    let settings = Settings { page_size: 3, ..Settings::default() };
    let hub = builder([source]).settings(settings).build().unwrap();
    let of_tools = list(&hub, ListKind::Tools, None).await["nextCursor"].as_str().unwrap().to_owned();
    let gone = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode("1\ngone\nx:1");
    let local = Principal::local();
    let look = Look { principal: &local, profile: None, version: Version::LATEST_LEGACY };
    for cursor in ["", "x", "!!!!", "AAAA", &of_tools, &gone, &of_tools[1..]] {
        let error = hub.list(&look, ListKind::Resources, Some(cursor)).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidParams, "{cursor}");
    }
}
