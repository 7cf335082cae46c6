//! OpenCode's own file, below everything of ours.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use tempfile::TempDir;
use toolgate_config::{Document, Loader, LogConfig, LogLevel};

use crate::support::{environment, settings};

/// A document of a folder with these files; `home/opencode` is OpenCode's own folder.
fn load(files: &[(&str, &str)], variables: &[(&str, &str)]) -> (Document, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let document = Loader::new()
        .discover(folder.path(), None)
        .opencode(folder.path(), Some(&folder.path().join("home/opencode")))
        .environment(&environment(variables))
        .load()
        .unwrap();
    (document, folder)
}

fn told(document: &Document, folder: &TempDir) -> String {
    let place = format!("{}/", folder.path().display());
    let leaves =
        document.leaves().into_iter().map(|leaf| format!("{} = {} {}", leaf.key, leaf.value, leaf.origin));
    let warnings = document.warnings().iter().map(|problem| format!("warning: {problem}"));
    leaves.chain(warnings).collect::<Vec<_>>().join("\n").replace(&place, "")
}

#[track_caller]
fn check(json: &str, expect: &str) {
    let (document, folder) = load(&[("opencode.json", json)], &[]);
    assert_eq!(told(&document, &folder), expect);
    // Nothing in OpenCode's file is an error.
    document.read(settings).unwrap();
}

const FILE: &str = r#"{
  // what OpenCode itself writes
  "$schema": "https://opencode.ai/config.json",
  "model": "some/model",
  "server": { "port": 5000, "hostname": "0.0.0.0", "cors": ["x"] },
  "logLevel": "DEBUG",
  "experimental": { "mcp_timeout": 9000, "batch_tool": true },
  "mcp": { "files": { "type": "local", "command": ["npx"] } },
}
"#;

