//! The request headers of 2026-07-28, which repeat parts of the body: names, values, agreement.

use std::borrow::Cow;

use crate::{
    meta::RequestMeta,
    method,
    raw::{Kind, Raw},
};

mod number;
mod params;
mod value;

pub use params::{BadAnnotation, HeaderParam, ParamKind, header_params};
pub use value::{BadValue, decode, encode};

/// The protocol version of a request.
pub const PROTOCOL_VERSION: &str = "MCP-Protocol-Version";
/// The method of a request.
pub const METHOD: &str = "Mcp-Method";
/// What a request is for: the name of a tool or prompt, the URI of a resource, the id of a task.
pub const NAME: &str = "Mcp-Name";
/// What the header of a tool's argument begins with.
pub const PARAM_PREFIX: &str = "Mcp-Param-";
/// The session of a legacy request.
pub const SESSION_ID: &str = "Mcp-Session-Id";
/// The event from which on a legacy stream is to be resumed.
pub const LAST_EVENT_ID: &str = "Last-Event-ID";

/// A header that does not say what the body says, to be answered with
/// [`crate::code::HEADER_MISMATCH`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("header mismatch: `{header}` {reason}")]
pub struct HeaderMismatch {
    /// The header.
    pub header: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

const MISSING: &str = "is missing";
const DIFFERS: &str = "does not match the body";
const NOT_IN_BODY: &str = "has no counterpart in the body";
const MALFORMED: &str = "has invalid characters or invalid Base64";

/// Checks that the headers of a modern request say what its body says.
///
/// `get` finds a header by its name in any case; a header that occurs more than once must be refused
/// before. `tool_params` are those of the tool that is called, from [`header_params`].
/// A part that the body itself lacks is not missed here: that is an error of the parameters. A header
/// without its counterpart in the body is a mismatch, because others may have relied on it.
pub fn check<'h>(
    method: &str,
    params: Option<&Raw>,
    get: impl Fn(&str) -> Option<&'h [u8]>,
    tool_params: &[HeaderParam],
) -> Result<(), HeaderMismatch> {
    let meta = params.map(RequestMeta::read).unwrap_or_default();
    plain(PROTOCOL_VERSION, get(PROTOCOL_VERSION), meta.version_text().as_deref())?;
    let name = name_key(method).and_then(|key| params?.get(key));
    let arguments = params.filter(|_| !tool_params.is_empty()).and_then(|params| params.get("arguments"));
    check_parts(method, name.as_ref(), arguments.as_ref(), get, tool_params)
}

/// As [`check`], for a body whose parts are at hand: what [`NAME`] repeats, and the arguments. The version is not
/// looked at again.
pub fn check_parts<'h>(
    method: &str,
    name: Option<&Raw>,
    arguments: Option<&Raw>,
    get: impl Fn(&str) -> Option<&'h [u8]>,
    tool_params: &[HeaderParam],
) -> Result<(), HeaderMismatch> {
    plain(METHOD, get(METHOD), Some(method))?;
    if name_key(method).is_some() {
        encoded(NAME, get(NAME), name.filter(|name| name.kind() == Kind::String))?;
    }
    for param in tool_params {
        let value = arguments.and_then(|arguments| param.value(arguments));
        encoded(&param.header, get(&param.header), value.as_ref())?;
    }
    Ok(())
}

/// The headers that a client must send with a request, besides [`PROTOCOL_VERSION`].
pub fn mirror(
    method: &str,
    params: Option<&Raw>,
    tool_params: &[HeaderParam],
) -> Vec<(Cow<'static, str>, String)> {
    let mut headers = vec![(Cow::Borrowed(METHOD), method.to_owned())];
    if let Some(name) = name_of(method, params) {
        headers.push((Cow::Borrowed(NAME), encode(&name).into_owned()));
    }
    let arguments = params.and_then(|params| params.get("arguments")).unwrap_or_default();
    for param in tool_params {
        let value = param.value(&arguments);
        if let Some(text) = value.as_ref().and_then(plain_text) {
            headers.push((Cow::Owned(param.header.clone()), encode(&text).into_owned()));
        }
    }
    headers
}

/// What [`NAME`] must say for a request.
pub fn name_of(method: &str, params: Option<&Raw>) -> Option<String> {
    let value = params?.get(name_key(method)?)?;
    value.as_string().map(Cow::into_owned)
}

/// The member of `params` that [`NAME`] repeats.
fn name_key(method: &str) -> Option<&'static str> {
    match method {
        method::TOOLS_CALL | method::PROMPTS_GET => Some("name"),
        method::RESOURCES_READ => Some("uri"),
        method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL => Some("taskId"),
        _ => None,
    }
}

/// A header that has no encoding.
fn plain(header: &str, given: Option<&[u8]>, body: Option<&str>) -> Result<(), HeaderMismatch> {
    let mismatch = |reason| Err(HeaderMismatch { header: header.to_owned(), reason });
    match (given.map(<[u8]>::trim_ascii), body) {
        (None, _) => mismatch(MISSING),
        (Some(given), Some(body)) if given != body.as_bytes() => mismatch(DIFFERS),
        (Some(_), _) => Ok(()),
    }
}

/// A header whose value may be encoded, and which must be there exactly if the body has the value.
fn encoded(header: &str, given: Option<&[u8]>, body: Option<&Raw>) -> Result<(), HeaderMismatch> {
    let mismatch = |reason| Err(HeaderMismatch { header: header.to_owned(), reason });
    match (given, body) {
        (None, None) => Ok(()),
        (None, Some(_)) => mismatch(MISSING),
        (Some(_), None) => mismatch(NOT_IN_BODY),
        (Some(given), Some(body)) => match decode(given) {
            Err(BadValue) => mismatch(MALFORMED),
            Ok(text) if says(&text, body) => Ok(()),
            Ok(_) => mismatch(DIFFERS),
        },
    }
}

/// Whether a decoded header value says what a value of the body says: numbers by their value.
fn says(text: &str, body: &Raw) -> bool {
    match body.kind() {
        Kind::Number => number::equal(text, body.as_str()),
        Kind::String | Kind::Bool => plain_text(body).is_some_and(|body| body == text),
        Kind::Null | Kind::Array | Kind::Object => false,
    }
}

/// A primitive value as a header says it.
fn plain_text(value: &Raw) -> Option<Cow<'_, str>> {
    match value.kind() {
        Kind::String => value.as_string(),
        Kind::Number | Kind::Bool => Some(Cow::Borrowed(value.as_str())),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

#[cfg(test)]
mod tests;
