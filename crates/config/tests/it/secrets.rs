//! No message repeats what may be a secret.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::support::{folder, in_folder, load, refusal};

const SECRET: &str = "hunter2hunter2";

#[track_caller]
fn check(text: &str, begins: &str) {
    let error = refusal(text.replace("SECRET", SECRET), &[]);
    assert!(error.starts_with(begins), "{error}");
    assert!(!error.contains("hunter"), "{error}");
}

#[test]
fn a_value_of_the_wrong_type_is_not_repeated() {
    check("[mcp.a]\ncommand = 'x'\ntoken = 'SECRET'", "toolgate.toml:3:9: `mcp.a.token` must be");
    check(
        "[mcp.a]\ncommand = 'x'\nheaders = 'SECRET'",
        "toolgate.toml:3:11: `mcp.a.headers` must be a table, not a string",
    );
    check("[mcp.a]\ncommand = 'x'\nheaders = { A = ['SECRET'] }", "toolgate.toml:3:17: `mcp.a.headers.A`");
    check(
        "[mcp.a]\ncommand = 'x'\nretries = 'postgres://me:SECRET@db'",
        "toolgate.toml:3:11: `mcp.a.retries`",
    );
}

#[test]
fn a_line_with_a_secret_is_shown_without_it() {
    check("[mcp.a]\ntoken = \"SECRET", "toolgate.toml:2:");
    check("[mcp.a.headers]\nX-Auth = \"SECRET", "toolgate.toml:2:");
    check("[mcp.a]\nheaders = { A = \"SECRET }", "toolgate.toml:2:");
    check("[mcp.a]\nargs = [\"--token=SECRET\" \"b\"]", "toolgate.toml:2:");
    check("[mcp.a]\nsigning_key = \"\"\"\n-----BEGIN\nSECRET\\q==\n\"\"\"", "toolgate.toml:4:");
    check("[mcp.a]\nsigning_key = \"\"\"\n-----BEGIN\nSECRET", "toolgate.toml:");
    check("[mcp.a]\nsigning_key = \"\"\"\nSECRET=\u{1}\n\"\"\"", "toolgate.toml:3:");
    check("[mcp.a.headers]\nX = [\n[\"a\"]\n]\nY = \"SECRET", "toolgate.toml:5:");
    check("token = [\n\"SECRET=x\" oops]", "toolgate.toml:2:");
    check("token = [\n[\"SECRET\" oops]", "toolgate.toml:2:");
    insta::assert_snapshot!(refusal("[mcp.a]\ntoken = \"hunter", &[]), @r#"
    toolgate.toml:2:16: invalid basic string, expected `"`
      |
    2 | token = …
    "#);
    insta::assert_snapshot!(refusal("[mcp.a]\nkey = [\n\"hunter\" oops\n]", &[]), @r"
    toolgate.toml:3:10: missing comma between array elements, expected `,`
      |
    3 | …
    ");
}

#[test]
fn a_document_does_not_print_its_values() {
    let document = load(&folder(format!("[mcp.a]\ntoken = \"{SECRET}\"")), &[]).unwrap();
    let printed = format!("{document:?} {:?}", document.leaves());
    assert!(printed.contains("mcp.a.token") && !printed.contains(SECRET), "{printed}");
}

#[test]
fn what_a_component_says_about_a_secret_is_cleaned() {
    for (key, expect) in [("password", "…"), ("name", SECRET)] {
        let folder = folder(format!("[vault]\n{key} = \"{SECRET}\""));
        let error = load(&folder, &[]).unwrap().section::<BTreeMap<String, Picky>>("vault").unwrap_err();
        let column = key.len() + 4;
        let expect = format!("toolgate.toml:2:{column}: `vault.{key}`: `{expect}` is not good enough");
        assert_eq!(in_folder(&error, &folder), expect);
    }
}

#[derive(Debug)]
struct Picky;

impl<'de> Deserialize<'de> for Picky {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Err(D::Error::custom(format!("`{text}` is not good enough")))
    }
}
