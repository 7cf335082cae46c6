//! How the server converses: what it does not know, what it is told, what it is asked in an unusual way.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};
use toolgate_wire::{Era, code, meta, method};

use super::Stage;
use crate::connection::{Lost, pause};
use crate::notes::quote;
use crate::rule::{Rule, error, warning};
use crate::session::Session;

pub(crate) static PING: Rule = error(
    "ping",
    "`ping` is answered with an empty result, in the legacy era.",
    "answer `ping` with `{}` at any time, also before anything else is set up",
);
pub(crate) static UNKNOWN_METHOD: Rule = error(
    "unknown-method",
    "A method that the server does not know is answered with error -32601.",
    "answer every request, and what you do not know with error -32601 (`Method not found`)",
);
pub(crate) static UNKNOWN_TOOL: Rule = error(
    "unknown-tool",
    "A call of a tool that does not exist is an error.",
    "answer error -32602, or a result with `isError: true`, and go on",
);
pub(crate) static UNKNOWN_TOOL_CODE: Rule = warning(
    "unknown-tool-code",
    "A call of a tool that does not exist is answered with error -32602, or with a result that says `isError`.",
    "use code -32602 (`Invalid params`): others mean that the method or the server is broken",
);
pub(crate) static CANCELLATION: Rule = error(
    "cancellation",
    "A cancellation, also of a request that is done or never was, is taken without an answer.",
    "ignore `notifications/cancelled` for ids that you do not know, and go on",
);
pub(crate) static LISTEN: Rule = error(
    "listen",
    "A server that declares `listChanged` acknowledges `subscriptions/listen` first, in the modern era.",
    "send `notifications/subscriptions/acknowledged`, with the id of the request as subscription id, before anything else",
);

pub(crate) async fn run(stage: &mut Stage<'_>) {
    if stage.era == Era::Legacy {
        ping(stage).await;
    }
    ids(stage).await;
    unknown_method(stage).await;
    unknown_tool(stage).await;
    notification(stage).await;
    cancellation(stage).await;
    if stage.era == Era::Modern {
        listen(stage).await;
    }
}

async fn ping(stage: &mut Stage<'_>) {
    stage.notes.tried(&PING);
    let Some(session) = stage.session().await else { return };
    match session.request(method::PING, json!({})).await {
        Ok(reply) => {
            if let Err(error) = reply.outcome {
                stage.found(
                    &PING,
                    format!("error {}: {}", error["code"], quote(&error["message"].to_string())),
                );
            }
        }
        Err(lost) => stage.lost(&PING, &lost).await,
    }
}

/// Asks under ids of both types; the transcript shows whether they come back as they were.
async fn ids(stage: &mut Stage<'_>) {
    let rule = &crate::rules::messages::SAME_ID;
    stage.notes.tried(rule);
    for id in [json!("toolgate-check"), json!("900001")] {
        let limit = stage.opener.limits.answer;
        let Some(session) = stage.session().await else { return };
        let (method, params) = (session.least(), session.params(json!({})));
        if let Err(lost) = session.connection.ask(id.clone(), method, params, limit).await {
            stage.lost(rule, &Lost::Gone(format!("a request with the id {id}: {lost}"))).await;
        }
    }
}

async fn unknown_method(stage: &mut Stage<'_>) {
    stage.notes.tried(&UNKNOWN_METHOD);
    let Some(session) = stage.session().await else { return };
    let is_stdio = session.connection.is_stdio();
    match session.request("toolgate/no-such-method", json!({})).await {
        Ok(reply) => match reply.code() {
            Some(code) if code == i64::from(code::METHOD_NOT_FOUND) => {
                if stage.era == Era::Modern && !is_stdio {
                    super::http::status(stage, &reply, 404, "an unknown method");
                }
            }
            Some(code) => stage.found(&UNKNOWN_METHOD, format!("error {code} instead of -32601")),
            None => stage.found(&UNKNOWN_METHOD, "a result, as if it knew the method"),
        },
        Err(lost) => stage.lost(&UNKNOWN_METHOD, &lost).await,
    }
}

