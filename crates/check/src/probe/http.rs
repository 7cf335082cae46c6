//! Headers and statuses of a server over HTTP.

use serde_json::json;
use toolgate_wire::{Era, Version, code, headers, method};

use super::Stage;
use crate::connection::{Lost, Reply};
use crate::rule::{Rule, error, warning};
use crate::session::{initialize_params, with_meta};
use crate::subject::Subject;

pub(crate) static CONTENT_TYPE: Rule = error(
    "content-type",
    "Answers over HTTP are `application/json` or `text/event-stream`.",
    "set the `Content-Type` of every answer that has a body",
);
pub(crate) static NOTIFICATION_STATUS: Rule = warning(
    "notification-status",
    "A notification over HTTP is accepted with status 202 and no body.",
    "answer 202 Accepted to notifications and responses",
);
pub(crate) static ORIGIN: Rule = error(
    "origin",
    "A server on this machine refuses requests of web pages from elsewhere.",
    "answer 403 to an `Origin` that you do not know: without it any web page can call your tools (DNS rebinding)",
);
pub(crate) static UNKNOWN_SESSION: Rule = warning(
    "unknown-session",
    "A session that does not exist is answered with status 404, so that clients begin anew.",
    "answer 404 to an `Mcp-Session-Id` that you do not know",
);
pub(crate) static HEADER_MISMATCH: Rule = error(
    "header-mismatch",
    "A header that contradicts the body is refused with error -32020, in the modern era.",
    "compare `Mcp-Method`, `Mcp-Name` and `MCP-Protocol-Version` with the body, and answer -32020 where they differ",
);
pub(crate) static STATUS: Rule = error(
    "modern-status",
    "Errors have the HTTP status that the modern era gives them.",
    "answer an unknown method with 404, and an unknown version or a header that differs with 400",
);

/// Compares the status of an answer with what it should be.
pub(crate) fn status(stage: &mut Stage<'_>, reply: &Reply, expect: u16, what: &str) {
    stage.notes.tried(&STATUS);
    let given = reply.status.unwrap_or_default();
    if given != expect {
        stage.found(&STATUS, format!("status {given} instead of {expect} for {what}"));
    }
}

pub(crate) async fn run(stage: &mut Stage<'_>) {
    let Subject::Address(address) = stage.opener.subject else { return };
    if stage.opener.old {
        return;
    }
    let Some(session) = stage.session().await else { return };
    let (taken, has_session) = (session.taken, session.connection.session().is_some());
    if let Some(status) = taken {
        stage.notes.tried(&NOTIFICATION_STATUS);
        if status != 202 {
            stage.found(&NOTIFICATION_STATUS, format!("status {status} for `notifications/initialized`"));
        }
    }
    if address.is_loopback() {
        origin(stage).await;
    } else {
        stage.notes.skip(&ORIGIN, "the server is not on this machine");
    }
    match stage.era {
        Era::Legacy if has_session => unknown_session(stage).await,
        Era::Legacy => {}
        Era::Modern => header_mismatch(stage).await,
    }
}

/// Opens a conversation as a web page of somebody else would.
async fn origin(stage: &mut Stage<'_>) {
    stage.notes.tried(&ORIGIN);
    let opening = match stage.era {
        Era::Legacy => (method::INITIALIZE, initialize_params(Version::LATEST_LEGACY.as_str())),
        Era::Modern => (method::DISCOVER, with_meta(json!({}), Version::LATEST.as_str())),
    };
    let reply = ask(stage, opening, &[("origin", "http://evil.example")]).await;
    if reply.is_ok_and(|reply| reply.outcome.is_ok()) {
        stage.found(&ORIGIN, "a request with `Origin: http://evil.example` is answered");
    }
}

async fn unknown_session(stage: &mut Stage<'_>) {
    stage.notes.tried(&UNKNOWN_SESSION);
    let version = (headers::PROTOCOL_VERSION, Version::LATEST_LEGACY.as_str());
    let named = [(headers::SESSION_ID, "toolgate-check-no-such-session"), version];
    let status = match ask(stage, (method::PING, json!({})), &named).await {
        Ok(reply) => reply.status.unwrap_or_default(),
        Err(Lost::Status(status)) => status,
        Err(lost) => return stage.found(&UNKNOWN_SESSION, lost.to_string()),
    };
    if status != 404 {
        stage.found(&UNKNOWN_SESSION, format!("status {status} instead of 404"));
    }
}

async fn header_mismatch(stage: &mut Stage<'_>) {
    stage.notes.tried(&HEADER_MISMATCH);
    let discover = (method::DISCOVER, with_meta(json!({}), Version::LATEST.as_str()));
    match ask(stage, discover, &[(headers::METHOD, method::TOOLS_LIST)]).await {
        Ok(reply) => match reply.code() {
            Some(code) if code == i64::from(code::HEADER_MISMATCH) => {
                status(stage, &reply, 400, "a header that differs from the body");
            }
            Some(code) => stage.found(&HEADER_MISMATCH, format!("error {code} instead of -32020")),
            None => stage.found(&HEADER_MISMATCH, "`Mcp-Method` differs from the body, and nobody minds"),
        },
        Err(lost) => stage.found(&HEADER_MISMATCH, lost.to_string()),
    }
}

/// Asks one thing on a connection of its own.
async fn ask(
    stage: &mut Stage<'_>,
    (method, params): (&str, serde_json::Value),
    headers: &[(&str, &str)],
) -> Result<Reply, Lost> {
    let mut connection = stage.opener.connect().await?;
    let id = connection.fresh_id();
    let reply = connection.ask_with(id, method, params, headers, stage.opener.limits.answer).await;
    let (transcript, _) = connection.close().await;
    crate::rules::judge(&transcript, stage.opener.subject, stage.notes);
    reply
}
