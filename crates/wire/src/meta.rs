//! The `_meta` object of requests: its key names, and what a request says about itself in it.

use std::borrow::Cow;

use crate::{escape, id::Id, raw::Raw, version::Version, walk};

/// The member of `params` and results that holds all keys below.
pub const META: &str = "_meta";
/// The protocol version of a modern request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client of a modern request can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The name and version of the client of a modern request.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The name and version of the server, in a modern result.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// From which level on a modern request wants log messages.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The id of the `subscriptions/listen` request to which a notification belongs.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The task to which a message belongs (2025-11-25).
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// What progress notifications of a request must carry.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// How one Toolgate tells another which questions are asked together, and by which keys (legacy has no word for it).
pub const TOOLGATE_QUESTION: &str = "dev.toolgate/question";
/// What failed, in the result of a tool of ours that failed.
pub const TOOLGATE_ERROR: &str = "dev.toolgate/error";
/// W3C trace context: the parent.
pub const TRACEPARENT: &str = "traceparent";
/// W3C trace context: the state.
pub const TRACESTATE: &str = "tracestate";
/// W3C baggage.
pub const BAGGAGE: &str = "baggage";

/// What a request says about itself in `_meta`; nothing is read further than to find it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestMeta {
    /// The protocol version.
    pub version: Option<Raw>,
    /// What the client can do.
    pub capabilities: Option<Raw>,
    /// Name and version of the client.
    pub client_info: Option<Raw>,
    /// From which level on log messages are wanted.
    pub log_level: Option<Raw>,
    /// What progress notifications must carry.
    pub progress_token: Option<Raw>,
    /// The trace to which the request belongs.
    pub traceparent: Option<Raw>,
}

impl RequestMeta {
    /// Reads `params._meta` in one pass; without one, or if it is no object, there is nothing.
    pub fn read(params: &Raw) -> Self {
        params.get(META).as_ref().map(Self::of).unwrap_or_default()
    }

    /// Reads the value of `_meta` in one pass; if it is no object, there is nothing.
    pub fn of(meta: &Raw) -> Self {
        let mut found = Self::default();
        let text = meta.as_bytes();
        for member in walk::members(text) {
            let key = escape::decode(&text[member.key]);
            let Some(slot) = found.slot(&key) else { continue };
            *slot = Some(meta.part(member.value));
        }
        found
    }

    /// The protocol version as text.
    pub fn version_text(&self) -> Option<Cow<'_, str>> {
        self.version.as_ref()?.as_string()
    }

    /// The protocol version, if it is a known one.
    pub fn known_version(&self) -> Option<Version> {
        self.version_text()?.parse().ok()
    }

    /// The progress token: a string or a number, as ids are.
    pub fn progress_id(&self) -> Option<Id> {
        self.progress_token.clone().and_then(Id::new)
    }

    fn slot(&mut self, key: &[u8]) -> Option<&mut Option<Raw>> {
        Some(match str::from_utf8(key).ok()? {
            PROTOCOL_VERSION => &mut self.version,
            CLIENT_CAPABILITIES => &mut self.capabilities,
            CLIENT_INFO => &mut self.client_info,
            LOG_LEVEL => &mut self.log_level,
            PROGRESS_TOKEN => &mut self.progress_token,
            TRACEPARENT => &mut self.traceparent,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_keys_are_found_among_others() {
        let params = Raw::literal(
            r#"{"name":"x","_meta":{"vendor/x":{"progressToken":1},"io.modelcontextprotocol\/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{"a":[]},"progressToken":"\u0078",
            "io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/logLevel":"info","traceparent":"00-1"}}"#,
        );
        let meta = RequestMeta::read(&params);
        assert_eq!(meta.known_version(), Some(Version::V2026_07_28));
        assert_eq!(meta.capabilities, Some(Raw::literal(r#"{"a":[]}"#)));
        assert_eq!(meta.client_info, Some(Raw::literal(r#"{"name":"c"}"#)));
        assert_eq!(meta.log_level, Some(Raw::string("info")));
        assert_eq!(meta.progress_id(), Some(Id::text("x")));
        assert_eq!(meta.traceparent, Some(Raw::string("00-1")));
    }

    #[test]
    fn without_an_object_there_is_nothing() {
        for params in ["{}", r#"{"_meta":null}"#, r#"{"_meta":[1]}"#, "[]", r#"{"_meta":{}}"#] {
            assert_eq!(RequestMeta::read(&Raw::literal(params)), RequestMeta::default());
        }
    }
}
