//! Discord, by its HTTP API.

use serde_json::{Value, json};

use super::{Refused, Step, refused};
use crate::service::Service;

/// Links are shown without a preview: fetching one would tell its server what the text says.
const NO_PREVIEWS: u32 = 1 << 2;

pub(super) async fn take(service: &Service, step: Step<'_>) -> Result<String, Refused> {
    let (url, body) = match step {
        Step::Open(user) => (service.at(["users", "@me", "channels"]), json!({"recipient_id": user})),
        Step::Send(channel, text) => (service.at(["channels", channel, "messages"]), message(text)),
    };
    let reply = service.post(url, &body).await?;
    if reply.status == 429 {
        return Err(Refused::Later(reply.retry_in_body("/retry_after").or_else(|| reply.retry_after())));
    }
    match reply.text("/id") {
        Some(id) if (200..300).contains(&reply.status) && is_id(id) => Ok(id.to_owned()),
        _ => Err(refused(service, &reply, reply.text("/message"))),
    }
}

/// A message that calls nobody, whatever it says.
fn message(text: &str) -> Value {
    json!({"content": text, "allowed_mentions": {"parse": []}, "flags": NO_PREVIEWS})
}

/// What becomes part of an address is looked at first.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}
