//! `toolgate mcp enable` and `disable`: a server is switched on or off, and its table stays as it is.

use std::process::ExitCode;

use serde_json::json;
use toolgate_core::{SourceState, SourceStatus};

use super::status::brief;
use super::told::{print, say};
use super::{Scene, running};
use crate::cli::Named;
use crate::upstreams::Kept;

pub(super) async fn run(scene: &Scene<'_>, named: &Named, on: bool) -> anyhow::Result<ExitCode> {
    let table = scene.table(&named.name)?;
    let (parts, _) = scene.parts().await?;
    // What the table says anyway needs no switch.
    Kept::new(parts.database).set_switch(&named.name, (on != table.enabled).then_some(on)).await?;
    let is_so = |status: Option<&SourceStatus>| {
        status.is_none_or(|status| match status.state {
            SourceState::Disabled => !on,
            SourceState::Connecting => false,
            SourceState::Connected
            | SourceState::Failed
            | SourceState::NeedsAuth
            | SourceState::NeedsClientRegistration => on,
        })
    };
    let what = if on { "switching it on" } else { "switching it off" };
    let status = running::until(&scene.settings, &named.name, what, is_so).await?;
    if named.json {
        let is_running = status.is_some() || running::is_there(&scene.settings).await?;
        print(&json!({"name": named.name, "running": is_running, "status": status}))?;
    } else {
        let word = if on { "on" } else { "off" };
        say(&format!("switched `{}` {word}; `toolgate.toml` stays as it is", named.name))?;
        brief(status.as_ref())?;
    }
    Ok(ExitCode::SUCCESS)
}
