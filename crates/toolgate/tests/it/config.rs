//! `toolgate config`: what is in force and why, and files that are changed without harm.

mod reload;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::process::{Ended, Place, run};

fn config(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.toolgate(&["config"]);
    command.args(arguments);
    command
}

/// What a command says: standard output, then standard error, then its exit code unless that is 0.
fn said(place: &Place, command: Command) -> String {
    let Ended { code, stdout, stderr } = run(command, b"");
    let code = if code == 0 { String::new() } else { format!("exit {code}\n") };
    format!("{stdout}{stderr}{code}").replace(&place.path().display().to_string(), "PLACE")
}

#[track_caller]
fn says(place: &Place, arguments: &[&str]) -> String {
    said(place, config(place, arguments))
}

fn file(place: &Place) -> String {
    fs::read_to_string(place.path().join("toolgate.toml")).unwrap()
}

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn every_value_is_shown_with_where_it_comes_from() {
    let place = Place::configured(
        "packs = [\"memory\"]\n[http]\nport = 4000\ntoken = \"sixteen and more letters\"\n",
    );
    fs::write(place.path().join("opencode.json"), "{ \"logLevel\": \"WARN\" }").unwrap();
    let mut command = config(&place, &["show", "--workspace", "work"]);
    command.env("MCP_CORS_ORIGINS", "https://a.example,https://b.example").env("TOOLGATE_COLOUR", "1");
    command.env("TOOLGATE_DATA_DIR", "/data");
    insta::assert_snapshot!(said(&place, command));
}

#[test]
fn without_any_file_the_defaults_are_shown() {
    let place = Place::new();
    let mut command = config(&place, &["show"]);
    command.env("TOOLGATE_DATA_DIR", "/data");
    insta::assert_snapshot!(said(&place, command));
}

