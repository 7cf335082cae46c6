//! Files that are not TOML: where, what, and the line.

use crate::support::refusal;

#[test]
fn a_mistake_is_shown_with_its_line_and_a_caret() {
    insta::assert_snapshot!(refusal("[http]\nport = 80 80\n", &[]), @r"
    toolgate.toml:2:8: string values must be quoted, expected literal string
      |
    2 | port = 80 80
      |        ^
    ");
    insta::assert_snapshot!(refusal("[http\nport = 80\n", &[]), @r"
    toolgate.toml:1:6: unclosed table, expected `]`
      |
    1 | [http
      |      ^
    ");
    insta::assert_snapshot!(refusal("[http]\n\tbind = \"loca\\qlhost\"\n", &[]), @r#"
    toolgate.toml:2:15: missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\`, `"`, `x`, `u`, `U`
      |
    2 |  bind = "loca\qlhost"
      |               ^
    "#);
    insta::assert_snapshot!(refusal("[http]\nbind = localhost\n", &[]), @r"
    toolgate.toml:2:8: string values must be quoted, expected literal string
      |
    2 | bind = localhost
      |        ^
    ");
    insta::assert_snapshot!(refusal("[http]\nbind =", &[]), @r"
    toolgate.toml:2:7: string values must be quoted, expected literal string
      |
    2 | bind =
      |       ^
    ");
}

#[test]
fn a_key_cannot_be_written_twice() {
    insta::assert_snapshot!(refusal("[http]\nport = 1\nport = 2\n", &[]), @r"
    toolgate.toml:3:1: duplicate key
      |
    3 | port = 2
      | ^
    ");
    insta::assert_snapshot!(refusal("[http]\nport = 1\n[http]\n", &[]), @r"
    toolgate.toml:3:2: duplicate key
      |
    3 | [http]
      |  ^
    ");
}

#[test]
fn a_number_must_be_one() {
    insta::assert_snapshot!(refusal("[http]\nport = 99999999999999999999\n", &[]), @r"
    toolgate.toml:2:8: integer too large, expected at most 64 bits
      |
    2 | port = 99999999999999999999
      |        ^
    ");
    insta::assert_snapshot!(refusal("[http]\nlimits.seconds = inf\n", &[]), @r"
    toolgate.toml:2:18: number too large, or not a number
      |
    2 | limits.seconds = inf
      |                  ^
    ");
}

#[test]
fn a_long_line_is_cut_around_the_mistake() {
    insta::assert_snapshot!(refusal(format!("packs = [{}]", "\"web\" ".repeat(3000)), &[]), @r#"
    toolgate.toml:1:16: missing comma between array elements, expected `,`
      |
    1 | packs = ["web" "web" "web" "web" "web" "web" "web" "web" "web" "web" "web" "web" "web" "web" "web" "
      |                ^
    "#);
    let far = format!("packs = [{} oops]", "\"web\", ".repeat(3000));
    insta::assert_snapshot!(refusal(far, &[]), @r#"
    toolgate.toml:1:21011: string values must be quoted, expected literal string
      |
    1 | ", "web", "web", "web", "web", "web", "web", "web", "web", "web", "web",  oops]
      |                                                                           ^
    "#);
}

#[test]
fn a_file_cannot_write_to_the_terminal() {
    let error = refusal("[http]\nbind = \u{1b}[31m\n\"a\\u001b[31m\" = 1", &[]);
    assert!(!error.contains('\u{1b}'), "{error}");
    let error = refusal("\"a\\u001b[31m\" = 1", &[]);
    insta::assert_snapshot!(error, @r#"
    toolgate.toml:1:1: unknown key `"a\u{1b}[31m"`
    hint: valid keys: `transport`, `packs`, `http`, `log`, `mcp`
    "#);
}
