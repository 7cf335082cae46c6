//! The JSON Schema of the file.

use std::collections::BTreeMap;

use toolgate_config::{FileSchema, LogConfig};

use crate::support::{Http, Server, Transport};

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
