//! Writes frames by putting raw parts together.

use bytes::Bytes;
use memchr::memchr2;

use crate::{escape, id::Id, message::Refusal, raw::Raw, walk};

/// What the fixed parts of a frame take at most.
const FIXED: usize = 64;

/// The answer to a request.
pub fn result(id: &Id, result: &Raw) -> Bytes {
    let mut out = open(Some(id), result.as_bytes().len());
    out.extend_from_slice(b",\"result\":");
    close(out, result)
}

/// An error as the answer to a request, or to something without a readable id.
pub fn error(id: Option<&Id>, code: i32, message: &str, data: Option<&Raw>) -> Bytes {
    error_raw(id, &error_object(code, message, data))
}

/// The answer to a text that is not accepted as a message.
pub fn refusal(refusal: &Refusal) -> Bytes {
    error(refusal.id.as_ref(), refusal.code, &refusal.message, None)
}

/// An error object.
pub fn error_object(code: i32, message: &str, data: Option<&Raw>) -> Raw {
    let data_len = data.map_or(0, |data| data.as_bytes().len());
    let mut out = Vec::with_capacity(FIXED + message.len() + data_len);
    out.extend_from_slice(b"{\"code\":");
    out.extend_from_slice(code.to_string().as_bytes());
    out.extend_from_slice(b",\"message\":");
    escape::encode(message, &mut out);
    if let Some(data) = data {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data.as_bytes());
    }
    out.push(b'}');
    Raw::trusted(out.into())
}

/// An error object as the answer to a request; without an id it says `null`.
pub fn error_raw(id: Option<&Id>, error: &Raw) -> Bytes {
    let mut out = open(id, error.as_bytes().len());
    if id.is_none() {
        out.extend_from_slice(b",\"id\":null");
    }
    out.extend_from_slice(b",\"error\":");
    close(out, error)
}

/// A request.
pub fn request(id: &Id, method: &str, params: &Raw) -> Bytes {
    call(Some(id), method, Some(params))
}

/// A notification.
pub fn notification(method: &str, params: Option<&Raw>) -> Bytes {
    call(None, method, params)
}

fn call(id: Option<&Id>, method: &str, params: Option<&Raw>) -> Bytes {
    let params_len = params.map_or(0, |params| params.as_bytes().len());
    let mut out = open(id, method.len() + params_len);
    out.extend_from_slice(b",\"method\":");
    escape::encode(method, &mut out);
    let Some(params) = params else {
        out.push(b'}');
        return out.into();
    };
    out.extend_from_slice(b",\"params\":");
    close(out, params)
}

fn open(id: Option<&Id>, more: usize) -> Vec<u8> {
    let id_len = id.map_or(0, |id| id.raw().as_bytes().len());
    let mut out = Vec::with_capacity(FIXED + id_len + more);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    if let Some(id) = id {
        out.extend_from_slice(b",\"id\":");
        out.extend_from_slice(id.raw().as_bytes());
    }
    out
}

fn close(mut out: Vec<u8>, last: &Raw) -> Bytes {
    out.extend_from_slice(last.as_bytes());
    out.push(b'}');
    out.into()
}

/// Messages put together as one frame; `None` if there are none, because an empty batch is no frame.
pub fn batch(messages: &[Bytes]) -> Option<Bytes> {
    let (first, rest) = messages.split_first()?;
    let mut out = Vec::with_capacity(messages.iter().map(|message| message.len() + 1).sum::<usize>() + 1);
    out.push(b'[');
    out.extend_from_slice(first);
    for message in rest {
        out.push(b',');
        out.extend_from_slice(message);
    }
    out.push(b']');
    Some(out.into())
}

/// The same JSON on one line, as stdio needs it: unchanged if it is, else without the white space
/// between its tokens. A line break cannot be inside a string of valid JSON.
pub fn one_line(frame: Bytes) -> Bytes {
    if memchr2(b'\n', b'\r', &frame).is_none() {
        return frame;
    }
    let mut out = Vec::with_capacity(frame.len());
    let mut at = 0;
    while let Some(byte) = frame.get(at) {
        let end = if *byte == b'"' { walk::string_end(&frame, at) } else { at + 1 };
        if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            out.extend_from_slice(&frame[at..end]);
        }
        at = end;
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(frame: &Bytes, expect: &str) {
        assert_eq!(str::from_utf8(frame), Ok(expect));
    }

    #[test]
    fn answers_are_put_together() {
        let id = Id::number(7);
        let data = Raw::literal("[ 1 ]");
        check(&result(&id, &Raw::EMPTY_OBJECT), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        check(
            &error(Some(&id), -1, "a\"b", None),
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"a\"b"}}"#,
        );
        check(
            &error(None, -32700, "no", Some(&data)),
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no","data":[ 1 ]}}"#,
        );
    }

    #[test]
    fn requests_and_notifications_are_put_together() {
        let params = Raw::literal(r#"{"a":1}"#);
        check(
            &request(&Id::text("x"), "tools/list", &params),
            r#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"a":1}}"#,
        );
        check(&notification("n", Some(&params)), r#"{"jsonrpc":"2.0","method":"n","params":{"a":1}}"#);
        check(&notification("n", None), r#"{"jsonrpc":"2.0","method":"n"}"#);
    }

    #[test]
    fn a_batch_is_an_array() {
        check(&batch(&["{}".into()]).unwrap(), "[{}]");
        check(&batch(&["{}".into(), "1".into()]).unwrap(), "[{},1]");
        assert_eq!(batch(&[]), None);
    }

    #[test]
    fn a_frame_becomes_one_line() {
        check(&one_line("{ \"a\": 1 }".into()), "{ \"a\": 1 }");
        check(&one_line("{\n  \"a b\\\" \\\\\": [1,\r\n\t 2]\n}".into()), "{\"a b\\\" \\\\\":[1,2]}");
        check(&one_line("\r\n1\n".into()), "1");
    }
}
