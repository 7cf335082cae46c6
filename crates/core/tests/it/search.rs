//! Large catalogs: three tools instead of all definitions.

mod detour;
mod ranking;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::{
    Change, Gate, Hints, Hub, InputCheck, Judged, Judgement, Kind, ListKind, Look, Outcome, Principal,
    Search, Settings, ToolItem, Verdict, Viewer, search_tools,
};
use toolgate_testkit::{
    Driven, Expect, FakeGate, FakeSource, builder, call, client_legacy, client_modern, drive, list,
    list_names, text, tool_item,
};
use toolgate_wire::{Raw, Version};

const THREE: [&str; 3] = ["tools_search", "tools_describe", "tools_call"];

fn settings(search: Search) -> Settings {
    Settings { search, ..Settings::default() }
}

fn searching(sources: impl IntoIterator<Item = FakeSource>) -> Hub {
    let sources = sources.into_iter().map(Arc::new);
    builder(sources).settings(settings(Search::Always)).build().unwrap()
}

/// A tool with a description.
fn described(name: &str, description: &str) -> ToolItem {
    let definition = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
    ToolItem { raw: Raw::of(&definition), ..tool_item(name) }
}

fn answering(source: FakeSource, item: ToolItem) -> FakeSource {
    let name = item.name.to_string();
    source.tool_as(item, move |_, _| {
        let name = name.clone();
        async move { Ok(Outcome::Complete(text(&name))) }
    })
}

fn source(name: &str, tools: &[(&str, &str)]) -> FakeSource {
    tools
        .iter()
        .fold(FakeSource::new(name), |source, (name, about)| answering(source, described(name, about)))
}

async fn use_tool(hub: &Hub, tool: &str, arguments: Value) -> Driven {
    let driven = drive(hub.start(call(client_legacy(), tool, arguments)), []).await;
    let item = search_tools().into_iter().find(|item| item.name.as_str() == tool);
    let schema = item.and_then(|item| item.raw.get("outputSchema"));
    if let (Some(schema), Outcome::Complete(result)) = (schema, &driven.outcome)
        && let Some(structured) = result.get("structuredContent")
    {
        InputCheck::new(schema.to().unwrap()).check(&structured).unwrap();
    }
    driven
}

/// The names that a question finds, best first.
async fn found(hub: &Hub, query: &str) -> Vec<String> {
    let answer = use_tool(hub, "tools_search", json!({"query": query})).await.complete();
    let items = answer["structuredContent"]["items"].as_array().unwrap().clone();
    items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn three_tools_are_listed_and_every_tool_is_found_described_and_called() {
    let hub = searching([source("files", &[("read_file", "Read a file."), ("write_file", "Write a file.")])]);
    assert_eq!(list_names(&hub, ListKind::Tools).await, THREE);
    assert_eq!(found(&hub, "read").await, ["read_file"]);
    let described = use_tool(&hub, "tools_describe", json!({"names": ["write_file"]})).await.complete();
    assert_eq!(described["structuredContent"]["items"][0]["description"], "Write a file.");
    for client in [client_legacy(), client_modern()] {
        let inner = json!({"name": "read_file", "arguments": {"path": "x"}});
        let answer = drive(hub.start(call(client, "tools_call", inner)), []).await.complete();
        assert_eq!(answer["content"][0]["text"], "read_file");
    }
    // A name that is known already needs no detour.
    let answer = use_tool(&hub, "write_file", json!({})).await.complete();
    assert_eq!(answer["content"][0]["text"], "write_file");
}

#[tokio::test]
async fn without_search_there_are_no_such_tools() {
    let hub = builder([Arc::new(source("a", &[("x", "")]))]).build().unwrap();
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["x"]);
    for name in THREE {
        let error = use_tool(&hub, name, json!({"name": "x", "query": "x", "names": ["x"]})).await.failed();
        assert_eq!(error.kind(), Kind::UnknownTarget, "{name}");
    }
}

#[tokio::test]
async fn what_is_found_says_where_it_comes_from_and_what_it_does() {
    let item = ToolItem {
        hints: Hints { read_only: true, open_world: true, ..Hints::default() },
        ..described("get_page", "Get a page.\nIt may be long. Very long.")
    };
    let hub = searching([answering(FakeSource::new("web"), item), source("b", &[("other", "")])]);
    let answer = use_tool(&hub, "tools_search", json!({"query": "page"})).await.complete();
    let found = &answer["structuredContent"];
    let expect = json!({
        "name": "get_page", "description": "Get a page.", "source": "web", "hints": ["readOnly", "openWorld"],
    });
    assert_eq!((&found["items"], &found["total"]), (&json!([expect]), &json!(1)));
    assert!(found.get("sources").is_none());
    let answer = use_tool(&hub, "tools_search", json!({"query": "zebra"})).await.complete();
    assert_eq!(answer["structuredContent"], json!({"items": [], "total": 0, "sources": ["web", "b"]}));
    let listed = list(&hub, ListKind::Tools, None).await;
    let about = listed["tools"][0]["description"].as_str().unwrap();
    assert!(about.ends_with(" There are tools of: web, b."), "{about}");
}

