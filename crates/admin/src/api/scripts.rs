//! Scripts: looked at, decided on by the hash of what was seen, and changed.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_wire::Raw;

use super::{ADMIN, APPROVER, LONGEST_REASON, VIEWER};
use crate::desk::{LookedAtScript, ScriptInfo};
use crate::problem::Problem;
use crate::route::{Ask, GET, Items, Nothing, POST, PUT, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            (GET, "/scripts"),
            VIEWER,
            "All scripts, and then code that waits or was decided on.",
            list,
        ),
        Route::new(
            (GET, "/scripts/{name}"),
            VIEWER,
            "One of them, with what changed since it was approved.",
            show,
        ),
        Route::new(
            (PUT, "/scripts/{name}"),
            ADMIN,
            "Put a new version in place; it has to be approved.",
            put,
        ),
        Route::new(
            (POST, "/scripts/{name}/approve"),
            APPROVER,
            "Approve exactly the bytes that someone has looked at, and no others.",
            approve,
        ),
        Route::new(
            (POST, "/scripts/{name}/reject"),
            APPROVER,
            "Reject exactly the bytes that someone has looked at, and no others.",
            reject,
        ),
    ]
}

/// A yes to what someone has looked at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApproveScript {
    /// The hash of what was looked at.
    #[schemars(regex(pattern = "^sha256:[0-9a-f]{64}$"))]
    hash: String,
}

/// A no to what someone has looked at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RejectScript {
    /// The hash of what was looked at.
    #[schemars(regex(pattern = "^sha256:[0-9a-f]{64}$"))]
    hash: String,
    /// Why, for whoever runs it.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    reason: Option<String>,
}

/// A version of a script.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PutScript {
    /// Its text.
    source: String,
    /// The hash of what it takes the place of; without it, there must be none of this name.
    #[serde(default)]
    #[schemars(regex(pattern = "^sha256:[0-9a-f]{64}$"))]
    seen: Option<String>,
}

async fn list(ask: Ask, _: Nothing) -> Result<Items<ScriptInfo>, Problem> {
    Ok(Items { items: ask.admin.desk.scripts().await? })
}

async fn show(ask: Ask, _: Nothing) -> Result<LookedAtScript, Problem> {
    let looked = ask.admin.desk.script(ask.name().to_owned()).await?;
    let whole = is_shown_whole(&ask, &looked.source)?;
    Ok(LookedAtScript { whole, ..looked })
}

async fn approve(ask: Ask, yes: ApproveScript) -> Result<ScriptInfo, Problem> {
    let hash = hash("hash", yes.hash)?;
    Ok(ask.admin.desk.approve_script(ask.name().to_owned(), hash, ask.by()).await?)
}

async fn reject(ask: Ask, no: RejectScript) -> Result<ScriptInfo, Problem> {
    let hash = hash("hash", no.hash)?;
    if no.reason.as_ref().is_some_and(|reason| reason.chars().count() > LONGEST_REASON) {
        return Err(Problem::field("reason", format!("is longer than {LONGEST_REASON} characters")));
    }
    let reason = no.reason.filter(|reason| !reason.trim().is_empty());
    Ok(ask.admin.desk.reject_script(ask.name().to_owned(), hash, reason, ask.by()).await?)
}

async fn put(ask: Ask, new: PutScript) -> Result<ScriptInfo, Problem> {
    let (name, desk) = (ask.name().to_owned(), &ask.admin.desk);
    let seen = new.seen.map(|seen| hash("seen", seen)).transpose()?;
    // Whoever saw a mark in a secret's place would write the mark. One that changes now is not what was seen.
    if seen.is_some()
        && let Ok(there) = desk.script(name.clone()).await
        && !is_shown_whole(&ask, &there.source)?
    {
        let detail = "a secret stands in it, which is not shown, so it cannot be changed here";
        return Err(
            Problem::conflict(detail).hint("change the file itself; a script reads secrets by `secrets.get`")
        );
    }
    Ok(desk.put_script(name, new.source, seen).await?)
}

/// Whether a text leaves as it is.
fn is_shown_whole(ask: &Ask, text: &str) -> Result<bool, Problem> {
    let raw = Raw::of(text);
    Ok(ask.admin.hub.filtered(raw.clone())?.as_bytes() == raw.as_bytes())
}

/// A hash as it is written.
fn hash(field: &str, text: String) -> Result<String, Problem> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let digits = text.strip_prefix("sha256:");
    match digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit)) {
        true => Ok(text),
        false => Err(Problem::field(field, "is no hash: `sha256:` and 64 hexadecimal digits")),
    }
}
