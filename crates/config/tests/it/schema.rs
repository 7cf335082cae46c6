//! The JSON Schema of the file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_config::{FileSchema, Loader, LogConfig, TableDoc, describe, template};

use crate::support::{Http, Server, Transport, settings};

#[test]
fn the_schema_of_the_file_is_put_together_from_its_sections() {
    let schema = FileSchema::new()
        .key::<Transport>("transport")
        .key::<LogConfig>("log")
        .key::<Http>("http")
        .key::<BTreeMap<String, Server>>("mcp")
        .finish();
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["http"]["$ref"], "#/definitions/Http");
    assert_eq!(
        schema["definitions"]["Http"]["properties"]["limits"]["allOf"][0]["$ref"],
        "#/definitions/Limits"
    );
    assert_eq!(schema["definitions"]["Http"]["additionalProperties"], false);
    insta::assert_snapshot!(schema["definitions"]["LogConfig"], @r##"{"type":"object","additionalProperties":false,"properties":{"level":{"default":"info","description":"The least important messages that are written.","allOf":[{"$ref":"#/definitions/LogLevel"}]},"format":{"default":"text","description":"How a line looks.","allOf":[{"$ref":"#/definitions/LogFormat"}]},"timestamps":{"type":"boolean","description":"Whether a line begins with the time.","default":false}},"description":"What is written to stderr, and how."}"##);
}

#[test]
fn a_file_with_every_key_is_written_from_the_schema() {
    let schema = FileSchema::new()
        .entry("log", "What is logged.", &LogConfig::default())
        .entry("packs", "The packs that are on.", &vec!["web".to_owned()])
        .entry("transport", "How to speak.", &None::<Transport>)
        .entry("mcp", "Other servers.", &BTreeMap::<String, Server>::new())
        .finish();
    let text = template(&describe(&schema));
    let (_, keys) = text.split_once("\n\n").unwrap();
    insta::assert_snapshot!(keys, @r##"
    # The packs that are on.
    #packs = ["web"]

    # How to speak. Takes `"stdio"` or `"http"`. Not set by default.
    #transport = "stdio"


    # What is logged.
    [log]

    # The least important messages that are written. Takes `"debug"` or `"info"` or `"warn"` or
    # `"error"` or `"none"`.
    #level = "info"

    # How a line looks. Takes `"text"` or `"json"`.
    #format = "text"

    # Whether a line begins with the time.
    #timestamps = false


    # Other servers.
    # [mcp.NAME]
    #   command = ""
    #   args = []
    #   headers = {}
    #   token = ""
    #   retries = ""
    "##);
    Loader::new().only("x").text(text).load().unwrap().read(settings).unwrap();
}

/// A rule, of which there may be any number.
#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// What it says.
    then: Transport,
    /// What it is about.
    #[serde(default)]
    targets: Vec<String>,
}

/// A table with a list of tables in it.
#[derive(Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Rules {
    /// What holds otherwise.
    quiet: bool,
    /// A rule; the first that fits decides.
    rules: Vec<Rule>,
}

#[test]
fn a_list_of_tables_is_described_as_a_table_that_may_be_repeated() {
    let schema = FileSchema::new().entry("policy", "The rules.", &Rules::default()).finish();
    let tables = describe(&schema);
    assert_eq!(tables.iter().map(TableDoc::header).collect::<Vec<_>>(), ["[policy]", "[[policy.rules]]"]);
    assert_eq!(tables[1].description, "A rule; the first that fits decides.");
    let text = template(&tables);
    let (_, keys) = text.split_once("\n\n").unwrap();
    insta::assert_snapshot!(keys, @r##"

    # The rules.
    [policy]

    # What holds otherwise.
    #quiet = false


    # A rule; the first that fits decides.
    # [[policy.rules]]
    #   then = "stdio"
    #   targets = []
    "##);
    assert_eq!(
        Loader::new().only("x").text(text).load().unwrap().section::<Rules>("policy").unwrap(),
        Rules::default()
    );
}

#[test]
fn what_is_wrong_in_a_list_of_tables_is_found_by_its_place() {
    #[track_caller]
    fn check(text: &str, expect: &str) {
        let document = Loader::new().only("toolgate.toml").text(text).load().unwrap();
        let error = document
            .read(|sections| {
                let rules: Rules = sections.section("policy");
                if rules.rules.len() > 1 {
                    sections.refuse("policy.rules[1].targets[0]", "is no pattern", "write another");
                }
            })
            .unwrap_err();
        assert_eq!(error.to_string(), expect);
    }
    check(
        "[[policy.rules]]\nthen = \"stdio\"\ntargtes = []\n",
        "toolgate.toml:3:1: unknown key `policy.rules[0].targtes`\nhint: did you mean `policy.rules[0].targets`?",
    );
    check(
        "[[policy.rules]]\nthen = \"stdoi\"\n",
        "toolgate.toml:2:8: `policy.rules[0].then` must be one of `stdio`, `http`, not `stdoi`\nhint: did you mean `stdio`?",
    );
    check(
        "[[policy.rules]]\nthen = \"http\"\n\n[[policy.rules]]\nthen = \"http\"\ntargets = [\n  \"a:b\"]\n",
        "toolgate.toml:7:3: `policy.rules[1].targets[0]` is no pattern\nhint: write another",
    );
}
