//! `toolgate mcp logout`: what lets us in to a server is given back and forgotten.

use std::process::ExitCode;

use serde_json::json;

use super::told::{print, say};
use super::waiting::Waiting;
use super::{Scene, auth};
use crate::cli::Logout;

pub(super) async fn run(scene: &Scene<'_>, logout: &Logout) -> anyhow::Result<ExitCode> {
    let name = &logout.name;
    let (authorizer, holder) = auth::of(scene, name, logout.principal.as_deref()).await?;
    let waiting = Waiting::begin(format!("{name}: signing out"));
    let out = waiting.on(authorizer.logout(holder)).await.map_err(|error| auth::told(&error))?;
    if logout.json {
        print(&json!({
            "name": name, "principal": logout.principal, "wasSignedIn": out.was_in, "revoked": out.revoked,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    match (out.was_in, out.revoked) {
        (false, _) => say(&format!("nobody was signed in to `{name}`"))?,
        (true, Some(true)) => say(&format!("signed out of `{name}`; its tokens do not count any more"))?,
        (true, None) => {
            say(&format!(
                "signed out of `{name}`; it has no way to take tokens back, so they count until they end"
            ))?;
        }
        (true, Some(false)) => {
            say(&format!(
                "signed out of `{name}`; its tokens could not be given back, so they count until they end"
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
