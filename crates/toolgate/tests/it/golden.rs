//! A server that answers unknown fields and types at every level: what it says reaches the client byte for byte.

use serde_json::Value;

use crate::process::{Place, Stdio, peer_script, peers, until};

const TOOL: &str = r#"{"x-first":[1.00,{"deep":{"er":1e2}}],"name":"golden","description":"G\u006fld \ud83d\ude00","inputSchema":{"type":"object","properties":{},"x-vendor":{"k":1.50}},"outputSchema":{"anyOf":[true]},"annotations":{"readOnlyHint":true,"mood":"good"},"icons":[{"src":"data:,x","theme":"odd"}],"execution":{"taskSupport":"odd","x":1.00},"_meta":{"a/b":[null],"ui":{"resourceUri":"ui://golden/page","x":1.0}}}"#;
const RESOURCE: &str = r#"{"uri":"golden://one","x":1.0,"name":"one","size":12345678901234567890,"annotations":{"audience":["system"],"priority":1e-400}}"#;
const TEMPLATE: &str = r#"{"uriTemplate":"golden://t/{id}","name":"t","y":{"b":2,"a":1}}"#;
const PROMPT: &str = r#"{"name":"golden_prompt","arguments":[{"name":"a","x":0.10}],"z":[[]]}"#;
const BLOCKS: &str = r#"{"type":"hologram","depth":1.00,"é":"\u00e9","_meta":{"v":1e400}},{"type":"text","text":"a\/b \ud800 \u0000","annotations":{"audience":["system"],"x":[]}}"#;
const ERROR: &str = r#"{"code":-32050,"x":1.0,"message":"no \u006cuck","data":{"n":123456789012345678901234567890,"f":[0.10,-0.0]}}"#;
const LOG: &str = r#"{"level":"error","x":1.00,"logger":"l","data":{"n":1e400},"_meta":{"y":[]}}"#;
const OTHER: &str = r#"{"n":1.00,"_meta":{"z":null}}"#;

/// What answers a call, but for what eras differ in.
fn result(more: &str) -> String {
    format!(
        r#"{{"content":[{BLOCKS}],"structuredContent":{{"n":123456789012345678901234567890,"f":0.10}},"isError":false,"vendor/x":{{"b":2,"a":1}}{more}}}"#
    )
}

/// What only the modern era has.
const COMPLETE: &str = r#","resultType":"complete","ttlMs":7,"cacheScope":"public""#;

struct Golden {
    toolgate: Stdio,
    seen: std::path::PathBuf,
    client_is_modern: bool,
    number: u32,
}

/// The script of the server, in its era.
fn script(modern: bool) -> String {
    let more = if modern { COMPLETE } else { "" };
    let capabilities = r#"{"tools":{"x":1.0},"resources":{},"prompts":{},"completions":{},"logging":{},"experimental":{"e":{"f":1.0}},"unknown":[1.0]}"#;
    let mut lines = vec![
        format!("tools/list\tresult\t{{\"tools\":[{TOOL}],\"x\":1.0{more}}}"),
        format!("resources/list\tresult\t{{\"resources\":[{RESOURCE}]{more}}}"),
        format!("resources/templates/list\tresult\t{{\"resourceTemplates\":[{TEMPLATE}]{more}}}"),
        format!("prompts/list\tresult\t{{\"prompts\":[{PROMPT}]{more}}}"),
        format!("tools/call\tnotify\t{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{LOG}}}"),
        format!("tools/call\tnotify\t{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/vendor/x\",\"params\":{OTHER}}}"),
        "tools/call\tnotify\t{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$TOKEN,\"progress\":0.10,\"x\":[1.0]}}".into(),
        format!("tools/call\tresult\t{}", result(more)),
        format!("resources/read\tresult\t{}", result(more)),
        format!("resources/read ui://golden/page\tresult\t{{\"contents\":[{{\"uri\":\"ui://golden/page\",\"x\":1.0}}]{more}}}"),
        format!("prompts/get\tresult\t{}", result(more)),
        format!("completion/complete\tresult\t{}", result(more)),
        format!("resources/read golden://t/bad\terror\t{ERROR}"),
    ];
    lines.push(if modern {
        format!("server/discover\tresult\t{{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{capabilities},\"instructions\":\"Be kind.\"{more}}}")
    } else {
        format!("initialize\tresult\t{{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{capabilities},\"serverInfo\":{{\"name\":\"golden\",\"version\":\"1\"}},\"instructions\":\"Be kind.\"}}")
    });
    lines.push("logging/setLevel\tresult\t{}".into());
    lines.join("\n")
}

impl Golden {
    fn start(server_is_modern: bool, client_is_modern: bool) -> Self {
        let place = Place::new();
        let (path, seen) = (place.path().join("script"), place.path().join("seen"));
        std::fs::write(&path, script(server_is_modern)).unwrap();
        let node = peers().join("bin/node");
        let args = [peer_script("golden.mjs"), path, seen.clone()];
        let toml = format!("packs = []\n[mcp.golden]\ncommand = {node:?}\nargs = {args:?}\nprefix = false\n");
        std::fs::write(place.path().join("toolgate.toml"), toml).unwrap();
        let mut this = Self { toolgate: Stdio::start_in(place, &[]), seen, client_is_modern, number: 0 };
        if !client_is_modern {
            let hello = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
            this.toolgate.ask(hello);
            this.toolgate.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        }
        until("the server is there", || this.ask("tools/list", "{}").1.contains("golden"));
        this
    }

