//! The merged list of all sources, and who is told of its changes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgate_core::{
    Change, Changes, CompletionRef, Hub, Kind, ListKind, Look, Note, Principal, SourceId, SourceState, Target,
};
use toolgate_testkit::{
    Expect, FakeFilter, FakeSource, builder, call, client_legacy, drive, hub, list_names, prompt_item,
    resource_item, template_item, text, tool_item,
};
use toolgate_wire::{Raw, Version};

fn answering(name: &'static str, tools: &[&str]) -> FakeSource {
    let answer = move |_, _| async move { Ok(toolgate_core::Outcome::Complete(text(name))) };
    tools.iter().fold(FakeSource::new(name).otherwise(answer), |source, tool| source.tool(tool, answer))
}

async fn answered(hub: &Hub, target: Target) -> Result<String, Kind> {
    let call = toolgate_core::Call::new(Principal::local(), client_legacy(), target, Raw::literal("{}"));
    let outcome = drive(hub.start(call), []).await.outcome;
    if let toolgate_core::Outcome::Failed(error) = outcome {
        return Err(error.kind());
    }
    Ok(outcome.complete()["content"][0]["text"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn the_order_is_that_of_the_sources_and_then_of_the_names() {
    let hub = hub([Arc::new(answering("z", &["b", "a_2", "a-1"])), Arc::new(answering("a", &["c", "A"]))]);
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["a-1", "a_2", "b", "A", "c"]);
    assert_eq!(hub.sources(), ["z", "a"].map(SourceId::new));
}

#[tokio::test]
async fn of_two_with_one_name_the_first_source_keeps_it() {
    let first = Arc::new(answering("first", &["same"]));
    let second = Arc::new(answering("second", &["same", "own"]));
    let hub = hub([first.clone(), second.clone()]);
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["same", "own"]);
    let same = || Target::Tool("same".parse().unwrap());
    assert_eq!(answered(&hub, same()).await.unwrap(), "first");
    first.change(|listing| listing.tools.clear());
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["own", "same"]);
    assert_eq!(answered(&hub, same()).await.unwrap(), "second");
}

#[tokio::test]
async fn what_is_left_out_because_another_has_it_shows_in_the_status() {
    let pack = answering("pack", &["same", "own"]);
    let first = answering("first", &["first_tool"])
        .stands(SourceState::Connected)
        .with(|listing| listing.resources.push(resource_item("file:///a")));
    let second =
        answering("second", &["second_tool", "same"]).stands(SourceState::Connected).with(|listing| {
            listing.resources.push(resource_item("file:///a"));
            // Two of its own are its own affair.
            listing.tools.push(Arc::new(tool_item("second_tool")));
        });
    let hub = hub([Arc::new(pack), Arc::new(first), Arc::new(second)]);
    let notes: Vec<_> = hub.upstreams().into_iter().map(|status| (status.name, status.notes)).collect();
    let left_out = Note {
        what: "lists what another has already, and it is left out".into(),
        times: 2,
        detail: "`file:///a` is of `first`".into(),
    };
    assert_eq!(notes, [("first".to_owned(), vec![]), ("second".to_owned(), vec![left_out])]);
}

#[tokio::test]
async fn what_is_hidden_in_a_key_is_hidden_before_it_is_cut() {
    let uri = format!("file:///{}SECRET-WORD", "a".repeat(186));
    let with = |name| {
        let listed = resource_item(&uri);
        let source = answering(name, &[]).stands(SourceState::Connected);
        Arc::new(source.with(|listing| listing.resources.push(listed)))
    };
    let filter = Box::new(FakeFilter::new("SECRET-WORD", "[hidden]"));
    let hub = builder([with("first"), with("second")]).filter(filter).build().unwrap();
    let detail = hub.upstreams()[1].notes[0].detail.clone();
    assert!(detail.contains("a[hidde") && !detail.contains("SECRET"), "{detail}");
}

#[tokio::test]
async fn every_kind_of_target_finds_its_source() {
    let one = answering("one", &[]).with(|listing| {
        listing.resources.push(resource_item("file:///a"));
        listing.prompts.push(prompt_item("greet"));
    });
    let two = answering("two", &[]).with(|listing| listing.templates.push(template_item("file:///{name}")));
    let hub = hub([Arc::new(one), Arc::new(two)]);
    for (target, expect) in [
        (Target::Resource("file:///a".into()), Ok("one")),
        (Target::Resource("file:///b".into()), Ok("two")),
        (Target::Resource("http://x/".into()), Err(Kind::ResourceNotFound)),
        (Target::Subscribe("file:///a".into()), Ok("one")),
        (Target::Unsubscribe("file:///b".into()), Ok("two")),
        (Target::Prompt("greet".into()), Ok("one")),
        (Target::Prompt("none".into()), Err(Kind::UnknownTarget)),
        (Target::Completion(CompletionRef::Prompt("greet".into())), Ok("one")),
        (Target::Completion(CompletionRef::Resource("file:///{name}".into())), Ok("two")),
        (Target::Completion(CompletionRef::Resource("file:///a".into())), Ok("one")),
        (Target::Completion(CompletionRef::Prompt("none".into())), Err(Kind::UnknownTarget)),
        (Target::Method("x/y".into()), Err(Kind::UnknownMethod)),
    ] {
        assert_eq!(answered(&hub, target.clone()).await.as_deref(), expect.as_ref().copied(), "{target:?}");
    }
}

