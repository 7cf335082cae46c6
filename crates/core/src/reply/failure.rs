//! How errors are written: as a result the model can learn from, or as a JSON-RPC error.

use serde_json::json;
use toolgate_wire::{Edit, Raw, meta};

use crate::{Error, Kind, RpcForm};

/// An error in the form its kind asks for.
pub(crate) enum Written {
    Result(Raw),
    Error(Raw),
}

/// Writes the error of a tool call in the form its kind asks for.
pub(crate) fn written(error: &Error, operation: &str) -> Written {
    match (error.as_forwarded(), error.kind().tool_form()) {
        (Some(_), _) | (None, RpcForm::Error(_)) => Written::Error(error_object(error)),
        (None, RpcForm::Result) => Written::Result(error_result(error, operation)),
    }
}

/// The result of a tool call that failed: readable for the model, `isError: true`, details in `_meta`.
pub fn error_result(error: &Error, operation: &str) -> Raw {
    let suggestions = error.suggestions();
    let mut text = match error.is_sentence() {
        true => format!("Error: {}\n\nSuggestions:", error.message()),
        false => format!("Error: {operation} failed.\n\nDetails: {}\n\nSuggestions:", error.message()),
    };
    for (place, suggestion) in suggestions.iter().enumerate() {
        text.push_str(&format!("\n  {}. {suggestion}", place + 1));
    }
    let mut about = json!({
        "error": error.message(),
        "category": error.kind().category(),
        "suggestions": suggestions,
    });
    // What a client lacks has a code in the modern era only: a Toolgate in front of us makes an error of it again.
    let lacks = error.detail().filter(|_| error.kind() == Kind::MissingCapability);
    if let Some(data) = lacks.and_then(|data| data.to::<serde_json::Value>().ok()) {
        about["data"] = data;
    }
    Raw::of(&json!({
        "content": [{"type": "text", "text": text}],
        "isError": true,
        "_meta": {meta::TOOLGATE_ERROR: about},
    }))
}

/// The `error` object of a JSON-RPC answer.
pub fn error_object(error: &Error) -> Raw {
    if let Some(forwarded) = error.as_forwarded() {
        return forwarded.clone();
    }
    let message = match error.next_step() {
        Some(hint) => format!("{}; {hint}", error.message()),
        None => error.message().to_owned(),
    };
    let object = Raw::of(&json!({"code": error.kind().code(), "message": message}));
    match error.detail() {
        Some(data) => Edit::new(&object).set("data", data.clone()).finish(),
        None => object,
    }
}
