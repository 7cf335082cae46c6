//! Values and keys that a component refuses.

use serde::Deserialize;

use crate::support::{folder, in_folder, load, refusal, settings};

#[test]
fn an_unknown_key_is_named_at_every_level_with_the_nearest_one() {
    insta::assert_snapshot!(refusal("htpp = 1\n", &[]), @r"
    toolgate.toml:1:1: unknown key `htpp`
    hint: did you mean `http`?
    ");
    insta::assert_snapshot!(refusal("[http]\nprot = 1\n", &[]), @r"
    toolgate.toml:2:1: unknown key `http.prot`
    hint: did you mean `http.port`?
    ");
    insta::assert_snapshot!(refusal("[http.limits]\nboby = 1\n", &[]), @r"
    toolgate.toml:2:1: unknown key `http.limits.boby`
    hint: did you mean `http.limits.body`?
    ");
    insta::assert_snapshot!(refusal("[mcp.\"a.b\"]\ncommand = \"x\"\nheader = {}\n", &[]), @r#"
    toolgate.toml:3:1: unknown key `mcp."a.b".header`
    hint: did you mean `mcp."a.b".headers`?
    "#);
}

#[test]
fn an_unknown_key_without_a_near_one_is_answered_with_all() {
    insta::assert_snapshot!(refusal("zebra = 1\n", &[]), @r"
    toolgate.toml:1:1: unknown key `zebra`
    hint: valid keys: `transport`, `packs`, `http`, `log`, `mcp`
    ");
    insta::assert_snapshot!(refusal("[http]\ncompression = true\n", &[]), @r"
    toolgate.toml:2:1: unknown key `http.compression`
    hint: valid keys: `bind`, `port`, `cors_origins`, `limits`
    ");
    insta::assert_snapshot!(refusal("[zebra]\n", &[]), @r"
    toolgate.toml:1:2: unknown key `zebra`
    hint: valid keys: `transport`, `packs`, `http`, `log`, `mcp`
    ");
}

#[test]
fn a_wrong_type_names_what_was_expected() {
    let cases = [
        r#"http.port = "abc""#,
        "http.port = -1",
        "http.port = 70000",
        "http.port = 1.5",
        "http.port = 1979-05-27",
        "http.bind = true",
        r#"http.cors_origins = "a""#,
        r#"http.cors_origins = ["a", 7]"#,
        "http.limits = []",
        r#"http.limits.seconds = "1""#,
        "log.level = 3",
        r#"log.level = "wran""#,
        "log.level = {}",
        r#"log.timestamps = "yes""#,
        "transport = { http = 1 }",
        "packs = { a = 1 }",
    ];
    insta::assert_snapshot!(cases.map(|case| refusal(case, &[])).join("\n"), @r"
    toolgate.toml:1:13: `http.port` must be an integer from 0 to 65535, not the string `abc`
    toolgate.toml:1:13: `http.port` must be an integer from 0 to 65535, not the integer `-1`
    toolgate.toml:1:13: `http.port` must be an integer from 0 to 65535, not the integer `70000`
    toolgate.toml:1:13: `http.port` must be an integer from 0 to 65535, not the number `1.5`
    toolgate.toml:1:13: `http.port` must be an integer from 0 to 65535, not the string `1979-05-27`
    toolgate.toml:1:13: `http.bind` must be a string, not the boolean `true`
    toolgate.toml:1:21: `http.cors_origins` must be a list, not the string `a`
    toolgate.toml:1:27: `http.cors_origins[1]` must be a string, not the integer `7`
    toolgate.toml:1:15: `http.limits` must be a table, not a list
    toolgate.toml:1:23: `http.limits.seconds` must be a number, not the string `1`
    toolgate.toml:1:13: `log.level` must be one of `debug`, `info`, `warn`, `error`, `none`, not the integer `3`
    toolgate.toml:1:13: `log.level` must be one of `debug`, `info`, `warn`, `error`, `none`, not `wran`
    hint: did you mean `warn`?
    toolgate.toml:1:13: `log.level` must be one of `debug`, `info`, `warn`, `error`, `none`, not a table
    toolgate.toml:1:18: `log.timestamps` must be `true` or `false`, not the string `yes`
    toolgate.toml:1:22: `transport.http` must be without a value, not the integer `1`
    toolgate.toml:1:9: `packs` must be a list, not a table
    ");
}

#[test]
fn a_missing_key_is_named_with_its_table() {
    insta::assert_snapshot!(refusal("\n[mcp.files]\nargs = []\n", &[]), @r"
    toolgate.toml:2:6: `mcp.files` lacks the key `command`
    hint: add `command = …` to `mcp.files`
    ");
}

#[test]
fn all_problems_are_told_at_once_in_the_order_of_the_file() {
    let text = "\
[log]
level = 'loud'
color = 1
[http]
prot = 1
port = 'x'
bidn = 2
limits = { body = -1, seconds = 'y' }
[mcp.a]
comand = 'x'
[htttp]
";
    insta::assert_snapshot!(refusal(text, &[("TOOLGATE_TRANSPORT", "pigeon")]), @r"
    toolgate.toml:2:9: `log.level` must be one of `debug`, `info`, `warn`, `error`, `none`, not `loud`
    toolgate.toml:3:1: unknown key `log.color`
    hint: valid keys: `level`, `format`, `timestamps`
    toolgate.toml:5:1: unknown key `http.prot`
    hint: did you mean `http.port`?
    toolgate.toml:6:8: `http.port` must be an integer from 0 to 65535, not the string `x`
    toolgate.toml:7:1: unknown key `http.bidn`
    hint: did you mean `http.bind`?
    toolgate.toml:8:19: `http.limits.body` must be an integer, 0 or more, not the integer `-1`
    toolgate.toml:8:33: `http.limits.seconds` must be a number, not the string `y`
    toolgate.toml:10:1: unknown key `mcp.a.comand`
    hint: did you mean `mcp.a.command`?
    toolgate.toml:11:2: unknown key `htttp`
    hint: did you mean `http`?
    variable `TOOLGATE_TRANSPORT`: `transport` must be one of `stdio`, `http`, not `pigeon`
    ");
}

#[test]
fn a_thousand_mistakes_are_told_in_part() {
    let text: String = (0..1000).map(|number| format!("unknown{number} = 1\n")).collect();
    let error = refusal(format!("[http]\n{text}"), &[]);
    assert_eq!(error.lines().filter(|line| line.contains("unknown key")).count(), 20);
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Careless {
    name: String,
}

#[test]
fn a_component_that_forgets_to_refuse_unknown_keys_refuses_them() {
    let folder = folder("[careless]\nnmae = 'x'\n");
    let error = load(&folder, &[]).unwrap().section::<Careless>("careless").unwrap_err();
    insta::assert_snapshot!(in_folder(&error, &folder), @r"
    toolgate.toml:2:1: unknown key `careless.nmae`
    hint: did you mean `careless.name`?
    ");
}

#[test]
fn settings_that_do_not_fit_together_are_refused_where_they_stand() {
    let folder = folder("[http]\nbind = \"0.0.0.0\"\n");
    let error = load(&folder, &[]).unwrap().read(|sections| {
        let settings = settings(sections);
        sections.refuse("http.bind", "reaches beyond this machine", "set a token");
        sections.refuse("http.token", "is not set", "set a token");
        settings
    });
    insta::assert_snapshot!(in_folder(&error.unwrap_err(), &folder), @r"
    `http.token` is not set
    hint: set a token
    toolgate.toml:2:8: `http.bind` reaches beyond this machine
    hint: set a token
    ");
}
