//! `toolgate mcp logout`: what lets us in to a server is given back and forgotten.

use std::process::ExitCode;

use serde_json::json;
use toolgate_upstream::{Holder, LoggedOut};

use super::told::{print, say};
use super::waiting::Waiting;
use super::{Scene, auth};
use crate::cli::Logout;

pub(super) async fn run(scene: &Scene<'_>, logout: &Logout) -> anyhow::Result<ExitCode> {
    let name = &logout.name;
    let (authorizer, holder) = auth::of(scene, name, logout.principal.as_deref()).await?;
    let waiting = Waiting::begin(format!("{name}: signing out"));
    let out = waiting.on(authorizer.logout(holder.clone())).await.map_err(|error| auth::told(&error))?;
    if logout.json {
        print(&json!({
            "name": name, "principal": logout.principal, "wasSignedIn": out.was_in, "revoked": out.revoked,
        }))?;
    } else {
        say(&words(name, &holder, &out))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What became of a grant, for people.
pub(super) fn words(name: &str, holder: &Holder, out: &LoggedOut) -> String {
    let whose = match holder {
        Holder::Shared => String::new(),
        Holder::Principal(id) => format!(" for `{id}`"),
    };
    let became = match (out.was_in, out.revoked) {
        (false, _) => return format!("nobody was signed in to `{name}`{whose}"),
        (true, Some(true)) => "its tokens do not count any more",
        (true, None) => "it has no way to take tokens back, so they count until they end",
        (true, Some(false)) => "its tokens could not be given back, so they count until they end",
    };
    format!("signed out of `{name}`{whose}; {became}")
}
