//! Telegram, by its Bot API.

use serde_json::{Value, json};
use toolgate_core::{Error, Kind};

use super::{Refused, Step, not_found, refused, unauthorized};
use crate::service::{Reply, Service};

pub(super) async fn take(service: &Service, step: Step<'_>) -> Result<String, Refused> {
    let Step::Send(chat, text) = step else {
        return Err(Refused::No(Error::new(Kind::Internal, "no step of Telegram")));
    };
    let body = json!({"chat_id": chat_id(chat), "text": text, "link_preview_options": {"is_disabled": true}});
    let bot = format!("bot{}", service.token());
    let reply = service.post(service.at([bot.as_str(), "sendMessage"]), &body).await?;
    if reply.status == 429 {
        return Err(Refused::Later(
            reply.retry_in_body("/parameters/retry_after").or_else(|| reply.retry_after()),
        ));
    }
    let body = reply.body.as_ref();
    let ok = body.and_then(|body| body.get("ok")?.as_bool()) == Some(true);
    match body.and_then(|body| body.pointer("/result/message_id")?.as_i64()) {
        Some(id) if reply.status == 200 && ok => Ok(id.to_string()),
        _ => Err(meant(service, &reply)),
    }
}

/// An id is a number, and a name is a text.
fn chat_id(chat: &str) -> Value {
    chat.parse::<i64>().map_or_else(|_| chat.into(), Value::from)
}

fn meant(service: &Service, reply: &Reply) -> Refused {
    let said = reply.text("/description");
    let moved = reply.body.as_ref().and_then(|body| body.pointer("/parameters/migrate_to_chat_id")?.as_i64());
    if let Some(id) = moved {
        let error = Error::new(Kind::NotFound, "the group has another id by now");
        return Refused::No(error.hint(format!("send to `channel:{id}`")));
    }
    match (reply.status, said) {
        // A token that is none leads nowhere.
        (404, _) => Refused::No(unauthorized(service.name())),
        (400, Some(said)) if said.contains("chat not found") => {
            Refused::No(not_found(service.name(), &format!(": {}", service.words(said))))
        }
        _ => refused(service, reply, said),
    }
}