async fn unknown_tool(stage: &mut Stage<'_>) {
    let Some(session) = stage.session().await else { return };
    if session.capabilities().get("tools").is_none() {
        return;
    }
    let call = json!({"name": "toolgate_no_such_tool", "arguments": {}});
    let reply = session.request(method::TOOLS_CALL, call).await;
    stage.notes.tried(&UNKNOWN_TOOL);
    stage.notes.tried(&UNKNOWN_TOOL_CODE);
    match reply {
        Ok(reply) => match (&reply.outcome, reply.code()) {
            (Ok(result), _) if result["isError"] == true => {}
            (Ok(_), _) => stage.found(&UNKNOWN_TOOL, "a result without `isError: true`"),
            (Err(_), Some(code)) if code == i64::from(code::INVALID_PARAMS) => {}
            (Err(_), code) => stage.found(&UNKNOWN_TOOL_CODE, format!("error {}", code.unwrap_or_default())),
        },
        Err(lost) => stage.lost(&UNKNOWN_TOOL, &lost).await,
    }
}

/// Tells something that nobody knows; an answer to it shows in the transcript.
async fn notification(stage: &mut Stage<'_>) {
    let rule = &crate::rules::messages::NOTIFICATION;
    stage.notes.tried(rule);
    let Some(session) = stage.session().await else { return };
    let params = session.params(json!({}));
    let told = session.connection.tell("notifications/toolgate/unknown", params).await;
    let alive = match told {
        Ok(_) => session.alive().await,
        Err(lost) => Err(lost),
    };
    if let Err(lost) = alive {
        stage.lost(rule, &Lost::Gone(format!("after a notification that it does not know: {lost}"))).await;
    }
}

async fn cancellation(stage: &mut Stage<'_>) {
    let Some(session) = stage.session().await else { return };
    if session.era == Era::Modern && !session.connection.is_stdio() {
        return;
    }
    let under_way = session.connection.fresh_id();
    let (method, params) = (session.least(), session.params(json!({})));
    let begun = session.connection.begin(under_way.clone(), method, params).await;
    let mut outcome = begun;
    for id in [under_way, json!(987_654_321), json!("never-asked")] {
        if outcome.is_ok() {
            let params = json!({"requestId": id, "reason": "a check"});
            outcome = session.connection.tell(method::CANCELLED, params).await.map(drop);
        }
    }
    if outcome.is_ok() {
        outcome = session.alive().await;
    }
    stage.notes.tried(&CANCELLATION);
    if let Err(lost) = outcome {
        stage.lost(&CANCELLATION, &Lost::Gone(format!("after cancellations: {lost}"))).await;
    }
}

async fn listen(stage: &mut Stage<'_>) {
    let Some(session) = stage.session().await else { return };
    if session.capabilities()["tools"]["listChanged"] != true {
        return;
    }
    stage.notes.tried(&LISTEN);
    let limit = stage.opener.limits.answer;
    let Some(session) = stage.session().await else { return };
    let (id, first) = begin_to_listen(session, limit).await;
    match first {
        Ok(first) if first["method"] == method::SUBSCRIPTIONS_ACKNOWLEDGED => unlisten(stage, &id).await,
        Ok(first) => {
            let what = first["method"].as_str().unwrap_or("an answer to the request");
            stage.found(&LISTEN, format!("the first message is {}", quote(what)));
        }
        Err(lost) => stage.lost(&LISTEN, &lost).await,
    }
}

/// Asks to be told of changes, and again if the server says when; the id, and the first that comes of it.
async fn begin_to_listen(session: &mut Session, limit: Duration) -> (Value, Result<Value, Lost>) {
    let until = Instant::now() + limit;
    loop {
        let id = session.connection.fresh_id();
        let params = session.params(json!({"notifications": {"toolsListChanged": true}}));
        let begun = session.connection.begin(id.clone(), method::SUBSCRIPTIONS_LISTEN, params).await;
        let belongs = |message: &Value| {
            message["id"] == id || message["params"][meta::META][meta::SUBSCRIPTION_ID] == id
        };
        let first = match begun {
            Ok(()) => session.connection.hear(belongs).await,
            Err(lost) => Err(lost),
        };
        let again = first.as_ref().ok().and_then(|first| pause(&first["error"]));
        match again.map(|pause| Instant::now() + pause) {
            Some(again) if again < until => sleep_until(again).await,
            Some(_) | None => return (id, first),
        }
    }
}

/// Ends a subscription. Over HTTP a closed stream says so.
async fn unlisten(stage: &mut Stage<'_>, id: &Value) {
    let Some(session) = stage.session().await else { return };
    if !session.connection.is_stdio() {
        return;
    }
    let told = session.connection.tell(method::CANCELLED, json!({"requestId": id})).await;
    let alive = match told {
        Ok(_) => session.alive().await,
        Err(lost) => Err(lost),
    };
    if let Err(lost) = alive {
        stage.lost(&CANCELLATION, &Lost::Gone(format!("after the end of a subscription: {lost}"))).await;
    }
}
