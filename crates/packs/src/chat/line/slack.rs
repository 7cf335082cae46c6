//! Slack, by its Web API.

use serde_json::json;
use toolgate_core::{Error, Kind};

use super::{Refused, Step, not_found, refused, unauthorized};
use crate::service::Service;

pub(super) async fn take(service: &Service, step: Step<'_>) -> Result<String, Refused> {
    // A user's id is as good as a channel's.
    let Step::Send(channel, text) = step else {
        return Err(Refused::No(Error::new(Kind::Internal, "no step of Slack")));
    };
    let body =
        json!({"channel": channel, "text": escaped(text), "unfurl_links": false, "unfurl_media": false});
    let reply = service.post(service.at(["chat.postMessage"]), &body).await?;
    if reply.status == 429 {
        return Err(Refused::Later(reply.retry_after()));
    }
    let ok = reply.body.as_ref().and_then(|body| body.get("ok")?.as_bool());
    match (reply.status, ok) {
        (200, Some(true)) => Ok(reply.text("/ts").unwrap_or_default().to_owned()),
        (200, Some(false)) => match reply.text("/error").unwrap_or_default() {
            "ratelimited" | "rate_limited" => Err(Refused::Later(reply.retry_after())),
            code => Err(meant(service, code)),
        },
        _ => Err(refused(service, &reply, reply.text("/error"))),
    }
}

/// What an error of Slack means; there are many more, and each says it in a word.
fn meant(service: &Service, code: &str) -> Refused {
    let (name, words) = (service.name(), service.words(code));
    let no = |kind, message: String| Refused::No(Error::new(kind, message));
    match code {
        "not_authed" | "invalid_auth" | "token_revoked" | "token_expired" | "account_inactive" => {
            Refused::No(unauthorized(name))
        }
        "channel_not_found" | "user_not_found" => Refused::No(not_found(name, &format!(": {words}"))),
        "msg_too_long" | "no_text" | "invalid_arguments" => {
            no(Kind::InvalidInput, format!("{name} does not take the message: {words}"))
        }
        "internal_error" | "fatal_error" | "request_timeout" | "service_unavailable" => {
            Refused::Unsure(Error::new(Kind::ConnectionFailed, format!("{name} failed: {words}")))
        }
        "not_in_channel" => {
            let error = Error::new(Kind::Denied, format!("{name} does not let the bot write there: {words}"));
            Refused::No(error.hint("ask someone to invite the bot into the channel"))
        }
        _ => no(Kind::Denied, format!("{name} does not let the bot write there: {words}")),
    }
}

/// A text in which nothing calls anyone or is a link with another name.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
