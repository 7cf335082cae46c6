//! What `headers` promises, case by case.

use super::*;

const CALL: &str = r#"{"name":"execute_sql","arguments":{"region":"us-west1","limit":42,"dry":false,"deep":{"tag":"é"},"gone":null},
    "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;

const SCHEMA: &str = r#"{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},"limit":{"type":"integer","x-mcp-header":"Limit"},
    "dry":{"type":"boolean","x-mcp-header":"Dry"},"query":{"type":"string"},
    "deep":{"type":"object","properties":{"tag":{"type":"string","x-mcp-header":"Tag"}}},
    "gone":{"type":["string","null"],"x-mcp-header":"Gone"}}}"#;

const GOOD: &[(&str, &str)] = &[
    ("MCP-Protocol-Version", "2026-07-28"),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Name", "execute_sql"),
    ("Mcp-Param-Region", "us-west1"),
    ("Mcp-Param-Limit", "42"),
    ("Mcp-Param-Dry", "false"),
    ("Mcp-Param-Tag", "=?base64?w6k=?="),
];

/// The good headers with one of them replaced, or without it if the value is `None`.
fn run(change: &str, value: Option<&str>) -> Result<(), HeaderMismatch> {
    let tool_params = header_params(&Raw::literal(SCHEMA)).unwrap();
    let get = |name: &str| {
        if name == change {
            return value.map(str::as_bytes);
        }
        GOOD.iter().find(|(header, _)| *header == name).map(|(_, value)| value.as_bytes())
    };
    check("tools/call", Some(&Raw::literal(CALL)), get, &tool_params)
}

#[test]
fn headers_that_say_what_the_body_says_are_accepted() {
    #[track_caller]
    fn check(change: &str, value: &str) {
        assert_eq!(run(change, Some(value)), Ok(()));
    }
    check("none", "");
    check("Mcp-Name", "  execute_sql  ");
    check("Mcp-Name", "=?base64?ZXhlY3V0ZV9zcWw=?=");
    check("Mcp-Method", "\ttools/call ");
    check("Mcp-Param-Limit", "42.0");
    check("Mcp-Param-Region", "=?base64?dXMtd2VzdDE=?=");
    check("Mcp-Param-Unknown", "anything");
}

#[test]
fn headers_that_differ_from_the_body_are_refused() {
    #[track_caller]
    fn check(change: &str, value: Option<&str>, reason: &str) {
        let mismatch = run(change, value).unwrap_err();
        assert_eq!((mismatch.header.as_str(), mismatch.reason), (change, reason));
    }
    check("MCP-Protocol-Version", None, MISSING);
    check("MCP-Protocol-Version", Some("2025-11-25"), DIFFERS);
    check("Mcp-Method", None, MISSING);
    check("Mcp-Method", Some("TOOLS/CALL"), DIFFERS);
    check("Mcp-Method", Some("=?base64?dG9vbHMvY2FsbA==?="), DIFFERS);
    check("Mcp-Name", None, MISSING);
    check("Mcp-Name", Some("Execute_sql"), DIFFERS);
    check("Mcp-Param-Region", None, MISSING);
    check("Mcp-Param-Region", Some("us-west2"), DIFFERS);
    check("Mcp-Param-Region", Some("=?base64?SGVsbG8?="), MALFORMED);
    check("Mcp-Param-Limit", Some("43"), DIFFERS);
    check("Mcp-Param-Limit", Some("forty-two"), DIFFERS);
    check("Mcp-Param-Dry", Some("FALSE"), DIFFERS);
    check("Mcp-Param-Tag", Some("é"), MALFORMED);
    check("Mcp-Param-Gone", Some("here"), NOT_IN_BODY);
}

