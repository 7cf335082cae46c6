//! `toolgate check`: on ourselves, on real servers, and how it ends.

use serde_json::Value;

use crate::process::{Ended, Place, Server, TOOLGATE, peer, peers, run};
use crate::terminal::Terminal;

/// What was found: rule and level, each once.
fn rules(ended: &Ended) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    let items = report["items"].as_array().unwrap_or_else(|| panic!("{ended:?}"));
    let text = |item: &Value, key: &str| item[key].as_str().unwrap().to_owned();
    let mut rules: Vec<_> = items.iter().map(|item| (text(item, "level"), text(item, "rule"))).collect();
    rules.dedup();
    rules
}

#[track_caller]
fn clean(ended: &Ended, served: &str) {
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(served) && text.contains(" nothing found; "), "{text}");
    assert!(ended.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ended.stdout);
}

#[test]
fn we_are_clean_on_standard_streams_in_both_eras() {
    let place = Place::new();
    let ended = run(place.toolgate(&["check", "--strict", "--", TOOLGATE, "serve"]), b"");
    clean(&ended, "modern era (2026-07-28) over stdio and legacy era (2025-11-25) over stdio, 73 tools");
}

#[test]
fn we_are_clean_over_http_and_over_its_oldest_transport() {
    let server = Server::start_in(Place::new(), &[]);
    let place = Place::new();
    let ended = run(place.toolgate(&["check", "--strict", &server.url("/mcp")]), b"");
    clean(&ended, "modern era (2026-07-28) over HTTP and legacy era (2025-11-25) over HTTP, 73 tools");
    let ended = run(place.toolgate(&["check", "--strict", &server.url("/sse")]), b"");
    clean(&ended, "legacy era (2025-11-25) over HTTP+SSE, 73 tools");
}

/// Every finding here was looked at, and is true of the server.
#[test]
fn real_servers_are_told_what_is_true_of_them() {
    let place = Place::new();
    let git = run(
        {
            let mut command = place.command("git");
            command.args(["init", "--quiet"]);
            command
        },
        b"",
    );
    assert_eq!(git.code, 0, "{git:?}");
    let folder = place.path().to_str().unwrap();
    let node = |package: &str| {
        let script = peers().join("node_modules/@modelcontextprotocol").join(package).join("dist/index.js");
        vec!["node".to_owned(), script.to_str().unwrap().to_owned()]
    };
    let python = |program: &str| vec![peers().join(".venv/bin").join(program).to_str().unwrap().to_owned()];
    let check = |line: Vec<String>, more: &[&str], expect: &[(&str, &str)]| {
        let mut command = peer(&place, TOOLGATE);
        command.args(["check", "--json", "--timeout", "60000", "--"]).args(&line).args(more);
        let ended = run(command, b"");
        assert_eq!(ended.code, 0, "{ended:?}");
        let expect: Vec<_> =
            expect.iter().map(|(level, rule)| (level.to_string(), rule.to_string())).collect();
        assert_eq!(rules(&ended), expect, "{line:?}");
    };
    let (batch, described) = (("warning", "batch"), ("warning", "property-description"));
    let (bounds, title) = (("note", "number-bounds"), ("note", "tool-title"));
    let vague = ("note", "vague-words");
    check(node("server-everything"), &[], &[batch, described, bounds]);
    // It "handles various text encodings", and does not say which.
    check(node("server-filesystem"), &[folder], &[batch, vague, described, bounds]);
    check(node("server-memory"), &[], &[batch, described]);
    check(python("mcp-server-time"), &["--local-timezone", "UTC"], &[batch, title]);
    check(python("mcp-server-git"), &["--repository", folder], &[batch, title, described, bounds]);
}

/// A server in a few lines of shell: it answers every request with an empty result.
const EMPTY: &str = r#"echo "I am up" >&2; while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  [ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id"
done"#;

#[test]
fn a_bad_server_fails_with_its_last_words_and_a_report_for_build_servers() {
    let place = Place::new();
    let ended = run(place.toolgate(&["check", "--junit", "report.xml", "--", "sh", "-c", EMPTY]), b"");
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""), "{ended:?}");
    for expect in ["came about\n", "  error    opens", "mend: ", "  | I am up", "1 error; "] {
        assert!(ended.stdout.contains(expect), "{expect}: {}", ended.stdout);
    }
    let junit = std::fs::read_to_string(place.path().join("report.xml")).unwrap();
    assert!(junit.contains("failures=\"1\"") && junit.contains("<failure type=\"error\""), "{junit}");
}

#[test]
fn a_server_of_the_configuration_is_checked_with_its_secrets_hidden() {
    let table = "[mcp.odd]\ncommand = \"sh\"\nenv = { KEY = \"{secret:ODD_KEY}\" }\n";
    let script = format!("args = ['-c', '''echo \"key $KEY\" >&2; echo \"key $KEY\"; {EMPTY}''']\n");
    let place = Place::configured(&format!("{table}{script}"));
    let set = run(place.toolgate(&["secret", "set", "ODD_KEY"]), b"correct-horse-battery");
    assert_eq!(set.code, 0, "{set:?}");
    let ended = run(place.toolgate(&["check", "odd"]), b"");
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(
        ended.stdout.contains("stdout-pure") && ended.stdout.contains("key [REDACTED:ODD_KEY]"),
        "{ended:?}"
    );
    assert!(!ended.stdout.contains("correct-horse"), "{ended:?}");
}

