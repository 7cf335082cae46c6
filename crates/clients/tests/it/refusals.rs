//! A file that is broken is never written: the message says where and what to write instead.

use std::fs;

use toolgate_clients::{Client, Problem};

use crate::scene::{Scene, local};

/// `place` is line and column.
#[track_caller]
fn check(client: Client, content: impl AsRef<[u8]>, expect: &str) {
    let scene = Scene::new(client, &content);
    let problem = match scene.read() {
        Err(problem) => problem,
        Ok(file) => file.set("toolgate", &local()).unwrap_err(),
    };
    assert_eq!(shown(&scene, &problem), expect);
    assert_eq!(fs::read(scene.path()).unwrap(), content.as_ref());
    assert_eq!(scene.files(), ["config"]);
}

fn shown(scene: &Scene, problem: &Problem) -> String {
    problem.to_string().replace(&scene.path().display().to_string(), "FILE")
}

#[test]
fn broken_json_is_named_by_line_and_column() {
    let json = |text: &str, expect: &str| check(Client::Cursor, text, expect);
    json(
        "{\n  \"a\": 1\n  \"b\": 2\n}",
        "FILE:2:9: expected comma\nhint: write a `,` between the two values",
    );
    json("{\n  \"a\": \n}", "FILE:3:1: unexpected close brace\nhint: write a value before the `}`");
    json("{ \"a\": 1", "FILE:1:1: unterminated object\nhint: close the object with `}`");
    json(
        "{ \"é\": 'x' }",
        "FILE:1:8: single-quoted strings are not allowed\nhint: put names and texts between double quotes",
    );
    json(
        "{ a: 1 }",
        "FILE:1:3: expected string for object property\nhint: put names and texts between double quotes",
    );
    json(
        "{} {}",
        "FILE:1:4: text cannot contain more than one JSON value\nhint: keep one value: a file holds one object",
    );
    json("{ /* }", "FILE:1:3: unterminated comment block\nhint: close the comment with `*/`");
    json("\u{feff}{ \"a }", "FILE:1:3: unterminated string literal\nhint: close the text with `\"`");
    json(
        "[]",
        "FILE:1:1: the file must hold an object, not a list\nhint: let it begin with `{` and end with `}`",
    );
}

#[test]
fn a_list_of_servers_that_is_none_is_refused() {
    let json = |text: &str, expect: &str| check(Client::Cursor, text, expect);
    json(
        "{\n  \"mcpServers\": []\n}",
        "FILE:2:17: `mcpServers` must be an object, not a list\nhint: write `\"mcpServers\": {}`",
    );
    json(
        "{\"mcpServers\": null}",
        "FILE:1:16: `mcpServers` must be an object, not null\nhint: write `\"mcpServers\": {}`",
    );
    json(
        "{\"mcpServers\": {}, \"mcpServers\": {}}",
        "FILE:1:20: `mcpServers` is there twice, and it is not clear which one counts\nhint: remove one of the two",
    );
    json(
        "{\"mcpServers\": {\"toolgate\": {}, \"toolgate\": {}}}",
        "FILE:1:33: `toolgate` is there twice, and it is not clear which one counts\nhint: remove one of the two",
    );
    check(
        Client::VsCode,
        "{\"servers\": 1}",
        "FILE:1:13: `servers` must be an object, not a number\nhint: write `\"servers\": {}`",
    );
    check(
        Client::OpenCode,
        "{\"mcp\": true}",
        "FILE:1:9: `mcp` must be an object, not a boolean\nhint: write `\"mcp\": {}`",
    );
}

#[test]
fn broken_toml_is_named_by_line_and_column() {
    let toml = |text: &str, expect: &str| check(Client::Codex, text, expect);
    let hint = "hint: correct it, and run this again; nothing was written";
    toml(
        "a = 1\nb = \n",
        &format!("FILE:2:5: string values must be quoted, expected literal string\n{hint}"),
    );
    toml("a = 1\na = 2\n", &format!("FILE:2:1: duplicate key\n{hint}"));
    let each = "hint: write each server as a table of its own: `[mcp_servers.NAME]`";
    toml("mcp_servers = 1\n", &format!("FILE:1:15: `mcp_servers` must be a table\n{each}"));
    toml(
        "mcp_servers = {}\n",
        &format!("FILE:1:15: `mcp_servers` must be written as tables, not inline\n{each}"),
    );
    let own = "hint: write it as `[mcp_servers.toolgate]`, or remove it";
    toml(
        "mcp_servers.toolgate.command = 'x'\n",
        &format!("FILE:1:13: `mcp_servers.toolgate` is not written as a table\n{own}"),
    );
    toml(
        "[mcp_servers]\ntoolgate = 1\n",
        &format!("FILE:2:1: `mcp_servers.toolgate` is not written as a table\n{own}"),
    );
}

#[test]
fn what_is_no_text_is_refused() {
    let hint = "hint: save it as UTF-8 in an editor";
    check(Client::Cursor, b"{\n \"\xff\"}", &format!("FILE:2:3: is not a text in UTF-8\n{hint}"));
    check(Client::Codex, b"\xff\xfea\0", &format!("FILE:1:1: is not a text in UTF-8\n{hint}"));
}

#[test]
fn deep_nesting_is_refused_without_harm() {
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let problem = Scene::new(Client::Cursor, deep).read().unwrap_err();
    assert_eq!(problem.message(), "maximum nesting depth exceeded");
}