#[test]
fn the_name_comes_from_where_the_method_has_it() {
    #[track_caller]
    fn check(method: &str, params: &'static str, expect: Option<&str>) {
        let params = Raw::literal(params);
        assert_eq!(name_of(method, Some(&params)).as_deref(), expect);
        let name = expect.map(|name| encode(name).into_owned());
        let get = |header: &str| match header {
            PROTOCOL_VERSION => Some(b"2026-07-28".as_slice()),
            METHOD => Some(method.as_bytes()),
            NAME => name.as_deref().map(str::as_bytes),
            _ => None,
        };
        assert_eq!(super::check(method, Some(&params), get, &[]), Ok(()));
    }
    check("tools/call", r#"{"name":"a","uri":"b"}"#, Some("a"));
    check("prompts/get", r#"{"name":"ü"}"#, Some("ü"));
    check("resources/read", r#"{"name":"a","uri":"x://b"}"#, Some("x://b"));
    check("tasks/get", r#"{"taskId":"t"}"#, Some("t"));
    check("tasks/update", r#"{"taskId":"t"}"#, Some("t"));
    check("tasks/cancel", r#"{"taskId":"t"}"#, Some("t"));
    check("tools/list", r#"{"name":"a"}"#, None);
    check("tools/call", r#"{"name":1}"#, None);
}

#[test]
fn a_client_sends_what_a_server_accepts() {
    let tool_params = header_params(&Raw::literal(SCHEMA)).unwrap();
    let headers = mirror("tools/call", Some(&Raw::literal(CALL)), &tool_params);
    let found: Vec<_> = headers.iter().map(|(name, value)| (&**name, value.as_str())).collect();
    assert_eq!(found, GOOD[1..]);
    assert_eq!(mirror("tools/list", None, &tool_params), [(Cow::Borrowed(METHOD), "tools/list".to_owned())]);
}

#[test]
fn annotated_arguments_are_found() {
    let found = header_params(&Raw::literal(SCHEMA)).unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|param| format!("{} {} {:?}", param.header, param.path.join("."), param.kind))
        .collect();
    let expect = [
        "Mcp-Param-Region region String",
        "Mcp-Param-Limit limit Integer",
        "Mcp-Param-Dry dry Boolean",
        "Mcp-Param-Tag deep.tag String",
        "Mcp-Param-Gone gone String",
    ];
    assert_eq!(shown, expect);
}

#[test]
fn annotations_that_cannot_work_are_refused() {
    #[track_caller]
    fn check(properties: &str, expect: Result<usize, BadAnnotation>) {
        let schema = format!(r#"{{"type":"object","properties":{properties}}}"#);
        let schema = Raw::parse(schema.into()).unwrap();
        assert_eq!(header_params(&schema).map(|found| found.len()), expect);
    }
    let named = |name: &str| format!(r#"{{"v":{{"type":"string","x-mcp-header":{name}}}}}"#);
    for name in
        [r#""""#, r#""My Region""#, r#""Region:Primary""#, r#""Région""#, r#""Region\t1""#, "1", "null"]
    {
        check(&named(name), Err(BadAnnotation::Name));
    }
    check(&named(r#""a.b~c""#), Ok(1));
    check(r#"{"v":{"type":"string","x\u002dm\u0063p-header":""}}"#, Err(BadAnnotation::Name));
    for kind in
        [r#""object""#, r#""array""#, r#""null""#, r#""number""#, r#"["string","integer"]"#, "[]", "true"]
    {
        let property = format!(r#"{{"v":{{"type":{kind},"x-mcp-header":"V"}}}}"#);
        check(&property, Err(BadAnnotation::Type("V".into())));
    }
    check(r#"{"v":{"x-mcp-header":"V"}}"#, Err(BadAnnotation::Type("V".into())));
    let two =
        r#"{"a":{"type":"string","x-mcp-header":"MyField"},"b":{"type":"string","x-mcp-header":"myfield"}}"#;
    check(two, Err(BadAnnotation::Duplicate("myfield".into())));
    for place in [
        r#"{"v":{"type":"array","items":{"type":"string","x-mcp-header":"V"}}}"#,
        r#"{"v":{"anyOf":[{"type":"string","x-mcp-header":"V"}]}}"#,
        r#"{"v":{"if":{"properties":{"w":{"type":"string","x-mcp-header":"V"}}}}}"#,
        r#"{"v":{"$defs":{"w":{"type":"string","x-mcp-header":"V"}}}}"#,
        r#"{"v":{"additionalProperties":{"type":"string","x-mcp-header":"V"}}}"#,
    ] {
        check(place, Err(BadAnnotation::Place));
    }
    check(r#"{"x-mcp-header":{"type":"string","default":{"x-mcp-header":1}}}"#, Ok(0));
    let root = Raw::literal(r#"{"type":"string","x-mcp-header":"V"}"#);
    assert_eq!(header_params(&root), Err(BadAnnotation::Place));
}
