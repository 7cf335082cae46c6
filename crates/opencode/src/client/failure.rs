//! What OpenCode means when it refuses: every shape of its errors becomes one of ours.

use std::time::Duration;

use serde_json::Value;
use toolgate_core::{Error, Kind};
use url::Url;

use crate::hidden::shown_address;
use crate::server::LogRing;

/// An answer that is no success.
pub(super) struct Refusal<'a> {
    pub(super) path: &'a str,
    pub(super) status: u16,
    pub(super) kind: &'a str,
    pub(super) body: &'a [u8],
}

impl Refusal<'_> {
    /// Where in the log of the server the reason stands.
    pub(super) fn reference(&self) -> Option<String> {
        let body: Value = serde_json::from_slice(self.body).ok()?;
        text(&body["data"]["ref"])
    }
}

/// The error that an answer stands for; `log` knows the reasons that OpenCode only refers to.
pub(super) fn failure(refusal: &Refusal<'_>, log: Option<&LogRing>) -> Error {
    if refusal.status == 401 {
        return Error::new(Kind::Unauthorized, "OpenCode refuses the password")
            .hint("set `opencode.username` and `opencode.password` to those of the server");
    }
    let body: Value = serde_json::from_slice(refusal.body).unwrap_or_default();
    let name = text(&body["name"]).or_else(|| text(&body["_tag"])).unwrap_or_default();
    // `name` may be that of an MCP server, and then the tag is the kind of error.
    let name = text(&body["_tag"]).unwrap_or(name);
    let said = [&body["data"]["message"], &body["message"], &body["error"]].into_iter().find_map(text);
    let said = said.map(|said| said.split_whitespace().collect::<Vec<_>>().join(" "));
    if let Some(reason) = body["data"]["ref"].as_str() {
        return opaque(reason, log);
    }
    match (name.as_str(), said) {
        ("NotFoundError", Some(said)) if said.starts_with("Session not found") => {
            Error::new(Kind::SessionNotFound, lowercase(&said))
                .hint("call `opencode_session_list` to see the sessions")
        }
        ("McpServerNotFoundError", Some(said)) => {
            Error::new(Kind::Upstream, lowercase(&said)).hint("call `opencode_mcp_list` to see the servers")
        }
        ("SessionBusyError", _) => Error::new(Kind::Upstream, "the session is busy")
            .hint("wait for its end, or call `opencode_session_abort`"),
        (name, Some(said)) if name.ends_with("NotFoundError") => Error::new(Kind::NotFound, lowercase(&said)),
        (_, said) => by_status(refusal, said),
    }
}

fn by_status(refusal: &Refusal<'_>, said: Option<String>) -> Error {
    let Refusal { path, status, kind, .. } = *refusal;
    let words =
        said.map_or_else(|| format!("OpenCode answered {status} to `{path}`"), |said| lowercase(&said));
    match status {
        200..=299 => {
            Error::new(Kind::Upstream, format!("OpenCode does not know `{path}`: it answered {kind}"))
                .hint("update OpenCode, version 1.18 or later is needed; or check `opencode.server_url`")
        }
        400 | 422 => Error::new(Kind::InvalidInput, format!("OpenCode does not take that: {words}")),
        403 => Error::new(Kind::Denied, words),
        404 => Error::new(Kind::NotFound, words),
        408 | 504 => Error::new(Kind::Timeout, words),
        502 | 503 => Error::new(Kind::ConnectionFailed, words).hint("try again in a moment"),
        _ => Error::new(Kind::Upstream, words).hint("see the log of the OpenCode server for the reason"),
    }
}

/// An error whose reason stands only in the server's log.
fn opaque(reference: &str, log: Option<&LogRing>) -> Error {
    if let Some(reason) = log.and_then(|log| log.reason(reference)) {
        return Error::new(Kind::Upstream, format!("OpenCode failed: {reason}"));
    }
    Error::new(Kind::Upstream, format!("OpenCode failed, and says why only in its log, at `{reference}`"))
        .hint(format!("look for `{reference}` in the log of the OpenCode server"))
}

/// No answer came in time.
pub(super) fn late(base: &Url, time: Duration) -> Error {
    let words = format!("OpenCode at `{}` did not answer within {} s", shown(base), time.as_secs());
    Error::new(Kind::Timeout, words).hint("raise `opencode.timeout`, or check what the server is doing")
}

