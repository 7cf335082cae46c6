//! Variables: ours, those of the systems we unite, and those nobody knows.

use std::collections::BTreeSet;
use std::path::PathBuf;

use toolgate_config::env::{PREFIX, VARIABLES};
use toolgate_config::{Environment, Loader, LogLevel, data_dir, user_config_dir};

use crate::support::{Transport, environment, folder, load, read, refusal};

#[test]
fn the_seeds_variables_work_as_they_are() {
    let settings = read(
        "",
        &[
            ("MCP_TRANSPORT", "http"),
            ("MCP_HTTP_PORT", " 8080 "),
            ("MCP_HTTP_HOST", "0.0.0.0"),
            ("MCP_CORS_ORIGINS", "https://a.example, https://b.example,"),
            ("OPENCODE_LOG_LEVEL", "DEBUG"),
            ("OPENCODE_LOG_TIMESTAMP", "true"),
        ],
    )
    .unwrap();
    assert_eq!(settings.transport, Some(Transport::Http));
    assert_eq!((settings.http.bind.as_str(), settings.http.port), ("0.0.0.0", 8080));
    assert_eq!(settings.http.cors_origins, ["https://a.example", "https://b.example"]);
    assert_eq!((settings.log.level, settings.log.timestamps), (LogLevel::Debug, true));
}

#[test]
fn ours_wins_over_a_seeds_variable() {
    let both = [("TOOLGATE_HTTP_PORT", "1"), ("MCP_HTTP_PORT", "2")];
    assert_eq!(read("", &both).unwrap().http.port, 1);
    assert_eq!(read("", &both[1..]).unwrap().http.port, 2);
}

#[test]
fn an_empty_variable_is_not_set() {
    let settings = read("[http]\nport = 1", &[("TOOLGATE_HTTP_PORT", ""), ("MCP_TRANSPORT", "")]).unwrap();
    assert_eq!((settings.http.port, settings.transport), (1, None));
}

#[test]
fn truth_has_four_spellings() {
    for (text, expect) in
        [("true", true), ("YES", true), ("on", true), ("1", true), ("false", false), ("0", false)]
    {
        assert_eq!(read("", &[("TOOLGATE_LOG_TIMESTAMPS", text)]).unwrap().log.timestamps, expect, "{text}");
    }
}

#[test]
fn a_bad_value_names_the_variable() {
    let bad = [
        ("MCP_HTTP_PORT", "abc"),
        ("MCP_TRANSPORT", "htp"),
        ("OPENCODE_LOG_TIMESTAMP", "maybe"),
        ("TOOLGATE_LOG_LEVEL", "loud"),
    ];
    insta::assert_snapshot!(refusal("", &bad), @r"
    variable `MCP_HTTP_PORT`: `http.port` must be an integer from 0 to 65535, not the string `abc`
    variable `MCP_TRANSPORT`: `transport` must be one of `stdio`, `http`, not `htp`
    hint: did you mean `http`?
    variable `OPENCODE_LOG_TIMESTAMP`: `log.timestamps` must be `true` or `false`, not the string `maybe`
    variable `TOOLGATE_LOG_LEVEL`: `log.level` must be one of `debug`, `info`, `warn`, `error`, `none`, not `loud`
    ");
    insta::assert_snapshot!(refusal("", &[("TOOLGATE_HTTP_PORT", "70000")]), @"variable `TOOLGATE_HTTP_PORT`: `http.port` must be an integer from 0 to 65535, not the integer `70000`");
}

#[test]
fn a_variable_for_a_part_that_is_not_there_is_ignored() {
    let opencode = [("OPENCODE_SERVER_URL", "http://localhost:4096"), ("OPENCODE_TIMEOUT", "soon")];
    read("", &opencode).unwrap();
    read("", &[("TOOLGATE_HTTP_SESSIONS", "off"), ("TOOLGATE_MEMORY", "/m")]).unwrap();
    let error = refusal("[opencode]\ntimeout = 1\n", &opencode);
    insta::assert_snapshot!(error, @r"
    toolgate.toml:1:2: unknown key `opencode`
    hint: valid keys: `transport`, `packs`, `http`, `log`, `mcp`
    ");
}

#[test]
fn an_unknown_variable_of_ours_is_a_warning_and_a_foreign_one_is_nothing() {
    let variables = [
        ("TOOLGATE_HTTP_PROT", "1"),
        ("TOOLGATE_COLOUR", "1"),
        ("OPENCODE_PERMISSION", "1"),
        ("PATH", "/bin"),
    ];
    let document = load(&folder(""), &variables).unwrap();
    let warnings: Vec<String> = document.warnings().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(warnings.join("\n"), @r"
    unknown variable `TOOLGATE_COLOUR` is ignored
    unknown variable `TOOLGATE_HTTP_PROT` is ignored
    hint: did you mean `TOOLGATE_HTTP_PORT`?
    ");
}

#[test]
fn the_table_of_variables_is_sound() {
    let names: BTreeSet<_> = VARIABLES.iter().map(|variable| variable.name).collect();
    assert_eq!(names.len(), VARIABLES.len(), "a name stands there twice");
    let ours: Vec<_> = VARIABLES.iter().filter(|variable| !variable.seed).filter_map(|v| v.key).collect();
    assert_eq!(ours.iter().collect::<BTreeSet<_>>().len(), ours.len(), "two of ours set one key");
    for variable in VARIABLES {
        assert!(variable.doc.ends_with('.'), "{} has no sentence", variable.name);
        assert!(!(variable.seed && variable.name.starts_with(PREFIX)), "{}", variable.name);
    }
}

#[track_caller]
fn check_folders(variables: &[(&str, &str)], config: Option<&str>, data: Option<&str>) {
    let environment = environment(variables);
    assert_eq!(user_config_dir(&environment), config.map(PathBuf::from));
    assert_eq!(data_dir(&environment).ok(), data.map(PathBuf::from));
}

#[test]
fn folders_follow_the_xdg_specification() {
    let home = ("HOME", "/home/ada");
    check_folders(&[home], Some("/home/ada/.config/toolgate"), Some("/home/ada/.local/share/toolgate"));
    check_folders(
        &[home, ("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "/d")],
        Some("/c/toolgate"),
        Some("/d/toolgate"),
    );
    check_folders(
        &[home, ("XDG_CONFIG_HOME", "c"), ("XDG_DATA_HOME", "d")],
        Some("/home/ada/.config/toolgate"),
        Some("/home/ada/.local/share/toolgate"),
    );
    check_folders(&[("TOOLGATE_DATA_DIR", "here")], None, Some("here"));
    check_folders(&[("HOME", "")], None, None);
}

#[test]
fn a_user_without_a_home_is_told_what_to_set() {
    insta::assert_snapshot!(data_dir(&Environment::default()).unwrap_err(), @r"
    there is no folder for data: `HOME` is not set
    hint: set `TOOLGATE_DATA_DIR` to a folder
    ");
}

#[test]
fn the_environment_does_not_print_its_values() {
    let environment = environment(&[("API_KEY", "hunter2")]);
    let loader = Loader::new().environment(&environment);
    assert!(!format!("{environment:?} {loader:?}").contains("hunter2"));
}

#[test]
fn the_process_has_an_environment() {
    assert!(toolgate_config::process_environment().get("PATH").is_some());
}