/// The changes told so far.
async fn told(changes: &mut Changes) -> Vec<String> {
    let mut all = Vec::new();
    while let Ok(Some(change)) = tokio::time::timeout(Duration::from_millis(20), changes.next()).await {
        all.push(match change {
            Change::Listed(_, kind) => format!("{kind:?}"),
            Change::Updated(update) => update.uri.to_string(),
            Change::AnyUpdated(_) => "any".to_owned(),
            Change::Task(task) => task.id.to_string(),
            Change::Told(notice) => notice.method.to_string(),
        });
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_change_is_told_once_and_only_for_the_list_that_changed() {
    let source = Arc::new(answering("a", &["x"]));
    let hub = hub([source.clone(), Arc::new(answering("b", &["x"]))]);
    let mut changes = hub.changes(&Principal::local());
    let check = async |changes: &mut Changes, expect: &[&str]| assert_eq!(told(changes).await, expect);
    check(&mut changes, &[]).await;

    source.change(|listing| listing.tools.push(Arc::new(tool_item("y"))));
    check(&mut changes, &["Tools"]).await;
    source.change(|listing| listing.resources.push(resource_item("file:///a")));
    check(&mut changes, &["Resources"]).await;
    source.change(|listing| {
        listing.prompts.push(prompt_item("p"));
        listing.templates.push(template_item("x:{y}"));
    });
    check(&mut changes, &["Templates", "Prompts"]).await;
    // The same items in another order are the same list, and so is one that is still being learned.
    source.change(|listing| listing.tools.reverse());
    source.set_pending(toolgate_core::Kinds::only(ListKind::Tools));
    source.set_pending(toolgate_core::Kinds::NONE);
    check(&mut changes, &[]).await;
    source.updated("file:///a");
    check(&mut changes, &["file:///a"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_is_too_slow_is_told_that_anything_may_have_changed() {
    let source = Arc::new(answering("a", &["x"]));
    let hub = hub([source.clone()]);
    let mut changes = hub.changes(&Principal::local());
    for number in 0..300 {
        source.updated(&format!("file:///{number}"));
        tokio::task::yield_now().await;
    }
    let told = told(&mut changes).await;
    assert_eq!(told[..4], ["Tools", "Resources", "Templates", "Prompts"]);
    assert_eq!(told.last().unwrap(), "file:///299");
}

#[tokio::test]
async fn a_view_is_made_once_until_something_changes() {
    let source = Arc::new(answering("a", &["x"]));
    let hub = hub([source.clone()]);
    let local = Principal::local();
    let profile: Arc<str> = "lean".into();
    let (plain, lean) = (hub.view(&local, None), hub.view(&local, Some(&profile)));
    assert!(Arc::ptr_eq(&plain, &hub.view(&local, None)));
    assert!(Arc::ptr_eq(&lean, &hub.view(&local, Some(&"lean".into()))));
    assert!(!Arc::ptr_eq(&plain, &lean));
    assert!(!Arc::ptr_eq(&plain, &hub.view(&Principal::named("eve"), None)));
    // And so is the first page of a list: the very same bytes.
    let look = Look { principal: &local, profile: None, version: Version::LATEST };
    let page = async || hub.list(&look, ListKind::Tools, None).await.unwrap().as_bytes().as_ptr();
    assert_eq!(page().await, page().await);
    source.change(|listing| listing.tools.clear());
    list_names(&hub, ListKind::Tools).await;
    assert!(!Arc::ptr_eq(&plain, &hub.view(&local, None)));
}

#[tokio::test]
async fn a_modern_page_says_how_long_it_keeps() {
    let hub = hub([Arc::new(answering("a", &["x"]))]);
    let local = Principal::local();
    let look = Look { principal: &local, profile: None, version: Version::LATEST };
    let page = hub.list(&look, ListKind::Tools, None).await.unwrap();
    let page: serde_json::Value = page.to().unwrap();
    assert_eq!(page["resultType"], "complete");
    assert_eq!((&page["ttlMs"], &page["cacheScope"]), (&json!(5000), &json!("private")));
    assert_eq!(page["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "test");
}

#[tokio::test]
async fn a_tool_that_was_just_added_can_be_listed_and_called() {
    let source = Arc::new(answering("a", &["x"]).on_demand(|source, kind| {
        if kind == ListKind::Tools {
            source.change(|listing| {
                let known = listing.tools.iter().any(|tool| tool.name.as_str() == "found");
                listing.tools.extend((!known).then(|| Arc::new(tool_item("found"))));
            });
        }
    }));
    let hub = hub([source]);
    hub.view(&Principal::local(), None);
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["found", "x"]);
    drive(hub.start(call(client_legacy(), "found", json!({}))), []).await.complete();
}