/// The way to the server is broken.
pub(super) fn lost(base: &Url, error: reqwest::Error) -> Error {
    let words = format!("OpenCode at `{}` cannot be reached", shown(base));
    // The address stands in the words already, perhaps with a project's path that nobody needs.
    Error::new(Kind::ConnectionFailed, words)
        .hint("start it with `opencode serve`, or take `opencode.server_url` away to let one be started")
        .because(error.without_url())
}

/// An address without the name and the password in it.
fn shown(base: &Url) -> String {
    shown_address(base.as_str().trim_end_matches('/'))
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(Into::into)
}

/// As a fragment: `Session not found: x` becomes `session not found: x`.
fn lowercase(text: &str) -> String {
    let text = text.trim_end_matches('.');
    // An abbreviation stays one.
    if text.chars().nth(1).is_some_and(char::is_uppercase) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, kind: Kind, words: &str) {
        let refusal = Refusal { path: "/session/x", status, kind: "application/json", body: body.as_bytes() };
        let log = LogRing::new();
        log.push("level=ERROR ref=err_1 error=\"Error: Sharing is disabled\" cause=\"x\"");
        let error = failure(&refusal, Some(&log));
        assert_eq!((error.kind(), error.message()), (kind, words), "{body}");
    }

    #[test]
    fn every_shape_of_error_is_understood() {
        let lost = r#"{"name":"NotFoundError","data":{"message":"Session not found: ses_bad"}}"#;
        check(404, lost, Kind::SessionNotFound, "session not found: ses_bad");
        let missing =
            r#"{"name":"BadRequest","data":{"message":"Missing key\n  at [\"path\"]","kind":"Query"}}"#;
        check(400, missing, Kind::InvalidInput, r#"OpenCode does not take that: missing key at ["path"]"#);
        let bare = r#"{"_tag":"BadRequest"}"#;
        check(
            400,
            bare,
            Kind::InvalidInput,
            "OpenCode does not take that: OpenCode answered 400 to `/session/x`",
        );
        let new = r#"{"_tag":"InvalidRequestError","message":"Bad thing","kind":"Body"}"#;
        check(400, new, Kind::InvalidInput, "OpenCode does not take that: bad thing");
        check(400, r#"{"error":"No flow"}"#, Kind::InvalidInput, "OpenCode does not take that: no flow");
        let server =
            r#"{"_tag":"McpServerNotFoundError","name":"demo","message":"MCP server not found: demo"}"#;
        check(404, server, Kind::Upstream, "MCP server not found: demo");
        let asked = r#"{"_tag":"PermissionNotFoundError","requestID":"per_1","message":"Not there"}"#;
        check(404, asked, Kind::NotFound, "not there");
        check(
            500,
            r#"{"_tag":"InternalServerError"}"#,
            Kind::Upstream,
            "OpenCode answered 500 to `/session/x`",
        );
        let busy = r#"{"_tag":"ServiceUnavailableError","message":"Not yet"}"#;
        check(503, busy, Kind::ConnectionFailed, "not yet");
        check(401, "", Kind::Unauthorized, "OpenCode refuses the password");
        check(409, r#"{"name":"SessionBusyError","data":{}}"#, Kind::Upstream, "the session is busy");
        check(418, "short and stout", Kind::Upstream, "OpenCode answered 418 to `/session/x`");
        let opaque = |reference: &str| {
            format!(
                r#"{{"name":"UnknownError","data":{{"message":"Check server logs","ref":"{reference}"}}}}"#
            )
        };
        check(500, &opaque("err_1"), Kind::Upstream, "OpenCode failed: Sharing is disabled");
        let unknown = "OpenCode failed, and says why only in its log, at `err_2`";
        check(500, &opaque("err_2"), Kind::Upstream, unknown);
    }

    #[test]
    fn a_password_in_the_address_is_not_told() {
        let base = Url::parse("http://me:hunter22@127.0.0.1:4096/x?k=hunter22").unwrap();
        let words = late(&base, Duration::from_secs(3)).message().to_owned();
        assert_eq!(
            words,
            "OpenCode at `http://[REDACTED]@127.0.0.1:4096/x?k=[REDACTED]` did not answer within 3 s"
        );
    }

    #[test]
    fn a_page_is_no_answer() {
        let refusal = Refusal { path: "/nope", status: 200, kind: "text/html", body: b"<html>" };
        let error = failure(&refusal, None);
        assert_eq!(error.message(), "OpenCode does not know `/nope`: it answered text/html");
        assert_eq!(error.kind(), Kind::Upstream);
    }
}
