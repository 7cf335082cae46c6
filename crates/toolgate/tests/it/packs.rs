//! Packs that need a token: what they say without it, and what they do with it.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use serde_json::Value;

use crate::process::{Place, run};

const TOKEN: &str = "xoxb-sesame-open-1234";

fn listed(place: &Place) -> Vec<Value> {
    let ended = run(place.toolgate(&["tools", "list", "--all", "--json"]), b"");
    assert_eq!(ended.code, 0, "{ended:#?}");
    serde_json::from_str::<Value>(&ended.stdout).unwrap()["items"].as_array().unwrap().clone()
}

/// What a tool still needs, if it is not there.
#[track_caller]
fn needs(place: &Place, tool: &str) -> Option<String> {
    let listed = listed(place);
    let item = listed.iter().find(|item| item["definition"]["name"] == tool).unwrap();
    item.get("needs").map(|needs| needs.as_str().unwrap().to_owned())
}

fn set_secret(place: &Place, name: &str) {
    let ended = run(place.toolgate(&["secret", "set", name]), TOKEN.as_bytes());
    assert_eq!(ended.code, 0, "{ended:#?}");
}

/// A service that answers every request the same, with what it was asked in the error.
fn refusing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 8192];
            let length = stream.read(&mut head).unwrap();
            let head = String::from_utf8_lossy(&head[..length]).into_owned();
            let body = serde_json::json!({"ok": false, "error": "not_allowed", "message": head}).to_string();
            let answer = format!(
                "HTTP/1.1 403 No\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    url
}

#[test]
fn a_pack_says_what_it_needs_until_it_is_there() {
    let place = Place::new();
    assert_eq!(needs(&place, "github_list_issues").as_deref(), Some("set `github.token`"));
    assert!(needs(&place, "chat_send").unwrap().contains("`chat.slack.token`"));
    assert_eq!(needs(&place, "vault_search").as_deref(), Some("set `vault.root`"));
    assert!(needs(&place, "calendar_read").unwrap().contains("`calendar.feeds.NAME.url`"));
    let toml = "[github]\ntoken = '{secret:GITHUB_TOKEN}'\n[chat.slack]\ntoken = '{secret:SLACK_TOKEN}'\n";
    let place = Place::configured(toml);
    assert!(needs(&place, "github_list_issues").unwrap().contains("GITHUB_TOKEN"));
    set_secret(&place, "GITHUB_TOKEN");
    set_secret(&place, "SLACK_TOKEN");
    assert_eq!(needs(&place, "github_list_issues"), None);
    assert!(needs(&place, "chat_send").unwrap().contains("`chat.targets`"));
}

/// A feed whose one event is called like the address that it was asked at.
fn echoing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/private-sesame-0123456789abcdef/basic.ics", listener.local_addr().unwrap());
    let named = url.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let length = stream.read(&mut [0; 8192]).unwrap();
            assert!(length > 0);
            let body = format!(
                "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:{named}\r\n\
                 DTSTART:20260316T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
            );
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/calendar\r\nconnection: close\r\ncontent-length:";
            stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
        }
    });
    url
}

#[test]
fn the_address_of_a_feed_is_shown_nowhere_wherever_it_is_written() {
    let (good, bad) = (echoing(), refusing() + "/private-sesame-0123456789abcdef/basic.ics");
    for by_secret in [true, false] {
        for (url, code) in [(&good, 0), (&bad, 1)] {
            let written = if by_secret { "{secret:FEED}" } else { url.as_str() };
            let place = Place::configured(&format!("[calendar.feeds.work]\nurl = '{written}'\n"));
            if by_secret {
                let ended = run(place.toolgate(&["secret", "set", "FEED"]), url.as_bytes());
                assert_eq!(ended.code, 0, "{ended:#?}");
            }
            let ask = ["--log-level", "debug", "tools", "call", "calendar_read", "from=2026-03-16", "days=1"];
            let ended = run(place.toolgate(&ask), b"");
            assert_eq!(ended.code, code, "{ended:#?}");
            let told = format!("{ended:?}");
            assert!(!told.contains(url) && !told.contains("/private-sesame"), "{ended:#?}");
            assert!(code == 1 || told.contains("[REDACTED:"), "{ended:#?}");
            let ended = run(place.toolgate(&["config", "show"]), b"");
            assert!(ended.code == 0 && !ended.stdout.contains("sesame"), "{ended:#?}");
        }
    }
}