#[test]
fn what_cannot_be_checked_is_a_mistake_of_usage() {
    let place = Place::configured("[mcp.notes]\ncommand = \"no-such-program\"\n");
    let check = |arguments: &[&str], expect: &str| {
        let ended = run(place.toolgate(&[&["check"], arguments].concat()), b"");
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains(expect), "{ended:?}");
    };
    check(&[], "NAME|URL");
    check(&["nots"], "did you mean `notes`?");
    check(&["notes"], "there is no program `no-such-program` on the search path");
    check(
        &["http://127.0.0.1:1/mcp"],
        "`http://127.0.0.1:1/mcp` cannot be checked: it cannot be connected to",
    );
    check(&["--", "/no/such/program"], "cannot be started");
    check(&["notes", "--", "sh"], "cannot be used with");
}

#[test]
fn a_server_on_this_machine_is_not_reached_through_the_proxy_of_the_environment() {
    let server = Server::start_in(Place::configured("packs = [\"memory\"]\n"), &[]);
    let place = Place::new();
    let mut command = place.toolgate(&["check", "--strict", &server.url("/mcp")]);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        // Nobody listens there.
        command.env(name, "http://127.0.0.1:1");
    }
    clean(&run(command, b""), "over HTTP");
}

/// A token that our own server wants to see.
const TOKEN: &str = "a long enough word";

#[test]
fn a_server_that_is_signed_in_to_is_also_checked_with_a_token_that_is_typed() {
    let server = Server::start_in(
        Place::configured(&format!("packs = [\"memory\"]\n[http]\ntoken = \"{TOKEN}\"\n")),
        &[],
    );
    let own = format!("[mcp.own]\nurl = \"{}\"\noauth = true\n", server.url("/mcp"));
    let kept = format!(
        "[mcp.kept]\nurl = \"{}\"\nheaders = {{ authorization = \"Bearer not-the-token\" }}\n",
        server.url("/mcp")
    );
    let place = Place::configured(&format!("{own}{kept}"));
    let fails = |arguments: &[&str], expect: &str| {
        let ended = run(place.toolgate(&[&["check"], arguments].concat()), b"");
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains(expect), "{ended:?}");
    };
    fails(&["own"], "hint: sign in with `toolgate mcp auth own`, or else give it a header");
    // Who says already who they are need not sign in.
    fails(&["kept"], "hint: give it a header");
    // What is wrong is told under the name of the server.
    fails(&["own", "--header", "X: two\nlines"], "`mcp.own.headers` has `X`, which cannot be a header");
    for name in ["own", "kept"] {
        let header = format!("Authorization: Bearer {TOKEN}");
        clean(&run(place.toolgate(&["check", "--strict", name, "--header", &header]), b""), "over HTTP");
    }
}

#[test]
fn what_a_server_says_of_a_conversation_that_did_not_come_about_hides_secrets_too() {
    // It opens the legacy era in its newest version only, and says why in words that hold what it was given.
    let script = r#"while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p'); [ -n "$id" ] || continue
  case "$line" in
    *2025-11-25*|*1999-01-01*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"odd","version":"1"}}}\n' "$id";;
    *initialize*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"not with %s"}}\n' "$id" "$KEY";;
    *ping*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id";;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id";;
  esac
done"#;
    let place = Place::configured(&format!(
        "[mcp.odd]\ncommand = \"sh\"\nenv = {{ KEY = \"{{secret:ODD_KEY}}\" }}\nargs = ['-c', '''{script}''']\n"
    ));
    let set = run(place.toolgate(&["secret", "set", "ODD_KEY"]), b"correct-horse-battery");
    assert_eq!(set.code, 0, "{set:?}");
    let ended = run(place.toolgate(&["check", "odd", "--json", "--junit", "report.xml"]), b"");
    let junit = std::fs::read_to_string(place.path().join("report.xml")).unwrap();
    for text in [&ended.stdout, &junit] {
        assert!(text.contains("not with [REDACTED:ODD_KEY]") && !text.contains("correct-horse"), "{text}");
    }
}

#[test]
fn the_rules_are_listed_a_sentence_each() {
    let place = Place::new();
    let list = run(place.toolgate(&["check", "--list-rules", "--json"]), b"");
    let items: Value = serde_json::from_str(&list.stdout).unwrap();
    let ids: Vec<&str> =
        items["items"].as_array().unwrap().iter().map(|item| item["rule"].as_str().unwrap()).collect();
    assert!(ids.len() > 50 && ids.contains(&"stdout-pure"), "{ids:?}");
    let text = run(place.toolgate(&["check", "--list-rules"]), b"").stdout;
    assert!(ids.iter().all(|id| text.contains(&format!("  {id}\n"))), "{text}");
    // The page names every group.
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/check.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    for item in items["items"].as_array().unwrap() {
        let group = item["group"].as_str().unwrap();
        assert!(guide.contains(&format!("`{group}`")), "the guide does not name `{group}`");
    }
}

#[test]
fn who_looks_at_a_terminal_sees_what_is_tried() {
    let place = Place::new();
    let (code, screen) = Terminal::run(60, place.toolgate(&["check", "--", "sh", "-c", EMPTY]));
    assert_eq!(code, Some(1), "{screen:?}");
    assert!(screen.contains("check: asking which era it speaks"), "{screen:?}");
}
