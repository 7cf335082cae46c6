//! Answers that are too long for a client.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::broadcast;
use toolgate_core::{
    AuditQuery, AuditRow, Call, Client, Collection, Document, Hub, Kind, Outcome, Principal, Search,
    Settings, SharedStore, Store, Stored, Target, ToolItem, Verdict, Write, Written,
};
use toolgate_host::Clock;
use toolgate_testkit::{
    Expect, FakeFilter, FakeGate, FakeSource, MemoryStore, builder, call, client_legacy, client_modern,
    client_with, drive, first_round, template_item, text, tool_item,
};
use toolgate_wire::{Raw, Version};

const LIMIT: usize = 100;

fn settings() -> Settings {
    Settings { output_limit: Some(LIMIT), ..Settings::default() }
}

/// A tool that answers with the JSON in its argument `answer`.
fn source() -> Arc<FakeSource> {
    let answer = |permitted: toolgate_core::Permitted, _| {
        let answer = permitted.arguments().get("answer").unwrap();
        async move { Ok(Outcome::Complete(answer)) }
    };
    let promising = Raw::literal(r#"{"name":"promising","inputSchema":{},"outputSchema":{"type":"object"}}"#);
    let source = FakeSource::new("a")
        .tool("say", answer)
        .tool_as(ToolItem { raw: promising, ..tool_item("promising") }, answer)
        .tool("work", |_, run| async move {
            run.detach().await?;
            Ok(Outcome::Complete(text(&"x".repeat(500))))
        })
        .otherwise(|_, _| async { Ok(Outcome::Complete(text("of another source"))) });
    Arc::new(source.with(|listing| listing.templates.push(template_item("toolgate://results/{id}"))))
}

fn hub_on(store: SharedStore) -> Hub {
    builder([source()]).settings(settings()).results(store).build().unwrap()
}

fn hub() -> Hub {
    hub_on(Arc::new(MemoryStore::new()))
}

async fn say(hub: &Hub, tool: &str, answer: &Value) -> Value {
    drive(hub.start(call(client_legacy(), tool, json!({"answer": answer}))), []).await.complete()
}

fn reading(uri: &str, principal: Arc<Principal>) -> Call {
    Call::new(principal, client_legacy(), Target::Resource(uri.into()), Raw::of(&json!({"uri": uri})))
}

async fn read(hub: &Hub, uri: &str) -> Value {
    drive(hub.start(reading(uri, Principal::local())), []).await.complete()
}

/// The link at the end of an answer.
#[track_caller]
fn link(answer: &Value) -> String {
    let last = answer["content"].as_array().unwrap().last().unwrap();
    assert_eq!(last["type"], "resource_link", "{answer}");
    last["uri"].as_str().unwrap().to_owned()
}

fn texts(answer: &Value) -> Vec<&str> {
    answer["content"].as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect()
}

#[tokio::test]
async fn a_long_text_is_cut_and_can_be_read_whole() {
    let hub = hub();
    let long = "0123456789".repeat(50);
    let answer =
        say(&hub, "say", &json!({"content": [{"type": "text", "text": long}], "isError": false})).await;
    let uri = link(&answer);
    let expect = format!(
        "{}\n\n[cut: 400 of 500 bytes are missing; the resource {uri} holds the whole for an hour]",
        &long[..LIMIT]
    );
    assert_eq!(texts(&answer), [expect.as_str()]);
    assert_eq!((&answer["isError"], &answer["content"][1]["size"]), (&json!(false), &json!(500)));
    let whole = json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": long}]});
    assert_eq!(read(&hub, &uri).await, whole);
}

#[tokio::test]
async fn what_fits_goes_out_to_the_byte() {
    let hub = hub();
    for exact in [
        r#"{"content":[{"type":"text", "text":"short"}],"n":1e400}"#.to_owned(),
        format!(r#"{{"content":[{{"type":"text","text":"{}"}}], "x":[]}}"#, "é".repeat(50)),
        format!(r#"{{"content":[{{"type":"image","data":"{}"}}]}}"#, "A".repeat(500)),
        format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "\\n".repeat(100)),
        format!(r#"{{"content":"{}"}}"#, "A".repeat(500)),
        format!(r#"{{"other":"{}"}}"#, "A".repeat(500)),
    ] {
        let params = format!(r#"{{"name":"say","arguments":{{"answer":{exact}}}}}"#);
        let mut call = call(client_legacy(), "say", json!({}));
        call.params = Raw::parse(params.into()).unwrap();
        let Outcome::Complete(raw) = drive(hub.start(call), []).await.outcome else { panic!("not complete") };
        assert_eq!(raw.as_str(), exact);
    }
}

#[tokio::test]
async fn characters_stay_whole_and_blocks_without_text_stay() {
    let hub = hub();
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let file = json!({"type": "resource", "resource": {"uri": "x:y", "text": "f".repeat(80), "more": 1}});
    let first = json!({"type": "text", "text": "é".repeat(25), "annotations": {"priority": 1}});
    let late = json!({"type": "text", "text": "late"});
    let answer = say(&hub, "say", &json!({"content": [first, file, late, image], "_meta": {"a": 1}})).await;
    let uri = link(&answer);
    let content = answer["content"].as_array().unwrap();
    assert_eq!((&content[0], &content[2], content.len()), (&first, &image, 4));
    let kept = content[1]["resource"]["text"].as_str().unwrap();
    assert!(kept.starts_with(&format!("{}\n\n[cut: 34 of 134 bytes", "f".repeat(50))), "{kept}");
    assert_eq!((&content[1]["resource"]["more"], &answer["_meta"]["a"]), (&json!(1), &json!(1)));
    let whole = read(&hub, &uri).await["contents"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(whole, format!("{}{}late", "é".repeat(25), "f".repeat(80)));
    for (letter, bytes) in [("é", 2), ("文", 3), ("🦀", 4)] {
        let long = letter.repeat(100);
        let answer =
            say(&hub, "say", &json!({"content": [{"type": "text", "text": format!(".{long}")}]})).await;
        let kept = texts(&answer)[0].split("\n\n[cut").next().unwrap().to_owned();
        assert_eq!(kept, format!(".{}", letter.repeat((LIMIT - 1) / bytes)));
    }
}

#[tokio::test]
async fn structured_content_is_there_as_a_whole_or_not_at_all() {
    let hub = hub();
    let structured = json!({"items": vec![7; 200]});
    let short = [json!({"type": "text", "text": "short"})];
    let answer = say(&hub, "say", &json!({"content": short, "structuredContent": structured})).await;
    assert!(answer.get("structuredContent").is_none());
    let (uri, texts) = (link(&answer), texts(&answer));
    assert_eq!(texts[0], "short");
    assert!(
        texts[1].starts_with("[cut: the structured content is left out; the resource toolgate://"),
        "{texts:?}"
    );
    let whole = read(&hub, &uri).await;
    assert_eq!(whole["contents"][1]["mimeType"], "application/json");
    let kept: Value = serde_json::from_str(whole["contents"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(kept, structured);
    // A client that was promised it would refuse an answer without.
    let long = [json!({"type": "text", "text": structured.to_string()})];
    let answer = say(&hub, "promising", &json!({"content": long, "structuredContent": structured})).await;
    assert_eq!(answer["structuredContent"], structured);
    assert_eq!(read(&hub, &link(&answer)).await["contents"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn who_searched_was_promised_nothing() {
    let settings = Settings { search: Search::Always, ..settings() };
    let store = Arc::new(MemoryStore::new());
    let hub = builder([source()]).settings(settings).results(store).build().unwrap();
    let structured = json!({"items": vec![7; 200]});
    let arguments = json!({"answer": {"content": [], "structuredContent": structured}});
    let inner = json!({"name": "promising", "arguments": arguments});
    let answer = drive(hub.start(call(client_legacy(), "tools_call", inner)), []).await.complete();
    assert!(answer.get("structuredContent").is_none(), "{answer}");
    // Definitions are never cut: half of one is of no use.
    let names = json!({"names": ["say", "promising", "work"]});
    let answer = drive(hub.start(call(client_legacy(), "tools_describe", names)), []).await.complete();
    assert_eq!(answer["structuredContent"]["items"].as_array().unwrap().len(), 3);
    assert!(!texts(&answer)[0].contains("[cut"), "{answer}");
}

fn long_answer() -> Value {
    json!({"content": [{"type": "text", "text": "x".repeat(500)}]})
}

#[tokio::test]
async fn nobody_else_can_read_it_and_no_source_can_lay_claim_to_it() {
    let hub = hub();
    let uri = link(&say(&hub, "say", &long_answer()).await);
    let made_up = format!("toolgate://results/{}", "0".repeat(32));
    for (uri, who) in [
        (uri.as_str(), "eve"),
        (&made_up, "local"),
        ("toolgate://results/", "local"),
        ("toolgate://results/../x", "local"),
        (&uri.to_uppercase().replace("TOOLGATE://RESULTS", "toolgate://results"), "eve"),
    ] {
        let error = drive(hub.start(reading(uri, Principal::named(who))), []).await.failed();
        assert_eq!(error.kind(), Kind::ResourceNotFound, "{uri} {who}");
    }
    assert_eq!(read(&hub, &uri).await["contents"][0]["text"], "x".repeat(500));
}

#[tokio::test]
async fn another_replica_can_read_it_until_its_time_is_over() {
    let clock = Clock::manual(1_000_000);
    let store = Arc::new(MemoryStore::on(clock.clone()));
    let hub = |store: &Arc<MemoryStore>| {
        builder([source()]).settings(settings()).clock(clock.clone()).results(store.clone()).build().unwrap()
    };
    let (one, other) = (hub(&store), hub(&store));
    let uri = link(&say(&one, "say", &long_answer()).await);
    clock.advance(Duration::from_secs(3599));
    assert_eq!(read(&other, &uri).await["contents"][0]["text"], "x".repeat(500));
    clock.advance(Duration::from_secs(2));
    let error = drive(other.start(reading(&uri, Principal::local())), []).await.failed();
    assert_eq!(error.kind(), Kind::ResourceNotFound);
    // What has expired does not stand in the way of the next.
    link(&say(&one, "say", &long_answer()).await);
}

#[tokio::test]
async fn of_many_the_newest_are_kept() {
    let hub = hub();
    let mut uris = Vec::new();
    for _ in 0..40 {
        uris.push(link(&say(&hub, "say", &long_answer()).await));
    }
    for (number, uri) in uris.iter().enumerate() {
        let outcome = drive(hub.start(reading(uri, Principal::local())), []).await.outcome;
        assert_eq!(matches!(outcome, Outcome::Complete(_)), number >= 8, "{number}");
    }
}

#[tokio::test]
async fn answers_of_many_at_once_are_all_kept() {
    let hub = hub();
    let answers = (0..8).map(|_| async { link(&say(&hub, "say", &long_answer()).await) });
    for uri in futures_util::future::join_all(answers).await {
        read(&hub, &uri).await;
    }
}

#[tokio::test]
async fn what_a_filter_hides_is_not_revealed_by_the_cut() {
    let store = Arc::new(MemoryStore::new());
    let hub = builder([source()])
        .settings(settings())
        .results(store)
        .filter(Box::new(FakeFilter::new("hunter2", "[REDACTED]")))
        .build()
        .unwrap();
    for before in LIMIT - 9..LIMIT + 3 {
        let long = format!("{}hunter2{}", "x".repeat(before), "y".repeat(100));
        let answer = say(&hub, "say", &json!({"content": [{"type": "text", "text": long}]})).await;
        let whole = read(&hub, &link(&answer)).await;
        for shown in [texts(&answer)[0], whole["contents"][0]["text"].as_str().unwrap()] {
            assert!(!shown.contains("hunt"), "{shown}");
        }
        assert!(whole["contents"][0]["text"].as_str().unwrap().contains("[REDACTED]"));
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_kept_is_not_cut() {
    let store = Arc::new(MemoryStore::new());
    let hub = hub_on(store.clone());
    store.fail(true);
    assert_eq!(say(&hub, "say", &long_answer()).await, long_answer());
    let without = builder([source()]).settings(settings()).build().unwrap();
    assert_eq!(say(&without, "say", &long_answer()).await, long_answer());
}

/// A store that does not answer, or breaks down.
struct Stuck(bool);

impl Stuck {
    fn answer<'a, T: Send + 'a>(&self) -> Stored<'a, T> {
        assert!(!self.0, "broken");
        Box::pin(std::future::pending())
    }
}

impl Store for Stuck {
    fn get<'a>(&'a self, _: Collection, _: &'a str) -> Stored<'a, Option<Document>> {
        self.answer()
    }

    fn list(&self, _: Collection) -> Stored<'_, Vec<Document>> {
        self.answer()
    }

    fn write(&self, _: Vec<Write>) -> Stored<'_, Written> {
        self.answer()
    }

    fn changes(&self) -> broadcast::Receiver<Collection> {
        broadcast::channel(1).1
    }

    fn append_audit(&self, _: Vec<AuditRow>) -> Stored<'_, ()> {
        self.answer()
    }

    fn find_audit<'a>(&'a self, _: &'a AuditQuery) -> Stored<'a, Vec<AuditRow>> {
        self.answer()
    }

    fn prune_audit(&self, _: u64) -> Stored<'_, u64> {
        self.answer()
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_or_breaks_down_holds_up_no_answer() {
    for breaks in [false, true] {
        let hub = hub_on(Arc::new(Stuck(breaks)));
        assert_eq!(say(&hub, "say", &long_answer()).await, long_answer());
    }
}

#[tokio::test]
async fn nothing_is_cut_unless_a_limit_is_set() {
    let hub = builder([source()]).results(Arc::new(MemoryStore::new())).build().unwrap();
    assert_eq!(say(&hub, "say", &long_answer()).await, long_answer());
}

#[tokio::test]
async fn a_client_that_knows_no_links_gets_the_words_only() {
    let hub = hub();
    for (version, count) in [
        (Version::V2024_11_05, 1),
        (Version::V2025_03_26, 1),
        (Version::V2025_06_18, 2),
        (Version::V2026_07_28, 2),
    ] {
        let client: Arc<Client> = client_with(version, toolgate_core::Capabilities::default());
        let run = hub.start(call(client, "say", json!({"answer": long_answer()})));
        let answer = drive(run, []).await.complete();
        assert_eq!(answer["content"].as_array().unwrap().len(), count, "{version:?}");
        assert!(texts(&answer)[0].contains("toolgate://results/"), "{version:?}");
    }
}

#[tokio::test]
async fn who_was_permitted_the_answer_needs_no_permission_to_read_the_rest() {
    let denied = || Verdict::Deny(toolgate_core::Error::new(Kind::Denied, "no"));
    let gate = FakeGate::new(move |judged| if judged.tool.is_some() { Verdict::Pass } else { denied() });
    let store = Arc::new(MemoryStore::new());
    let hub = builder([source()]).settings(settings()).results(store).gate(Box::new(gate)).build().unwrap();
    let uri = link(&say(&hub, "say", &long_answer()).await);
    read(&hub, &uri).await;
}

#[tokio::test]
async fn the_answer_of_a_task_is_cut_too() {
    let hub = hub();
    let task = first_round(&hub, call(client_modern(), "work", json!({}))).await.task();
    let id = task["taskId"].as_str().unwrap().to_owned();
    let target = || Target::Task(toolgate_core::TaskOp::Get, id.as_str().into());
    let result = loop {
        let look = Call::new(Principal::local(), client_modern(), target(), Raw::of(&json!({"taskId": id})));
        let task = first_round(&hub, look).await.complete();
        if task["status"] == "completed" {
            break task["result"].clone();
        }
        tokio::task::yield_now().await;
    };
    read(&hub, &link(&result)).await;
}

#[tokio::test]
async fn with_a_limit_there_are_resources_to_read() {
    let info = || toolgate_core::ServerInfo { raw: Raw::literal("{}"), instructions: None };
    let offers = |limit: Option<usize>| {
        let settings = Settings { output_limit: limit, ..Settings::default() };
        let hub = Hub::builder(info(), toolgate_host::Tasks::new()).settings(settings);
        hub.results(Arc::new(MemoryStore::new())).build().unwrap().offers()
    };
    assert!(!offers(None).resources && offers(Some(1)).resources);
}
