//! How a conversation begins.

use serde_json::{Value, json};
use toolgate_wire::{Era, Version, code, method};

use super::Stage;
use crate::connection::{Connection, Lost, Reply};
use crate::notes::{Notes, quote};
use crate::rule::{Rule, error};
use crate::session::{NotOpened, initialize_params, with_meta};

pub(crate) static OPENS: Rule = error(
    "opens",
    "The server opens a conversation in at least one era of the protocol.",
    "answer `initialize` (legacy) or `server/discover` (modern) with a result, and write nothing else before it",
);
pub(crate) static UNKNOWN_VERSION: Rule = error(
    "unknown-version",
    "A protocol version that does not exist is answered with one that does, or with an error that names them.",
    "legacy: answer `initialize` with the newest version you speak; modern: error -32022 with `data.supported`",
);

/// Notes that an era that the server seemed to speak cannot be spoken with it.
pub(crate) fn not_opened(era: Era, why: &NotOpened, notes: &mut Notes) {
    let era = if era == Era::Legacy { "legacy era" } else { "modern era" };
    notes.found(&OPENS, era, quote(&why.to_string()));
}

/// Notes that the server is modern, but speaks none of the versions there are.
pub(crate) fn other_versions(error: &Value, notes: &mut Notes) {
    let supported = &error["data"]["supported"];
    notes.found(&OPENS, "modern era", format!("it speaks {supported}, not {}", Version::LATEST));
}

/// No version has this name.
const NO_VERSION: &str = "1999-01-01";

pub(crate) async fn unknown_version(stage: &mut Stage<'_>) {
    stage.notes.tried(&UNKNOWN_VERSION);
    let mut connection = match stage.opener.connect().await {
        Ok(connection) => connection,
        Err(lost) => return stage.found(&UNKNOWN_VERSION, lost.to_string()),
    };
    let limit = stage.opener.limits.start;
    let id = connection.fresh_id();
    let (reply, wrong) = match stage.era {
        Era::Legacy => {
            let params = initialize_params(NO_VERSION);
            let reply = connection.ask(id, method::INITIALIZE, params, limit).await;
            let wrong = reply.as_ref().ok().and_then(legacy_fault);
            (reply, wrong)
        }
        Era::Modern => {
            let params = with_meta(json!({}), NO_VERSION);
            let reply = connection.ask(id, method::DISCOVER, params, limit).await;
            let wrong = reply.as_ref().ok().and_then(modern_fault);
            (reply, wrong)
        }
    };
    match reply {
        Ok(reply) => status(stage, &connection, &reply),
        // Over HTTP a bare refusal is an answer, if a poor one.
        Err(Lost::Status(400..500)) => {}
        Err(lost) => stage.found(&UNKNOWN_VERSION, lost.to_string()),
    }
    if let Some(wrong) = wrong {
        stage.found(&UNKNOWN_VERSION, wrong);
    }
    let (transcript, _) = connection.close().await;
    crate::rules::judge(&transcript, stage.opener.subject, stage.notes);
}

fn legacy_fault(reply: &Reply) -> Option<String> {
    let Ok(result) = &reply.outcome else { return None };
    let version = result["protocolVersion"].as_str().unwrap_or_default();
    let known = version.parse::<Version>().is_ok();
    (!known).then(|| format!("asked for {NO_VERSION}, it answers with `{}`", quote(version)))
}

fn modern_fault(reply: &Reply) -> Option<String> {
    match (&reply.outcome, reply.code()) {
        (Err(error), Some(code)) if code == i64::from(code::UNSUPPORTED_VERSION) => {
            let named = error["data"]["supported"].as_array().is_some_and(|versions| !versions.is_empty());
            (!named).then(|| "error -32022 without `data.supported`".into())
        }
        (Err(_), code) => Some(format!("error {} instead of -32022", code.unwrap_or_default())),
        (Ok(_), _) => Some(format!("asked in {NO_VERSION}, it answers as if that were a version")),
    }
}

fn status(stage: &mut Stage<'_>, connection: &Connection, reply: &Reply) {
    if stage.era == Era::Modern
        && !connection.is_stdio()
        && reply.code() == Some(code::UNSUPPORTED_VERSION.into())
    {
        super::http::status(stage, reply, 400, "an unknown version");
    }
}
