//! What is known of a source that makes up names without end.

use super::super::snapshot::Looked;
use super::*;

fn tools(names: std::ops::Range<usize>) -> Vec<Arc<ToolItem>> {
    let tool = |number: usize| {
        let name = format!("tool_{number}");
        let raw = Raw::of(&serde_json::json!({"name": name}));
        Arc::new(ToolItem { raw, ..toolgate_testkit::tool_item(&name) })
    };
    names.map(tool).collect()
}

/// The store with so many tools of a source.
fn documents(source: &str, count: usize) -> Vec<Document> {
    let tool = |number: usize| {
        let pin = Pin::new(source, &format!("tool_{number}"), 1);
        let body = serde_json::to_string(&pin).unwrap();
        Document { id: Pin::id(source, &pin.tool), revision: 1, body, expires_ms: None }
    };
    (0..count).map(tool).collect()
}

#[test]
fn a_source_that_makes_up_names_without_end_is_kept_within_bounds() {
    let source = SourceId::new("a");
    let mut state = State::new(PinsConfig::default());
    // There is room for two more, beside the mark of the source.
    let kept = documents("a", MOST - 2);
    assert_eq!(state.sightings(&kept, &source, &tools(MOST..MOST + 100), 1).len(), 3);
    // Another source has room of its own.
    assert_eq!(state.sightings(&kept, &SourceId::new("b"), &tools(0..10), 1).len(), 11);

    assert!(!state.see(&source, &tools(0..MOST)));
    assert!(state.see(&source, &tools(MOST..MOST + 10)), "it tells that it forgot");
    assert_eq!(state.seen[&source].len(), 10, "what is not listed any more is forgotten");
    state.learn(kept);
    let snapshot = state.snapshot();
    let beyond = &tools(MOST..MOST + 1)[0];
    assert!(matches!(snapshot.look(&source, beyond), Looked::Held(_)), "what is not kept is held");
}

#[test]
fn a_definition_that_gives_way_to_another_is_told() {
    let mut state = State::new(PinsConfig::default());
    let mut sees = |number: usize| {
        let raw = Raw::of(&serde_json::json!({"name": "a", "title": number}));
        state.see(&SourceId::new("a"), &[Arc::new(ToolItem { raw, ..toolgate_testkit::tool_item("a") })])
    };
    for _ in 0..2 {
        assert!((0..SEEN).all(|number| !sees(number)), "they have a place each");
    }
    assert!(sees(SEEN));
}
