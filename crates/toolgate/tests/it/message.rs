//! Messages that tests send, in either era.

use serde_json::{Value, json};

use crate::process::Server;
use crate::web::Ask;

/// A request; `id` and `params` are JSON text.
pub(crate) fn request(id: impl ToString, method: &str, params: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#, id.to_string())
}

/// A notification.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

/// A tool call as a legacy client sends it.
pub(crate) fn call(id: impl ToString, tool: &str, arguments: Value) -> String {
    request(id, "tools/call", &json!({"name": tool, "arguments": arguments}))
}

/// A call of `test_slow` that says how far it is, so that a test knows when it runs.
pub(crate) fn slow(id: impl ToString, seconds: f64) -> String {
    let about = json!({"progressToken": format!("of {}", id.to_string())});
    let params = json!({"name": "test_slow", "arguments": {"seconds": seconds}, "_meta": about});
    request(id, "tools/call", &params)
}

/// The client's cancellation of a request.
pub(crate) fn cancelled(id: impl Into<Value>) -> String {
    notification("notifications/cancelled", &json!({"requestId": id.into(), "reason": "changed my mind"}))
}

/// `initialize` of a client that can be asked anything.
pub(crate) fn initialize(version: &str) -> String {
    let client = json!({"name": "test", "version": "0"});
    let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {"listChanged": true}});
    let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client});
    request(0, "initialize", &params)
}

/// Params with what every modern request says of itself.
pub(crate) fn modern(mut params: Value) -> Value {
    let about = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
    about["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    about["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "0"});
    about["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {}, "sampling": {}, "roots": {}});
    params
}

/// A tool call as a modern client sends it.
pub(crate) fn modern_call(id: impl ToString, tool: &str, arguments: Value) -> String {
    request(id, "tools/call", &modern(json!({"name": tool, "arguments": arguments})))
}

/// A request as a modern client posts it: with the headers that say what its body says.
pub(crate) fn post_modern(server: &Server, method: &str, id: impl ToString, params: Value) -> Ask {
    let name = params["name"].as_str().or(params["uri"].as_str()).map(String::from);
    let post = server.post(request(id, method, &modern(params))).both();
    let post = post.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", method);
    match name {
        Some(name) => post.header("Mcp-Name", name),
        None => post,
    }
}

/// The text of a tool's answer, as far as it has one.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}
