//! What the server does with what it cannot understand, and at its end. Each on a connection of its own.

use serde_json::{Value, json};
use toolgate_wire::{Era, Version};

use super::Stage;
use crate::connection::{Ended, Lost};
use crate::rule::{Rule, error, warning};
use crate::session::Session;

pub(crate) static BROKEN_JSON: Rule = error(
    "survives-broken-json",
    "A text that is not JSON does not end the conversation.",
    "answer error -32700 or ignore it, and read the next message",
);
pub(crate) static SURVIVES_BATCH: Rule = error(
    "survives-batch",
    "A batch, wanted or not, does not end the conversation.",
    "answer error -32600 where your revision has no batches, and read the next message",
);
pub(crate) static BATCH: Rule = warning(
    "batch",
    "A server that grants 2025-03-26 answers every request of a batch.",
    "answer the requests of an array, or do not grant 2025-03-26, the one revision with batches",
);
pub(crate) static LONG_MESSAGE: Rule = error(
    "long-message",
    "A message of 6 MB is answered, refused, or ends the server with words.",
    "limit the length of messages, say so in an error or on standard error, and do not crash or hang",
);
pub(crate) static ENDS: Rule = error(
    "ends-with-input",
    "A server on standard input ends soon after its input ends.",
    "end the process when standard input is at its end: clients that are gone cannot stop it",
);

/// More than most limits.
const LONG: usize = 6 * 1024 * 1024;

pub(crate) async fn run(stage: &mut Stage<'_>) {
    broken_json(stage).await;
    batch(stage).await;
    long_message(stage).await;
}

async fn broken_json(stage: &mut Stage<'_>) {
    let Some(mut session) = stage.own(&BROKEN_JSON).await else { return };
    stage.notes.tried(&BROKEN_JSON);
    let said = session.connection.say(r#"{"jsonrpc":"2.0","id":1,"method":"#).await;
    survive(stage, &BROKEN_JSON, session, said.map(drop)).await;
}

async fn batch(stage: &mut Stage<'_>) {
    let opened = match stage.era {
        Era::Legacy => stage.opener.legacy(Version::V2025_03_26).await,
        Era::Modern => stage.opener.open(Era::Modern).await,
    };
    let mut session = match opened {
        Ok(session) => session,
        Err(not_opened) => return stage.notes.skip(&SURVIVES_BATCH, not_opened.to_string()),
    };
    stage.notes.tried(&SURVIVES_BATCH);
    let granted = session.version.has_batches();
    let ids = [session.connection.fresh_id(), session.connection.fresh_id()];
    let method = session.least();
    let requests = ids.clone().map(|id| (id, method));
    let sent = session.connection.batch(&requests).await;
    let answered = survive(stage, &SURVIVES_BATCH, session, sent.map(drop)).await;
    if let (true, Some(answered)) = (granted, answered) {
        stage.notes.tried(&BATCH);
        let missing = ids.iter().filter(|id| !answered.contains(id)).count();
        if missing > 0 {
            stage.found(&BATCH, format!("{missing} of 2 requests in a batch have no answer"));
        }
    }
}

/// Asks whether the server is still there, and ends the conversation; the ids of all it answered, if it was.
async fn survive(
    stage: &mut Stage<'_>,
    rule: &'static Rule,
    mut session: Session,
    so_far: Result<(), Lost>,
) -> Option<Vec<Value>> {
    let alive = match so_far {
        Ok(()) => session.alive().await,
        Err(lost) => Err(lost),
    };
    let (transcript, _) = session.connection.close().await;
    crate::rules::judge(&transcript, stage.opener.subject, stage.notes);
    if let Err(lost) = alive {
        stage.found(rule, format!("the next request: {lost}"));
        return None;
    }
    Some(
        transcript
            .heard()
            .filter(|message| message.get("method").is_none())
            .map(|m| m["id"].clone())
            .collect(),
    )
}

async fn long_message(stage: &mut Stage<'_>) {
    let Some(mut session) = stage.own(&LONG_MESSAGE).await else { return };
    stage.notes.tried(&LONG_MESSAGE);
    let complaints = stage.opener.complaints.lines();
    let (id, method) = (session.connection.fresh_id(), session.least());
    let params = session.params(json!({"_meta": {"dev.toolgate/padding": "x".repeat(LONG)}}));
    let is_stdio = session.connection.is_stdio();
    session.connection.excuse();
    // On a stream the next request stands behind it; over HTTP it must be waited for.
    let sent = if is_stdio {
        session.connection.begin(id, method, params).await
    } else {
        session.connection.ask(id, method, params, stage.opener.limits.answer).await.map(drop)
    };
    let alive = match sent {
        Err(Lost::Gone(_)) if is_stdio => sent,
        Err(Lost::Late(_)) => sent,
        Ok(()) | Err(Lost::Gone(_) | Lost::Status(_)) => match session.alive().await {
            // Whoever closes the connection that brings too much still serves others.
            Err(Lost::Gone(_)) if !is_stdio => session.alive().await,
            alive => alive,
        },
    };
    let ended = stage.end(session).await;
    let Err(lost) = alive else { return };
    let said_so = stage.opener.complaints.lines() != complaints;
    let crashed = matches!(&ended, Ended::Before(why) if why.contains("signal"));
    let clean = is_stdio && said_so && !crashed && matches!(lost, Lost::Gone(_));
    if !clean {
        stage.found(&LONG_MESSAGE, format!("after a message of 6 MB: {lost}"));
    }
}