#[tokio::test]
async fn as_many_are_returned_as_wanted_and_of_one_source_if_wanted() {
    let many: Vec<String> = (0..30).map(|number| format!("item_{number:02}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "An item.")).collect();
    let hub = searching([source("a", &many), source("b", &[("b_item", "An item of b.")])]);
    for (arguments, count, total) in [
        (json!({"query": "item"}), 10, 31),
        (json!({"query": "item", "limit": 3}), 3, 31),
        (json!({"query": "item", "limit": 50}), 31, 31),
        (json!({"query": "item", "source": "b"}), 1, 1),
        (json!({"query": "item", "source": "none"}), 0, 0),
        (json!({"query": " "}), 10, 31),
        (json!({"query": "", "source": "b"}), 1, 1),
    ] {
        let answer = use_tool(&hub, "tools_search", arguments.clone()).await.complete();
        let found = &answer["structuredContent"];
        let shown = found["items"].as_array().unwrap().len();
        assert_eq!((shown, &found["total"]), (count, &json!(total)), "{arguments}");
    }
    for wrong in [
        json!({}),
        json!({"query": 1}),
        json!({"query": "x", "limit": 0}),
        json!({"query": "x", "limit": 51}),
        json!({"query": "x", "more": true}),
    ] {
        let error = use_tool(&hub, "tools_search", wrong.clone()).await.failed();
        assert_eq!(error.kind(), Kind::InvalidInput, "{wrong}");
    }
}

#[tokio::test]
async fn a_definition_is_described_to_the_byte() {
    let exact =
        r#"{"name":"odd", "inputSchema":{"type":"object","x":[9007199254740993,1.0,1e400]},"é":null}"#;
    let item = ToolItem { raw: Raw::literal(exact), ..tool_item("odd") };
    let hub = searching([answering(FakeSource::new("a"), item)]);
    let call = call(client_legacy(), "tools_describe", json!({"names": ["odd", "add", "odd"]}));
    let Outcome::Complete(raw) = drive(hub.start(call), []).await.outcome else { panic!("not complete") };
    let items = raw.path(&["structuredContent", "items"]).unwrap();
    assert_eq!(items.as_str(), format!("[{exact},{exact}]"));
    let unknown = raw.path(&["structuredContent", "unknown"]).unwrap();
    assert_eq!(unknown.as_str(), r#"[{"name":"add","nearest":[]}]"#);
}

#[tokio::test]
async fn a_name_that_no_tool_has_is_a_failure_the_model_can_learn_from() {
    let hub = searching([source("files", &[("read_file", "Read a file."), ("remove_file", "Remove it.")])]);
    #[track_caller]
    fn check(driven: Driven, hint: &str) {
        let error = driven.failed();
        assert_eq!(error.kind(), Kind::NotFound, "{error}");
        assert!(error.next_step().unwrap().contains(hint), "{error:?}");
    }
    let asked = async |tool, arguments| use_tool(&hub, tool, arguments).await;
    check(asked("tools_call", json!({"name": "read_fil"})).await, "did you mean `read_file`");
    check(asked("tools_call", json!({"name": "fileRead"})).await, "did you mean `read_file`");
    check(asked("tools_call", json!({"name": "zebra"})).await, "call `tools_search`");
    check(asked("tools_call", json!({"name": "not a name"})).await, "call `tools_search`");
    check(asked("tools_call", json!({"name": "tools_call"})).await, "`tools_search`");
    check(asked("tools_describe", json!({"names": ["read_fill"]})).await, "did you mean `read_file`");
    for wrong in [
        json!({}),
        json!({"name": 1}),
        json!({"name": "read_file", "arguments": "{}"}),
        json!({"name": "read_file", "arguments": [1]}),
        json!({"name": "read_file", "path": "flat"}),
    ] {
        let error = asked("tools_call", wrong.clone()).await.failed();
        assert_eq!(error.kind(), Kind::InvalidInput, "{wrong}");
    }
}

#[tokio::test]
async fn what_a_caller_may_not_see_is_neither_found_nor_described_nor_called() {
    let source = Arc::new(source("a", &[("open_door", "Open the door."), ("open_safe", "Open the safe.")]));
    let hub = builder([source.clone()])
        .settings(settings(Search::Always))
        .gate(Box::new(FakeGate::showing(|_, tool| tool.name.as_str() != "open_safe")))
        .build()
        .unwrap();
    assert_eq!(found(&hub, "open safe").await, ["open_door"]);
    assert_eq!(found(&hub, "open_safe").await, ["open_door"]);
    for (tool, arguments) in
        [("tools_describe", json!({"names": ["open_safe"]})), ("tools_call", json!({"name": "open_safe"}))]
    {
        let error = use_tool(&hub, tool, arguments).await.failed();
        assert_eq!(error.message(), "unknown tool `open_safe`", "{tool}");
        assert!(!error.next_step().unwrap_or_default().contains("open_safe"), "{tool}");
    }
    assert_eq!(source.calls(), 0);
}

#[tokio::test]
async fn a_tool_of_a_source_with_such_a_name_is_searched_for_as_any_other() {
    let own = || source("tools", &[("tools_search", "Search a toolbox."), ("tools_call", "Call a plumber.")]);
    let hub = searching([own()]);
    assert_eq!(list_names(&hub, ListKind::Tools).await, THREE);
    assert_eq!(found(&hub, "toolbox").await, ["tools_search"]);
    for name in ["tools_search", "tools_call"] {
        let answer = use_tool(&hub, "tools_call", json!({"name": name})).await.complete();
        assert_eq!(answer["content"][0]["text"], name);
    }
    // Where ours are not listed, theirs have their names.
    let hub = builder([Arc::new(own())]).settings(settings(Search::Above(5))).build().unwrap();
    for name in ["tools_search", "tools_call"] {
        assert_eq!(use_tool(&hub, name, json!({})).await.complete()["content"][0]["text"], name);
    }
}

#[tokio::test]
async fn a_catalog_is_searched_once_it_has_grown_and_who_has_begun_to_search_can_go_on() {
    let source = Arc::new(source("a", &[("one", ""), ("two", "")]));
    let hub = builder([source.clone()]).settings(settings(Search::Above(2))).build().unwrap();
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["one", "two"]);
    source.change(|listing| listing.tools.push(Arc::new(tool_item("three"))));
    assert_eq!(list_names(&hub, ListKind::Tools).await, THREE);
    source.change(|listing| listing.tools.truncate(2));
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["one", "two"]);
    assert_eq!(found(&hub, "two").await, ["two"]);
    let answer = use_tool(&hub, "tools_call", json!({"name": "two"})).await.complete();
    assert_eq!(answer["content"][0]["text"], "two");
}

/// Profiles that search, or do not.
struct Profiles;

impl Gate for Profiles {
    fn name(&self) -> &'static str {
        "profiles"
    }

    fn judge(&self, _: Judged<'_>) -> Judgement {
        Verdict::Pass.into()
    }

    fn searches(&self, viewer: Viewer<'_>) -> Option<bool> {
        viewer.profile.map(|profile| profile == "search")
    }
}

