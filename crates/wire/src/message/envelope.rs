//! Where the members of one message are, and which kind of message they make.

use std::{borrow::Cow, ops::Range};

use bytes::Bytes;

use super::{Message, Notification, Refusal, Request, Response};
use crate::{
    escape,
    id::Id,
    method,
    raw::{Kind, Raw},
    walk::Member,
};

/// The members that JSON-RPC knows, as spans of the text.
#[derive(Default)]
pub(super) struct Envelope {
    jsonrpc: Option<Range<usize>>,
    id: Option<Range<usize>>,
    method: Option<Range<usize>>,
    params: Option<Range<usize>>,
    result: Option<Range<usize>>,
    error: Option<Range<usize>>,
}

impl Envelope {
    /// Remembers a member, if it is one of those; others are ignored.
    pub(super) fn take(&mut self, text: &[u8], member: Member) {
        let key = escape::decode(&text[member.key]);
        let slot = match &*key {
            b"jsonrpc" => &mut self.jsonrpc,
            b"id" => &mut self.id,
            b"method" => &mut self.method,
            b"params" => &mut self.params,
            b"result" => &mut self.result,
            b"error" => &mut self.error,
            _ => return,
        };
        *slot = Some(member.value);
    }

    /// The message which the members make.
    pub(super) fn message(self, text: &Bytes) -> Result<Message, Refusal> {
        let raw = |span: Option<Range<usize>>| span.map(|span| Raw::trusted(text.slice(span)));
        let given = raw(self.id);
        let id = given.clone().and_then(Id::new);
        let refuse = |reason: &str| Err(Refusal::invalid(reason, id.clone()));

        let version = raw(self.jsonrpc);
        if version.as_ref().and_then(Raw::as_string).as_deref() != Some("2.0") {
            return refuse("`jsonrpc` must be \"2.0\"");
        }
        let null_id = given.as_ref().is_some_and(Raw::is_null);
        if given.is_some() && id.is_none() && !(null_id && self.error.is_some()) {
            return refuse("`id` must be a string or a number");
        }
        match (raw(self.method), raw(self.result), raw(self.error)) {
            (Some(method), None, None) => call(id, &method, raw(self.params)),
            (None, Some(result), None) if id.is_some() => Ok(response(id, Ok(result))),
            (None, Some(_), None) => refuse("a response must have an `id`"),
            (None, None, Some(error)) if error.is_object() => Ok(response(id, Err(error))),
            (None, None, Some(_)) => refuse("`error` must be an object"),
            (None, Some(_), Some(_)) => refuse("a response must not have both `result` and `error`"),
            (Some(_), _, _) => refuse("a message must not have `method` together with `result` or `error`"),
            (None, None, None) => refuse("a message must have `method`, `result` or `error`"),
        }
    }
}

fn response(id: Option<Id>, outcome: Result<Raw, Raw>) -> Message {
    Message::Response(Response { id, outcome })
}

fn call(id: Option<Id>, method: &Raw, params: Option<Raw>) -> Result<Message, Refusal> {
    let Some(method) = method.as_string().map(|name: Cow<'_, str>| method::intern(name)) else {
        return Err(Refusal::invalid("`method` must be a string", id));
    };
    let params = params.filter(|params| !params.is_null());
    // JSON-RPC forbids an answer to a notification, and so also the one that its params are wrong.
    let Some(id) = id else {
        return Ok(Message::Notification(Notification { method, params: params.filter(Raw::is_object) }));
    };
    match params.as_ref().map(Raw::kind) {
        None | Some(Kind::Object) => {}
        Some(Kind::Array) => {
            let reason = "`params` must be an object: MCP has no parameters by position";
            return Err(Refusal::invalid(reason, Some(id)));
        }
        Some(Kind::Null | Kind::Bool | Kind::Number | Kind::String) => {
            return Err(Refusal::invalid("`params` must be an object", Some(id)));
        }
    }
    Ok(Message::Request(Request { id, method, params }))
}
