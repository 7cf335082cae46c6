//! One key changes, and nothing else.

use super::*;

#[track_caller]
fn check_set(text: &str, key: &str, value: &str, expect: &str) {
    assert_eq!(set(text, key, value).unwrap(), expect);
}

#[track_caller]
fn check_unset(text: &str, key: &str, expect: &str) {
    assert_eq!(unset(text, key).unwrap(), expect);
}

#[test]
fn a_value_is_replaced_and_every_other_byte_stays() {
    check_set(
        "# a\n[http]\nport  =  1   # b\n# c\n",
        "http.port",
        "2",
        "# a\n[http]\nport  =  2   # b\n# c\n",
    );
    check_set(
        "http = { port = 1, bind = 'x' } # b\n",
        "http.port",
        "2",
        "http = { port = 2, bind = 'x' } # b\n",
    );
    check_set("http.port = 1\r\n# b\r\n", "http.port", "2", "http.port = 2\r\n# b\r\n");
    check_set("\u{feff}packs = [\n  'a', # one\n]\nx = 1", "packs", "[]", "\u{feff}packs = []\nx = 1");
    check_set("'a b'.c = 1", "\"a b\".c", "2", "'a b'.c = 2");
}

#[test]
fn a_new_key_comes_after_the_others_of_its_table() {
    check_set(
        "[http]\nport = 1 # b\n\n[log]\n",
        "http.bind",
        "'x'",
        "[http]\nport = 1 # b\nbind = 'x'\n\n[log]\n",
    );
    check_set("[http]\n# why\n\n[log]\n", "http.bind", "'x'", "[http]\nbind = 'x'\n# why\n\n[log]\n");
    check_set(
        "http.port = 1\nlog.level = 'x'\n",
        "http.bind",
        "'x'",
        "http.port = 1\nhttp.bind = 'x'\nlog.level = 'x'\n",
    );
    check_set("[a]\nb.c = 1\nd = 2", "a.b.e", "3", "[a]\nb.c = 1\nb.e = 3\nd = 2");
    check_set("http = { port = 1 }", "http.bind", "'x'", "http = { port = 1, bind = 'x' }");
    check_set("http = { }", "http.bind", "'x'", "http = { bind = 'x' }");
    check_set("x = 1\n[http]\nport = 1", "y", "2", "x = 1\ny = 2\n[http]\nport = 1");
    check_set("[a]\nx = 1", "a.y", "2", "[a]\nx = 1\ny = 2\n");
    check_set("[http]\r\nport = 1\r\n", "http.bind", "'x'", "[http]\r\nport = 1\r\nbind = 'x'\r\n");
}

#[test]
fn a_new_table_comes_last() {
    check_set("", "http.port", "1", "[http]\nport = 1\n");
    check_set("# only a comment", "http.port", "1", "# only a comment\n\n[http]\nport = 1\n");
    check_set("x = 1\n", "mcp.\"a b\".command", "'x'", "x = 1\n\n[mcp.\"a b\"]\ncommand = 'x'\n");
    check_set("[mcp.a]\nx = 1\n", "mcp.b.x", "2", "[mcp.a]\nx = 1\n\n[mcp.b]\nx = 2\n");
    check_set("[mcp.a]\nx = 1\n", "mcp.y", "2", "[mcp.a]\nx = 1\n\n[mcp]\ny = 2\n");
}

#[test]
fn a_key_at_the_top_goes_above_the_tables() {
    check_set("", "x", "1", "x = 1\n");
    check_set("# mine\n", "x", "1", "# mine\nx = 1\n");
    check_set("# mine\n\n# about http\n[http]\n", "x", "1", "# mine\n\nx = 1\n\n# about http\n[http]\n");
    check_set("[[rule]]\nx = 1\n", "x", "1", "x = 1\n\n[[rule]]\nx = 1\n");
}

#[test]
fn a_line_that_waits_as_a_comment_is_used() {
    let text = "# port = 1\n[http]\n# The port.\n# port = 3000 # usual\n# bind = 'x'\n[log]\n# port = 2\n";
    let expect = "# port = 1\n[http]\n# The port.\nport = 80 # usual\n# bind = 'x'\n[log]\n# port = 2\n";
    check_set(text, "http.port", "80", expect);
    check_set(
        "[http]\n# a port = 1 for you\n",
        "http.port",
        "80",
        "[http]\nport = 80\n# a port = 1 for you\n",
    );
    check_set("# x = 1\n[http]\n", "x", "2", "x = 2\n[http]\n");
}

#[test]
fn a_key_is_removed_with_its_line_and_nothing_else() {
    check_unset(
        "[http]\n# The port.\nport = 1 # b\nbind = 'x'\n",
        "http.port",
        "[http]\n# The port.\nbind = 'x'\n",
    );
    check_unset("packs = [\n 1,\n]\nx = 1\n", "packs", "x = 1\n");
    check_unset("http.port = 1\nx = 1", "http.port", "x = 1");
    check_unset("http = { port = 1, bind = 'x' } # b\n", "http.port", "http = { bind = 'x' } # b\n");
    check_unset("http = { port = 1 }\n", "http.port", "http = {}\n");
}

#[test]
fn what_cannot_be_done_is_refused_with_a_reason() {
    let cases = [
        set("[http]\nport = 1", "http", "1"),
        set("[[rule]]\nx = 1", "rule.x", "1"),
        set("http = 1", "http.port", "1"),
        set("x = ", "http.port", "1"),
        set("", "http..port", "1"),
        set("", "http.port", "= 1"),
        unset("", "http.port"),
        unset("[http]", "http"),
    ];
    let told: Vec<String> = cases.into_iter().map(|case| case.unwrap_err().to_string()).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    `http` is a table, not a value
    hint: name one of its keys, such as `http.port`
    `rule` is a list of tables, and `rule.x` does not say in which
    hint: open the file in an editor
    `http` is not a table, so there is no `http.port`
    hint: remove it first: `toolgate config unset http`
    line 1, column 5 is no TOML: string values must be quoted, expected literal string
    `http..port` is no key
    hint: write it like `http.port`
    the value for `http.port` is no TOML
    `http.port` is not set in this file
    hint: run `toolgate config show` to see what is set, and where
    `http` is a table, not a value
    ");
}

#[test]
fn what_was_typed_has_several_readings() {
    #[track_caller]
    fn check(typed: &str, expect: &[&str]) {
        assert_eq!(readings(typed), expect);
    }
    check("80", &["80", "\"80\"", "[\"80\"]"]);
    check("debug", &["\"debug\"", "[\"debug\"]"]);
    check("true", &["true", "\"true\"", "[\"true\"]"]);
    check("a, b", &["\"a, b\"", "[\"a\", \"b\"]"]);
    check("['a']", &["['a']", "\"['a']\"", "[\"['a']\"]"]);
}
