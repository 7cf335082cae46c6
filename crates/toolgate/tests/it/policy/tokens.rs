//! Tokens: made and revoked by a command while the server runs.

use serde_json::json;

use super::Desk;
use crate::process::until;

const TOML: &str = r#"
[http]
require_token = true

[roles.reader]
may_use = ["workspace_read", "workspace_list"]

[principals.ci]
profile = "notes"

[profiles.notes]
shows = ["memory_*"]
"#;

pub(super) fn create(desk: &Desk, arguments: &[&str]) -> (String, String) {
    let made = desk.json(&[&["token", "create"], arguments].concat());
    let word = |key: &str, value: &serde_json::Value| value[key].as_str().unwrap().to_owned();
    (word("token", &made), word("id", &made["info"]))
}

/// The part of a token that nobody may keep; it may hold any number of `_`.
pub(super) fn secret(token: &str) -> &str {
    token.strip_prefix("tg_").and_then(|rest| Some(rest.split_once('_')?.1)).unwrap()
}

pub(super) fn status(desk: &Desk, token: &str) -> u16 {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    desk.server.post(ping).header("Authorization", format!("Bearer {token}")).send().status
}

#[test]
fn a_token_lets_in_until_it_is_revoked_and_is_not_shown_again() {
    let desk = Desk::start(TOML);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(desk.server.post(ping).send().status, 401);
    let (token, id) = create(&desk, &["alice"]);
    until("the token is known", || status(&desk, &token) == 200);
    let listed = desk.command(&["token", "list", "--json"]).stdout;
    assert!(listed.contains(&id) && !listed.contains(secret(&token)), "{listed}");
    assert_eq!(desk.command(&["token", "revoke", &id]).code, 0);
    until("the token is worthless", || status(&desk, &token) == 401);
    for file in std::fs::read_dir(desk.home.join(".local/share/toolgate")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        let secret = secret(&token).as_bytes();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret), "only its hash is kept");
    }
}

#[test]
fn a_token_is_hidden_in_what_tools_answer() {
    let desk = Desk::start("");
    let (token, _) = create(&desk, &["alice"]);
    std::fs::write(desk.home.join("w/client.json"), format!(r#"{{"Authorization":"Bearer {token}"}}"#))
        .unwrap();
    let read = || desk.text("workspace_read", &json!({"path": "client.json"}));
    until("the token is hidden", || read() == r#"{"Authorization":"Bearer [REDACTED:TOKEN]"}"#);
    let called = desk.command(&["tools", "call", "workspace_read", "path=client.json", "--workspace", "w"]);
    assert!(
        called.stdout.contains("[REDACTED:TOKEN]") && !called.stdout.contains(&token),
        "{}",
        called.stdout
    );
}

#[test]
fn a_principal_sees_and_may_use_what_its_roles_and_profile_say() {
    let desk = Desk::start(TOML);
    let (reader, _) = create(&desk, &["bob", "--role", "reader"]);
    let (ci, _) = create(&desk, &["ci"]);
    until("the tokens are known", || status(&desk, &ci) == 200);
    assert_eq!(desk.tools("/mcp", Some(&reader)), ["workspace_list", "workspace_read"]);
    assert_eq!(desk.tools("/mcp", Some(&ci)), ["memory_read", "memory_write"]);
}

#[test]
fn a_token_that_cannot_be_made_says_why() {
    let desk = Desk::start("");
    for (arguments, code) in [
        (&["token", "create", "local"][..], 2),
        (&["token", "create", "no spaces"], 2),
        (&["token", "create", "a", "--expires", "soon"], 2),
        (&["token", "revoke", "nothing"], 1),
    ] {
        let ended = desk.command(arguments);
        assert_eq!(ended.code, code, "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stderr.is_empty());
    }
}
