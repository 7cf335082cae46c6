//! What is found first.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use toolgate_core::{Hub, Listing, Search, ToolItem};
use toolgate_testkit::{FakeSource, builder, tool_item};
use toolgate_wire::Raw;

use super::{found, searching, settings, source};

fn with_parameters(name: &str, about: &str, parameters: Value) -> ToolItem {
    let schema = json!({"type": "object", "properties": parameters});
    let definition = json!({"name": name, "description": about, "inputSchema": schema});
    ToolItem { raw: Raw::of(&definition), title: None, ..tool_item(name) }
}

fn office() -> Hub {
    let github = source(
        "github",
        &[
            ("github_create_issue", "Open a new issue in a repository."),
            ("github_list_issues", "List the issues of a repository."),
            ("github_create_pull_request", "Open a pull request."),
            ("github_search_code", "Search for code in all repositories."),
            ("github_getFileContents", "Get the contents of a file or folder of a repository."),
        ],
    );
    let files = source(
        "files",
        &[
            ("read_file", "Read the complete contents of a file from the file system."),
            ("write_file", "Create a new file or overwrite one that is there."),
            ("list_directory", "Get a detailed listing of all files in a path."),
            ("search_files", "Recursively search for files that match a pattern."),
        ],
    );
    let other = source(
        "misc",
        &[
            ("slack_post_message", "Post a message to a channel."),
            ("get_current_time", "Get the current time in a time zone."),
            ("translate", "将文本翻译成另一种语言。"),
            ("kalender", "Termine im Kalender prüfen."),
        ],
    );
    let mail = FakeSource::new("mail").with(|listing: &mut Listing| {
        let parameters = json!({
            "recipient": {"type": "string", "description": "Who gets it."},
            "options": {"type": "object", "properties": {"urgentFlag": {"type": "boolean"}}},
        });
        listing.tools.push(Arc::new(with_parameters("send", "Send it.", parameters)));
    });
    searching([github, files, other, mail])
}

#[tokio::test]
async fn the_tool_that_was_meant_comes_first() {
    let hub = office();
    for (query, first) in [
        ("read a file", "read_file"),
        ("read_file", "read_file"),
        ("readFile", "read_file"),
        ("READ FILE", "read_file"),
        ("reading files", "read_file"),
        ("create issue", "github_create_issue"),
        ("creating an issue on GitHub", "github_create_issue"),
        ("open a pull request", "github_create_pull_request"),
        ("pull reque", "github_create_pull_request"),
        ("file contents github", "github_getFileContents"),
        ("getfilecontents", "github_getFileContents"),
        ("search code", "github_search_code"),
        ("what time is it", "get_current_time"),
        ("send slack messages", "slack_post_message"),
        ("list directories", "list_directory"),
        ("翻译文本", "translate"),
        ("译", "translate"),
        ("KALENDER prüfen", "kalender"),
        ("recipient", "send"),
        ("urgent", "send"),
        ("slack", "slack_post_message"),
    ] {
        let found = found(&hub, query).await;
        assert_eq!(found.first().map(String::as_str), Some(first), "{query}: {found:?}");
    }
}

#[tokio::test]
async fn what_fits_nothing_is_not_found() {
    let hub = office();
    for query in ["zebra", "🦀", "---", "語", "q"] {
        assert_eq!(found(&hub, query).await, [""; 0], "{query}");
    }
}

#[tokio::test]
async fn the_order_is_always_the_same_and_equals_stand_in_the_order_of_the_catalog() {
    let hub = searching([
        source("b", &[("b_two", "Same words."), ("b_one", "Same words.")]),
        source("a", &[("a_one", "Same words.")]),
    ]);
    let expect = ["b_one", "b_two", "a_one"];
    for _ in 0..3 {
        assert_eq!(found(&hub, "same words").await, expect);
    }
}

#[tokio::test]
async fn a_question_of_any_length_and_kind_is_answered() {
    let hub = office();
    for query in ["x".repeat(100_000), "read ".repeat(10_000), "文".repeat(10_000), "\u{0}\u{301}\n".into()]
    {
        found(&hub, &query).await;
    }
}

#[tokio::test]
async fn a_tool_with_endless_words_is_taken_in_all_the_same() {
    let mut parameters = json!({});
    for number in 0..2_000 {
        parameters[format!("parameter{number}")] = json!({"description": "many words ".repeat(10)});
    }
    let long = with_parameters("long", &"word ".repeat(100_000), parameters);
    let hub = searching([
        FakeSource::new("a").with(|listing| listing.tools.push(Arc::new(long))),
        source("b", &[("short", "A word.")]),
    ]);
    assert_eq!(found(&hub, "word").await.len(), 2);
}

/// Tools of a large catalog, each with some words of its own.
fn many(count: usize) -> FakeSource {
    const WORDS: &[&str] = &[
        "create",
        "issue",
        "file",
        "message",
        "channel",
        "repository",
        "search",
        "table",
        "record",
        "query",
        "invoice",
        "customer",
        "calendar",
        "event",
        "branch",
        "deploy",
        "metric",
        "alert",
        "ticket",
        "page",
    ];
    let word = |number: usize, step: usize| WORDS[(number / step + number * step) % WORDS.len()];
    FakeSource::new("many").with(|listing| {
        for number in 0..count {
            let name = format!("{}_{}_{number}", word(number, 1), word(number, 7));
            let mut about = String::new();
            for step in 2..22 {
                write!(about, "{} ", word(number, step)).unwrap();
            }
            let parameters = json!({
                "id": {"type": "string", "description": about},
                "limit": {"type": "integer", "description": "How many to return at most."},
                (word(number, 3)): {"type": "string", "description": "What it is about."},
            });
            listing.tools.push(Arc::new(with_parameters(&name, &about, parameters)));
        }
    })
}

/// Shown by `--nocapture`; nothing is claimed of the time.
#[tokio::test]
async fn how_long_a_search_takes_is_shown() {
    for count in [1_000, 5_000] {
        let hub = builder([Arc::new(many(count))]).settings(settings(Search::Always)).build().unwrap();
        let begun = Instant::now();
        assert_eq!(found(&hub, "create invoice").await.len(), 10);
        let first = begun.elapsed();
        let begun = Instant::now();
        for query in
            ["create invoice", "search customer record", "deploy branch", "alert", "page of calendar"]
        {
            assert_eq!(found(&hub, query).await.len(), 10, "{query}");
        }
        let each = begun.elapsed() / 5;
        eprintln!("{count} tools: first search {} µs, then {} µs each", first.as_micros(), each.as_micros());
    }
}