#[test]
fn one_key_or_one_table_can_be_shown() {
    let place = Place::configured("[log]\nlevel = 'debug'\n");
    insta::assert_snapshot!(says(&place, &["show", "log"]), @r#"
    log.format = "text"     # default
    log.level = "debug"     # PLACE/toolgate.toml:2:9
    log.timestamps = false  # default
    "#);
    insta::assert_snapshot!(says(&place, &["show", "log.level"]), @r#"log.level = "debug"  # PLACE/toolgate.toml:2:9"#);
    insta::assert_snapshot!(says(&place, &["show", "log.levle"]), @r"
    error: unknown key `log.levle`
    hint: did you mean `log.level`?
    exit 2
    ");
    insta::assert_snapshot!(says(&place, &["show", "zebra"]), @r"
    error: unknown key `zebra`
    hint: run `toolgate config show` to see all of them
    exit 2
    ");
}

#[test]
fn values_are_shown_as_json_and_secrets_are_not() {
    let place = Place::configured("http.token = 'sixteen and more letters'\nhttp.port = 1\n");
    let mut command = config(&place, &["show", "http", "--json"]);
    command.env("MCP_HTTP_HOST", "::1");
    let ended = run(command, b"");
    assert!(!ended.stdout.contains("letters"), "{}", ended.stdout);
    let shown: Value = serde_json::from_str(&ended.stdout).unwrap();
    let item = |key: &str| {
        shown["items"].as_array().unwrap().iter().find(|item| item["key"] == key).unwrap().clone()
    };
    let path = place.path().join("toolgate.toml");
    let at = |line: u8| json!({ "kind": "file", "path": path, "line": line, "column": if line == 1 { 14 } else { 13 } });
    assert_eq!(shown["file"], json!(path));
    assert_eq!(
        item("http.port"),
        json!({ "key": "http.port", "value": 1, "hidden": false, "origin": at(2) })
    );
    assert_eq!(
        item("http.token"),
        json!({ "key": "http.token", "value": null, "hidden": true, "origin": at(1) })
    );
    let variable = json!({ "kind": "variable", "name": "MCP_HTTP_HOST" });
    assert_eq!(
        item("http.bind"),
        json!({ "key": "http.bind", "value": "::1", "hidden": false, "origin": variable })
    );
    assert_eq!(item("http.sessions")["origin"], json!({ "kind": "default" }));
}

#[test]
fn init_writes_a_file_of_comments_and_overwrites_none() {
    let place = Place::new();
    insta::assert_snapshot!(says(&place, &["init"]), @"wrote `toolgate.toml`");
    assert_eq!(mode(place.path().join("toolgate.toml")), 0o600);
    insta::assert_snapshot!("the_commented_file", file(&place));
    insta::assert_snapshot!(says(&place, &["check"]), @"`PLACE/toolgate.toml` is right");

    fs::write(place.path().join("toolgate.toml"), "# mine").unwrap();
    insta::assert_snapshot!(says(&place, &["init"]), @r"
    error: `toolgate.toml` is there already
    hint: change one key with `toolgate config set`, or overwrite the file with `--force`
    exit 2
    ");
    assert_eq!(file(&place), "# mine");
    insta::assert_snapshot!(says(&place, &["init", "--force"]), @r"
    kept the old file as `toolgate.toml.bak`
    wrote `toolgate.toml`
    ");
    assert!(file(&place).starts_with("# Toolgate's configuration"));
    assert_eq!(fs::read_to_string(place.path().join("toolgate.toml.bak")).unwrap(), "# mine");
}

#[test]
fn init_can_write_elsewhere_and_says_what_it_hides() {
    let place = Place::new();
    insta::assert_snapshot!(says(&place, &["init", ".config/toolgate/toolgate.toml"]), @"wrote `.config/toolgate/toolgate.toml`");
    insta::assert_snapshot!(says(&place, &["init"]), @r"
    wrote `toolgate.toml`
    note: in this folder it is read instead of `PLACE/.config/toolgate/toolgate.toml`
    ");
    fs::create_dir(place.path().join("team")).unwrap();
    insta::assert_snapshot!(says(&place, &["init", "team"]), @"wrote `team/toolgate.toml`");
}

#[test]
fn check_names_line_column_and_the_nearest_key() {
    let place = Place::configured("[http]\nprot = 1\nport = 'x'\n[lgo]\n");
    insta::assert_snapshot!(says(&place, &["check"]), @r"
    error: PLACE/toolgate.toml:2:1: unknown key `http.prot`
    hint: did you mean `http.port`?
    PLACE/toolgate.toml:3:8: `http.port` must be an integer from 0 to 65535, not the string `x`
    PLACE/toolgate.toml:4:2: unknown key `lgo`
    hint: did you mean `log`?
    exit 2
    ");
    fs::write(place.path().join("team.toml"), "[http\n").unwrap();
    insta::assert_snapshot!(says(&place, &["check", "team.toml"]), @r"
    error: team.toml:1:6: unclosed table, expected `]`
      |
    1 | [http
      |      ^
    exit 2
    ");
    insta::assert_snapshot!(says(&place, &["check", "none.toml"]), @r"
    error: there is no file `none.toml`
    hint: see whether the path is right; without one, `toolgate.toml` of the working folder is read
    exit 2
    ");
}

#[test]
fn what_is_wrong_is_told_as_json_too() {
    let place = Place::configured("[http]\nprot = 1\nport = 'x'\n");
    insta::assert_snapshot!(says(&place, &["check", "--json"]), @r#"
    {
      "ok": false,
      "problems": [
        {
          "message": "unknown key `http.prot`",
          "hint": "did you mean `http.port`?",
          "origin": {
            "kind": "file",
            "path": "PLACE/toolgate.toml",
            "line": 2,
            "column": 1
          }
        },
        {
          "message": "`http.port` must be an integer from 0 to 65535, not the string `x`",
          "hint": null,
          "origin": {
            "kind": "file",
            "path": "PLACE/toolgate.toml",
            "line": 3,
            "column": 8
          }
        }
      ],
      "warnings": []
    }
    exit 2
    "#);
}

#[test]
fn what_is_right_is_said_to_be() {
    let place = Place::new();
    insta::assert_snapshot!(says(&place, &["check"]), @"there is no file, so the defaults hold");
    fs::write(place.path().join("toolgate.toml"), "").unwrap();
    fs::write(place.path().join("opencode.json"), "{ broken").unwrap();
    insta::assert_snapshot!(says(&place, &["check"]), @r"
    `PLACE/toolgate.toml` is right
    warning: PLACE/opencode.json:1:9: expected colon after the string or word in object property (passed over)
    ");
    assert_eq!(run(config(&place, &["check", "--json"]), b"").code, 0);
}

#[test]
fn set_changes_one_key_and_keeps_the_rest() {
    let place = Place::configured("# mine\r\n[http] # here\r\nport = 1 # why\r\n");
    fs::set_permissions(place.path().join("toolgate.toml"), fs::Permissions::from_mode(0o640)).unwrap();
    insta::assert_snapshot!(says(&place, &["set", "http.port", "4000"]), @"set `http.port` in `PLACE/toolgate.toml`");
    says(&place, &["set", "log.level", "debug"]);
    says(&place, &["set", "packs", "workspace,memory"]);
    says(&place, &["set", "memory.root", "5"]);
    assert_eq!(
        file(&place),
        "packs = [\"workspace\", \"memory\"]\r\n\r\n# mine\r\n[http] # here\r\nport = 4000 # why\r\n\r\n\
         [log]\r\nlevel = \"debug\"\r\n\r\n[memory]\r\nroot = \"5\"\r\n"
    );
    assert_eq!(mode(place.path().join("toolgate.toml")), 0o640);
    insta::assert_snapshot!(says(&place, &["unset", "http.port"]), @"removed `http.port` from `PLACE/toolgate.toml`");
    assert!(file(&place).contains("[http] # here\r\n\r\n[log]"));
}

#[test]
fn what_would_be_wrong_is_not_written() {
    let place = Place::configured("[http]\nport = 1\n");
    insta::assert_snapshot!(says(&place, &["set", "http.port", "abc"]), @r"
    error: `http.port` must be an integer from 0 to 65535, not the string `abc`
    exit 2
    ");
    insta::assert_snapshot!(says(&place, &["set", "threads", "1000000"]), @r"
    error: `threads` must be an integer from 1 to 255, not the integer `1000000`
    exit 2
    ");
    insta::assert_snapshot!(says(&place, &["set", "http.prot", "1"]), @r"
    error: unknown key `http.prot`
    hint: did you mean `http.port`?
    exit 2
    ");
    insta::assert_snapshot!(says(&place, &["set", "http", "1"]), @r"
    error: `http` is a table, not a value
    hint: name one of its keys, such as `http.port`
    exit 2
    ");
    insta::assert_snapshot!(says(&place, &["unset", "log.level"]), @r"
    error: `log.level` is not set in this file
    hint: run `toolgate config show` to see what is set, and where
    exit 2
    ");
    assert_eq!(file(&place), "[http]\nport = 1\n");
}

#[test]
fn a_broken_file_is_left_alone_unless_the_change_mends_it() {
    let place = Place::configured("[http\n");
    insta::assert_snapshot!(says(&place, &["set", "http.port", "1"]), @r"
    error: PLACE/toolgate.toml:1:6: unclosed table, expected `]`
      |
    1 | [http
      |      ^
    exit 2
    ");
    assert_eq!(file(&place), "[http\n");
    fs::write(place.path().join("toolgate.toml"), "[http]\nport = 'x'\nprot = 1\n").unwrap();
    insta::assert_snapshot!(says(&place, &["set", "http.port", "1"]), @r"
    error: PLACE/toolgate.toml:3:1: unknown key `http.prot`
    hint: did you mean `http.port`?
    exit 2
    ");
    insta::assert_snapshot!(says(&place, &["set", "log.level", "info"]), @r"
    error: PLACE/toolgate.toml:2:8: `http.port` must be an integer from 0 to 65535, not the string `x`
    PLACE/toolgate.toml:3:1: unknown key `http.prot`
    hint: did you mean `http.port`?
    exit 2
    ");
    fs::write(place.path().join("toolgate.toml"), "[http]\nport = 'x'\n").unwrap();
    says(&place, &["set", "http.port", "1"]);
    assert_eq!(file(&place), "[http]\nport = 1\n");
}

#[test]
fn set_makes_the_users_file_if_there_is_none() {
    let place = Place::new();
    insta::assert_snapshot!(says(&place, &["set", "http.token", "sixteen and more letters"]), @"set `http.token` in `PLACE/.config/toolgate/toolgate.toml`");
    let path = place.path().join(".config/toolgate/toolgate.toml");
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    insta::assert_snapshot!(says(&place, &["set", "--config", "team.toml", "http.port", "1"]), @"set `http.port` in `team.toml`");
    assert_eq!(fs::read_to_string(place.path().join("team.toml")).unwrap(), "[http]\nport = 1\n");
}

#[test]
fn a_link_to_the_file_stays_a_link() {
    let place = Place::new();
    let real = place.path().join("dotfiles.toml");
    fs::write(&real, "# mine\n").unwrap();
    symlink(&real, place.path().join("toolgate.toml")).unwrap();
    says(&place, &["set", "transport", "http"]);
    assert!(place.path().join("toolgate.toml").is_symlink());
    assert_eq!(fs::read_to_string(real).unwrap(), "# mine\ntransport = \"http\"\n");
}

#[test]
fn what_wins_over_the_file_is_told() {
    let place = Place::configured("");
    let mut command = config(&place, &["set", "http.port", "1"]);
    command.env("MCP_HTTP_PORT", "2");
    insta::assert_snapshot!(said(&place, command), @r"
    set `http.port` in `PLACE/toolgate.toml`
    note: variable `MCP_HTTP_PORT` wins over it
    ");
}

#[test]
fn the_schema_tells_types_and_defaults() {
    let place = Place::new();
    let schema: Value = serde_json::from_str(&run(config(&place, &["schema"]), b"").stdout).unwrap();
    assert_eq!(schema["properties"]["transport"]["default"], "stdio");
    assert_eq!(schema["definitions"]["HttpConfig"]["properties"]["port"]["default"], 3000);
}