#[tokio::test]
async fn a_gate_says_who_searches_and_else_it_is_as_set() {
    for (search, plain) in [(Search::Never, 1), (Search::Always, 3)] {
        let hub = builder([Arc::new(source("a", &[("x", "")]))])
            .settings(settings(search))
            .gate(Box::new(Profiles))
            .build()
            .unwrap();
        for (profile, count) in [(None, plain), (Some("search"), 3), (Some("list"), 1)] {
            let (profile, principal) = (profile.map(Arc::from), Principal::local());
            let look = Look { principal: &principal, profile: profile.as_ref(), version: Version::LATEST };
            let page: Value = hub.list(&look, ListKind::Tools, None).await.unwrap().to().unwrap();
            assert_eq!(page["tools"].as_array().unwrap().len(), count, "{search:?} {profile:?}");
            assert_eq!(page["resultType"], "complete");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn clients_are_told_when_they_begin_to_search() {
    let hub = builder([Arc::new(source("a", &[("x", "")]))]).build().unwrap();
    let mut changes = hub.changes(&Principal::local());
    list_names(&hub, ListKind::Tools).await;
    hub.set_settings(settings(Search::Always));
    let told = tokio::time::timeout(Duration::from_secs(5), changes.next()).await.unwrap();
    assert!(matches!(told, Some(Change::Listed(_, ListKind::Tools))), "{told:?}");
    assert_eq!(list_names(&hub, ListKind::Tools).await, THREE);
}

#[tokio::test]
async fn a_list_that_is_searched_has_one_page() {
    let small = Settings { page_size: 1, ..settings(Search::Never) };
    let hub = builder([Arc::new(source("a", &[("x", ""), ("y", "")]))]).settings(small).build().unwrap();
    let cursor = list(&hub, ListKind::Tools, None).await["nextCursor"].as_str().unwrap().to_owned();
    hub.set_settings(Settings { page_size: 1, ..settings(Search::Always) });
    assert_eq!(list_names(&hub, ListKind::Tools).await, THREE);
    let principal = Principal::local();
    let look = Look { principal: &principal, profile: None, version: Version::LATEST_LEGACY };
    let error = hub.list(&look, ListKind::Tools, Some(&cursor)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidParams);
}

#[tokio::test]
async fn what_searching_saves_can_be_told() {
    let many: Vec<String> = (0..200).map(|number| format!("item_{number}")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "Some words on it.")).collect();
    let hub = searching([source("a", &many)]);
    let view = hub.view(&Principal::local(), None);
    let all: usize = view.tools().map(|tool| tool.raw.as_bytes().len()).sum();
    assert!(view.searches() && view.listed_bytes() * 4 < all, "{} {all}", view.listed_bytes());
    hub.set_settings(settings(Search::Never));
    let view = hub.view(&Principal::local(), None);
    assert_eq!((view.searches(), view.listed_bytes()), (false, all));
}