    /// Sends a request, and returns the bytes of all that came until its answer, and of the answer.
    fn ask(&mut self, method: &str, params: &str) -> (Vec<String>, String) {
        self.number += 1;
        let meta = if self.client_is_modern {
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"debug","#
        } else {
            ""
        };
        let params = params.strip_prefix('{').unwrap().strip_suffix('}').unwrap();
        let comma = if params.is_empty() { "" } else { "," };
        let id = self.number;
        self.toolgate.send(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{comma}"_meta":{{{meta}"progressToken":"p","vendor":1.0}}}}}}"#
        ));
        let (mut before, head) = (Vec::new(), format!(r#"{{"jsonrpc":"2.0","id":{id},"#));
        loop {
            let line = self.toolgate.line();
            match line.strip_prefix(&head) {
                Some(rest) => return (before, rest.strip_suffix('}').unwrap().to_owned()),
                // What changed meanwhile is none of the answer's.
                None if line.contains("list_changed") => {}
                None => before.push(line),
            }
        }
    }

    /// What the server was sent for a method, in its bytes.
    fn seen(&self, method: &str) -> String {
        let all = std::fs::read_to_string(&self.seen).unwrap();
        let wanted = format!(r#""method":"{method}""#);
        all.lines().rfind(|line| line.contains(&wanted)).unwrap_or_else(|| panic!("no {method}")).to_owned()
    }
}

const ARGUMENTS: &str = r#"{"b":1.00,"a":[1e400,12345678901234567890,-0.0],"é":"\u00e9\ud800","":{}}"#;

/// All that passes in both directions, whatever the eras; `expect` is how the client is to see a result.
fn check(server_is_modern: bool, client_is_modern: bool, expect: &dyn Fn(&str, bool) -> String) {
    let mut golden = Golden::start(server_is_modern, client_is_modern);
    for (method, item) in [
        ("tools/list", TOOL),
        ("resources/list", RESOURCE),
        ("resources/templates/list", TEMPLATE),
        ("prompts/list", PROMPT),
    ] {
        let (_, listed) = golden.ask(method, "{}");
        // Only 2025-11-25 says of a tool whether it runs as a task.
        let item =
            if client_is_modern { item.replace(r#""taskSupport":"odd","#, "") } else { item.to_owned() };
        assert!(listed.contains(&format!("[{item}]")), "{method}: {listed}");
    }
    let more = if server_is_modern { COMPLETE } else { "" };
    let call = format!(r#"{{"name":"golden","arguments":{ARGUMENTS},"vendor":[1.0]}}"#);
    for (method, params) in [
        ("tools/call", &*call),
        ("resources/read", r#"{"uri":"golden://one"}"#),
        ("prompts/get", r#"{"name":"golden_prompt"}"#),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"golden_prompt"},"argument":{"name":"a","value":"v"}}"#,
        ),
    ] {
        let (before, answer) = golden.ask(method, params);
        let cacheable = method == "resources/read";
        assert_eq!(answer, format!(r#""result":{}"#, expect(&result(more), cacheable)), "{method}");
        if method == "tools/call" {
            let told = [
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{LOG}}}"#),
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/vendor/x","params":{OTHER}}}"#),
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":0.10,"x":[1.0]}}"#.into(),
            ];
            assert_eq!(before, told);
        }
    }
    let (_, page) = golden.ask("resources/read", r#"{"uri":"ui://golden/page"}"#);
    assert!(page.contains(r#"{"uri":"ui://golden/page","x":1.0}"#), "{page}");
    let (_, refused) = golden.ask("resources/read", r#"{"uri":"golden://t/bad"}"#);
    assert_eq!(refused, format!(r#""error":{ERROR}"#));
    let seen = golden.seen("tools/call");
    assert!(seen.contains(&format!(r#""arguments":{ARGUMENTS},"vendor":[1.0]"#)), "{seen}");
    assert!(seen.contains(r#""vendor":1.0"#), "the client's own `_meta` is gone: {seen}");
}

/// Our name, as the modern era has it in every result.
fn signed() -> String {
    format!(
        r#""_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"toolgate","title":"Toolgate","version":"{}"}}}}"#,
        env!("CARGO_PKG_VERSION")
    )
}

#[test]
fn between_legacy_and_legacy_no_byte_is_changed() {
    check(false, false, &|result, _| result.to_owned());
}

#[test]
fn between_modern_and_modern_only_our_name_is_added() {
    check(true, true, &|result, _| result.replacen('{', &format!("{{{},", signed()), 1));
}

#[test]
fn a_modern_client_of_a_legacy_server_learns_that_a_result_is_complete() {
    check(false, true, &|result, cacheable| {
        let cached = if cacheable { r#""ttlMs":0,"cacheScope":"private","# } else { "" };
        result.replacen('{', &format!(r#"{{"resultType":"complete",{cached}{},"#, signed()), 1)
    });
}

#[test]
fn a_legacy_client_of_a_modern_server_does_not_hear_of_types_of_results() {
    check(true, false, &|result, _| result.replace(r#""resultType":"complete","#, ""));
}

/// Every answer is JSON for parsers that take what the grammar allows.
#[test]
fn what_is_golden_is_json() {
    for text in [TOOL, RESOURCE, TEMPLATE, PROMPT, LOG, OTHER] {
        let read: serde_json::Result<Box<serde_json::value::RawValue>> = serde_json::from_str(text);
        assert!(read.is_ok(), "{text}: {read:?}");
    }
    assert!(serde_json::from_str::<Value>(ERROR).is_ok());
}
