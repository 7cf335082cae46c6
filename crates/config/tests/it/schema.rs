//! The JSON Schema of the file.

use std::collections::BTreeMap;

use toolgate_config::{FileSchema, Loader, LogConfig, describe, template};

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
    "##);
    Loader::new().only("x").text(text).load().unwrap().read(settings).unwrap();
}