/// Every tool of every pack, by the snapshots of their definitions.
fn every_tool() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["packs", "opencode", "script", "browser"].map(|name| crates.join(name).join("snapshots"));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let names = files.map(|entry| entry.unwrap().path());
    let names = names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    // Those are of the catalog, and of no pack; and some are only there where they are wanted.
    let is_usual = |name: &String| !toolgate_browser::STYLES.contains(&name.as_str());
    names.filter(|name| !name.starts_with("tools_")).filter(is_usual).collect()
}

#[test]
fn every_tool_is_listed_with_what_its_pack_needs() {
    let names = |listed: &[Value]| -> BTreeSet<String> {
        listed.iter().map(|item| item["definition"]["name"].as_str().unwrap().to_owned()).collect()
    };
    let fresh = listed(&Place::new());
    assert_eq!(names(&fresh), every_tool());
    for item in &fresh {
        let is_lacking = matches!(item["source"].as_str().unwrap(), "vault" | "chat" | "calendar" | "github");
        assert_eq!(item.get("needs").is_some(), is_lacking, "{item}");
    }
    let none = listed(&Place::configured("packs = []\n"));
    assert_eq!(names(&none), every_tool());
    for item in &none {
        assert_eq!(item["needs"], format!("add `{}` to `packs`", item["source"].as_str().unwrap()));
    }
    let place = Place::configured("packs = ['github']\n");
    let shown = run(place.toolgate(&["tools", "list", "--all"]), b"").stdout;
    assert!(shown.contains("\nweb (not there: add `web` to `packs`)\n  web_fetch\n"), "{shown}");
    assert!(shown.contains("\ngithub (not there: set `github.token`)\n  github_"), "{shown}");
}

#[test]
fn a_token_is_shown_nowhere_wherever_it_is_written() {
    let url = refusing();
    for token in ["{secret:BOT}", TOKEN] {
        let place = Place::configured(&format!(
            "[chat]\ntargets = ['*']\n[chat.slack]\ntoken = '{token}'\nbase_url = '{url}'\n\
             [chat.telegram]\ntoken = '{token}'\nbase_url = '{url}'\n[github]\ntoken = '{token}'\nbase_url = '{url}'\n"
        ));
        set_secret(&place, "BOT");
        for call in [
            &["chat_send", "provider=slack", "target=channel:C012", "message=hi"][..],
            &["chat_send", "provider=telegram", "target=user:42", "message=hi"],
            &["github_list_issues", "owner=octo", "repo=repo"],
        ] {
            let ended =
                run(place.toolgate(&[&["--log-level", "debug", "tools", "call"], call].concat()), b"");
            assert_eq!(ended.code, 1, "{ended:#?}");
            assert!(!format!("{ended:?}").contains("sesame"), "{ended:#?}");
        }
        let ended = run(place.toolgate(&["config", "show"]), b"");
        assert!(ended.code == 0 && !ended.stdout.contains("sesame"), "{ended:#?}");
    }
}

#[test]
fn a_vault_is_there_once_its_folder_is_named() {
    let place = Place::configured("[vault]\nroot = 'notes'\n");
    std::fs::create_dir(place.path().join("notes")).unwrap();
    std::fs::write(place.path().join("notes/a.md"), "apples and pears").unwrap();
    assert_eq!(needs(&place, "vault_search"), None);
    let call = |arguments: &[&str]| {
        let ended = run(place.toolgate(&[&["tools", "call"], arguments].concat()), b"");
        assert_eq!(ended.code, 0, "{ended:#?}");
        ended.stdout
    };
    assert!(call(&["vault_search", "query=pears"]).contains("\"path\": \"a.md\""));
    call(&["vault_write", "path=a.md", "mode=edit", "passage=pears", "content=plums"]);
    assert_eq!(call(&["vault_read", "path=/vault/a"]).trim_end(), "apples and plums");
    let ended = run(place.toolgate(&["tools", "call", "vault_read", "path=.git/config"]), b"");
    assert!(ended.code == 1 && ended.stderr.contains("is hidden, and no part of the vault"), "{ended:#?}");
}
