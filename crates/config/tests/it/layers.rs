//! Which source wins, and what is known about the one that did.

use std::fs;
use std::path::Path;

use serde_json::json;
use toolgate_config::{Document, Loader, LogConfig, LogFormat, LogLevel, Origin};

use crate::support::{Http, Settings, environment, folder, load, read, settings};

const FILE: &str = "[http]\nport = 4000\nbind = \"::1\"\n";

#[track_caller]
fn check(document: &Document, port: u16, origin: &str) {
    assert_eq!(document.section::<Http>("http").unwrap().port, port);
    let shown = document.origin("http.port").to_string();
    assert!(shown.ends_with(origin), "{shown}");
}

#[test]
fn flags_lie_over_environment_over_file_over_defaults() {
    let folder = folder(FILE);
    let variables = environment(&[("TOOLGATE_HTTP_PORT", "5000")]);
    let file = || Loader::new().discover(folder.path(), None);
    check(&Loader::new().load().unwrap(), 3000, "default");
    check(&file().load().unwrap(), 4000, "toolgate.toml:2:8");
    check(&file().environment(&variables).load().unwrap(), 5000, "variable `TOOLGATE_HTTP_PORT`");
    let all = file().environment(&variables).flag("http.port", Some(6000), "--port").load().unwrap();
    check(&all, 6000, "flag `--port`");
    assert_eq!(all.section::<Http>("http").unwrap().bind, "::1", "what a layer leaves out stays");
}

#[test]
fn a_flag_that_was_not_given_sets_nothing() {
    let document = Loader::new().flag("http.port", None::<u16>, "--port").load().unwrap();
    assert_eq!(document.origin("http.port"), Origin::Default);
}

#[test]
fn a_list_is_replaced_and_not_extended() {
    let settings = read("packs = [\"web\", \"memory\"]", &[("TOOLGATE_PACKS", "browser")]).unwrap();
    assert_eq!(settings.packs, Some(vec!["browser".to_owned()]));
}

#[test]
fn a_flag_does_not_hide_that_the_file_has_a_value_where_a_table_belongs() {
    let folder = folder("http = 3");
    let document =
        Loader::new().discover(folder.path(), None).flag("http.port", Some(1), "--port").load().unwrap();
    let error = document.read(settings).unwrap_err().to_string();
    assert!(error.ends_with("toolgate.toml:1:8: `http` must be a table, not the integer `3`"), "{error}");
}

#[test]
fn without_any_source_everything_is_default() {
    assert_eq!(Loader::new().load().unwrap().read(settings).unwrap(), Settings::default());
}

#[test]
fn the_log_is_configured_like_any_component() {
    let log = read("[log]\nformat = \"json\"\n", &[("TOOLGATE_LOG_LEVEL", "None")]).unwrap().log;
    assert_eq!(log, LogConfig { level: LogLevel::None, format: LogFormat::Json, timestamps: false });
}

#[test]
fn every_written_value_is_listed_with_its_origin() {
    let folder = folder("packs = [\"web\"]\n[mcp.a]\ncommand = \"x\"\ntoken = 1\n[[rule]]\nname = \"n\"\n");
    let document = load(&folder, &[("MCP_HTTP_PORT", "1")]).unwrap();
    let leaves: Vec<_> = document
        .leaves()
        .into_iter()
        .map(|leaf| {
            let origin = leaf.origin.to_string().replace(&format!("{}/", folder.path().display()), "");
            json!([leaf.key, leaf.value, origin, leaf.secret]).to_string()
        })
        .collect();
    insta::assert_snapshot!(leaves.join("\n"), @r#"
    ["http.port",1,"variable `MCP_HTTP_PORT`",false]
    ["mcp.a.command","x","toolgate.toml:3:11",false]
    ["mcp.a.token",1,"toolgate.toml:4:9",true]
    ["packs",["web"],"toolgate.toml:1:9",false]
    ["rule[0].name","n","toolgate.toml:6:8",false]
    "#);
}

#[test]
fn a_relative_path_in_a_file_counts_from_that_file() {
    let folder = folder("data_dir = \"data\"");
    let document = load(&folder, &[("TOOLGATE_WORKSPACE", "work")]).unwrap();
    assert_eq!(document.resolve("data_dir", Path::new("data")), folder.path().join("data"));
    assert_eq!(document.resolve("data_dir", Path::new("/data")), Path::new("/data"));
    assert_eq!(document.resolve("workspace.root", Path::new("work")), Path::new("work"));
}

#[test]
fn the_working_folder_comes_before_the_users_and_a_named_file_before_both() {
    let (working, user) = (tempfile::tempdir().unwrap(), folder("[http]\nport = 2"));
    let find = || Loader::new().discover(working.path(), Some(user.path()));
    check(&find().load().unwrap(), 2, "toolgate.toml:2:8");
    fs::write(working.path().join("toolgate.toml"), "[http]\nport = 1").unwrap();
    let document = find().load().unwrap();
    check(&document, 1, "toolgate.toml:2:8");
    assert_eq!(document.file(), Some(working.path().join("toolgate.toml").as_path()));

    let named = working.path().join("named.toml");
    fs::write(&named, "http.port = 3").unwrap();
    let variables = environment(&[("TOOLGATE_CONFIG", named.to_str().unwrap())]);
    check(&find().environment(&variables).load().unwrap(), 3, "named.toml:1:13");
    let flag = working.path().join("flag.toml");
    fs::write(&flag, "http = { port = 4 }").unwrap();
    check(&find().environment(&variables).file(Some(flag)).load().unwrap(), 4, "flag.toml:1:17");
}