#[test]
fn what_concerns_us_is_taken_and_the_rest_is_left() {
    check(
        FILE,
        "experimental.mcp_timeout = 9000 opencode.json:7:36\n\
         log.level = \"debug\" opencode.json:6:15\n\
         opencode.server_url = \"http://127.0.0.1:5000\" opencode.json:5:23",
    );
    check("{}", "");
    check("", "");
    check(r#"{ "server": {} }"#, "");
    check(
        r#"{ "server": { "hostname": "LocalHost" } }"#,
        "opencode.server_url = \"http://LocalHost:4096\" opencode.json:1:27",
    );
    check(
        r#"{ "server": { "hostname": "::" } }"#,
        "opencode.server_url = \"http://[::1]:4096\" opencode.json:1:27",
    );
}

#[test]
fn our_file_and_the_environment_lie_over_it() {
    let both = [("opencode.json", FILE), ("toolgate.toml", "[log]\nformat = 'json'\n")];
    let (document, _folder) = load(&both, &[]);
    let log: LogConfig = document.section("log").unwrap();
    assert_eq!((log.level, log.format), (LogLevel::Debug, toolgate_config::LogFormat::Json));

    let both = [("opencode.json", FILE), ("toolgate.toml", "[log]\nlevel = 'warn'\n")];
    let (document, _folder) = load(&both, &[]);
    assert_eq!(document.section::<LogConfig>("log").unwrap().level, LogLevel::Warn);
    let (document, _folder) = load(&both, &[("OPENCODE_LOG_LEVEL", "error")]);
    assert_eq!(document.section::<LogConfig>("log").unwrap().level, LogLevel::Error);
    let both = [("opencode.json", FILE), ("toolgate.toml", "[log]\nlevel = {}\n")];
    assert!(load(&both, &[]).0.section::<LogConfig>("log").is_err(), "it does not hide a mistake above it");
}

#[test]
fn what_is_wrong_with_it_is_a_warning() {
    check(
        "{ \"logLevel\": ",
        "warning: opencode.json:1:15: expected value after colon in object property (passed over)",
    );
    check("[1]", "warning: opencode.json:1:1: expected an object (passed over)");
    check(
        r#"{ "logLevel": 7, "server": { "port": 0 }, "experimental": { "mcp_timeout": "x" } }"#,
        "warning: opencode.json:1:15: `logLevel` must be `DEBUG`, `INFO`, `WARN` or `ERROR` (passed over)\n\
         warning: opencode.json:1:38: `server.port` must be an integer from 1 to 65535 (passed over)\n\
         warning: opencode.json:1:76: `experimental.mcp_timeout` must be an integer, 1 or more (passed over)",
    );
    check(
        r#"{ "server": { "hostname": "{env:HOST}" } }"#,
        "warning: opencode.json:1:27: `server.hostname` must be the name of a host (passed over)",
    );
    for host in
        ["evil.example", "localhost.evil.example", "10.0.0.1", "127.1", "2001:db8::1", "::ffff:127.0.0.1"]
    {
        check(
            &format!(r#"{{ "server": {{ "hostname": "{host}", "port": 80 }} }}"#),
            "warning: opencode.json:1:27: `server.hostname` is not this machine; to use a server elsewhere, set \
             `opencode.server_url` in `toolgate.toml` (passed over)",
        );
    }
    let deep = "[".repeat(100_000);
    let (document, _folder) = load(&[("opencode.json", &deep)], &[]);
    assert_eq!(document.warnings().len(), 1);
}

#[track_caller]
fn check_file(files: &[&str], variables: &[(&str, &str)], expect: Option<&str>) {
    let files: Vec<_> = files.iter().map(|name| (*name, "{}")).collect();
    let (document, folder) = load(&files, variables);
    let found = document.opencode_file().map(|path| path.strip_prefix(folder.path()).unwrap_or(path));
    assert_eq!(found, expect.map(Path::new));
}

#[test]
fn the_file_is_named_or_that_of_the_working_folder_or_the_users() {
    check_file(&[], &[], None);
    check_file(&["home/opencode/opencode.jsonc"], &[], Some("home/opencode/opencode.jsonc"));
    check_file(&["home/opencode/opencode.json", "opencode.jsonc"], &[], Some("opencode.jsonc"));
    check_file(&["opencode.json", "opencode.jsonc"], &[], Some("opencode.json"));
    let named = [("OPENCODE_CONFIG_PATH", "/nowhere/opencode.json")];
    check_file(&["opencode.json"], &named, Some("/nowhere/opencode.json"));
}

#[test]
fn a_named_file_that_is_missing_is_a_warning() {
    let (document, _folder) = load(&[], &[("OPENCODE_CONFIG_PATH", "/nowhere/opencode.json")]);
    insta::assert_snapshot!(document.warnings()[0], @"variable `OPENCODE_CONFIG_PATH`: there is no file `/nowhere/opencode.json` (passed over)");
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OpenCode {
    config_path: String,
    server_url: String,
}

#[test]
fn our_file_can_name_it_from_where_it_stands() {
    let own = "[opencode]\nconfig_path = 'sub/my.json'\n";
    let (document, folder) =
        load(&[("toolgate.toml", own), ("sub/my.json", FILE), ("opencode.json", "{}")], &[]);
    assert_eq!(document.opencode_file(), Some(folder.path().join("sub/my.json").as_path()));
    let opencode: OpenCode = document.section("opencode").unwrap();
    assert_eq!(
        (opencode.config_path.as_str(), opencode.server_url.as_str()),
        ("sub/my.json", "http://127.0.0.1:5000")
    );
}

#[test]
fn every_file_that_counts_or_would_count_is_told() {
    let (document, folder) = load(&[("toolgate.toml", "")], &[]);
    let told: Vec<_> = document
        .looked_for()
        .iter()
        .map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string())
        .collect();
    assert_eq!(
        told,
        [
            "toolgate.toml",
            "opencode.json",
            "opencode.jsonc",
            "home/opencode/opencode.json",
            "home/opencode/opencode.jsonc"
        ]
    );
}
