//! JSON-RPC messages: the envelope read, and everything inside left as it is.

use std::{borrow::Cow, fmt};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{code, id::Id, raw::Raw, scan, scan::Malformed};

mod envelope;

use envelope::Envelope;

/// What one HTTP body or one line holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// One message.
    One(Message),
    /// An array of messages, each accepted or refused by itself; never empty.
    Batch(Vec<Result<Message, Refusal>>),
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// It wants an answer.
    Request(Request),
    /// It wants none.
    Notification(Notification),
    /// It is an answer.
    Response(Response),
}

/// A message that wants an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What the answer must carry.
    pub id: Id,
    /// What is asked for; names from [`crate::method`] are not allocated.
    pub method: Cow<'static, str>,
    /// An object, if present.
    pub params: Option<Raw>,
}

/// A message that wants no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// What has happened.
    pub method: Cow<'static, str>,
    /// An object, if present.
    pub params: Option<Raw>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The id of the request; an error may come without, if the id could not be read.
    pub id: Option<Id>,
    /// The result, or the error object.
    pub outcome: Result<Raw, Raw>,
}

/// Why a text is not accepted as a message, ready to be answered with [`crate::write::error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// [`code::PARSE`] or [`code::INVALID_REQUEST`].
    pub code: i32,
    /// What is wrong.
    pub message: String,
    /// The id of the message, where it could be read.
    pub id: Option<Id>,
}

impl Refusal {
    fn invalid(message: impl Into<String>, id: Option<Id>) -> Self {
        Self { code: code::INVALID_REQUEST, message: message.into(), id }
    }

    /// A duplicate key, a lone surrogate in a key or too much depth is JSON by the letter, so that
    /// it is an invalid request, not a parse error.
    fn malformed(fault: Malformed, text: &[u8]) -> Self {
        if fault.kind.is_json() {
            return Self::invalid(fault.to_string(), id_of(text));
        }
        Self { code: code::PARSE, message: fault.to_string(), id: None }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// Reads a frame. All parts are slices of `text`: nothing is copied.
///
/// A text that is not JSON is refused with [`code::PARSE`]; JSON that is no message, or that could
/// mean two things (see [`crate::Fault`]), with [`code::INVALID_REQUEST`]: it is JSON, and refused all
/// the same. Of several faults the first one counts. `params` of `null` count as absent, because
/// serializers of several languages write an empty field so.
pub fn parse(text: Bytes) -> Result<Frame, Refusal> {
    let mut envelope = Envelope::default();
    let span = scan::scan_members(&text, |member| envelope.take(&text, member))
        .map_err(|fault| Refusal::malformed(fault, &text))?;
    match text.get(span.start) {
        Some(b'{') => envelope.message(&text).map(Frame::One),
        Some(b'[') => batch(&Raw::trusted(text.slice(span))),
        Some(_) | None => Err(Refusal::invalid("a message must be an object", None)),
    }
}

fn batch(array: &Raw) -> Result<Frame, Refusal> {
    let messages: Vec<_> = array.items().map(|item| message(&item)).collect();
    if messages.is_empty() {
        return Err(Refusal::invalid("a batch must not be empty", None));
    }
    Ok(Frame::Batch(messages))
}

/// Reads a message from a value that is checked already.
fn message(value: &Raw) -> Result<Message, Refusal> {
    if !value.is_object() {
        return Err(Refusal::invalid("a message must be an object", None));
    }
    let text = value.bytes();
    let mut envelope = Envelope::default();
    crate::walk::members(&text).for_each(|member| envelope.take(&text, member));
    envelope.message(&text)
}

/// The id of a message that is refused for something else, if it has exactly one.
fn id_of(text: &[u8]) -> Option<Id> {
    #[derive(Deserialize)]
    struct OnlyId<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    let only: OnlyId<'_> = serde_json::from_slice(text).ok()?;
    let raw = Raw::parse(Bytes::copy_from_slice(only.id.get().as_bytes())).ok()?;
    Id::new(raw)
}

#[cfg(test)]
mod tests;
