//! `toolgate mcp restart`: the running hub connects to a server anew.

use std::process::ExitCode;

use serde_json::json;
use toolgate_core::{SourceState, SourceStatus};

use super::status::brief;
use super::told::print;
use super::{Scene, running};
use crate::cli::Named;
use crate::exit;

pub(super) async fn run(scene: &Scene<'_>, named: &Named) -> anyhow::Result<ExitCode> {
    scene.table(&named.name)?;
    let before = running::one(&scene.settings, &named.name).await?;
    if !running::restart(&scene.settings, &named.name).await? {
        return Err(running::none(&scene.settings.data_dir));
    }
    let old = before.map(|status| status.processes).unwrap_or_default();
    let is_anew = |status: Option<&SourceStatus>| status.is_none_or(|status| is_anew(status, &old));
    let status = running::until(&scene.settings, &named.name, "connecting anew", is_anew).await?;
    let is_well = status.as_ref().is_some_and(|status| !super::told::is_trouble(status.state));
    if named.json {
        print(&json!({"name": named.name, "running": true, "status": status}))?;
    } else {
        brief(status.as_ref())?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// Whether it is connected by another connection than before, or cannot be.
fn is_anew(status: &SourceStatus, old: &[u32]) -> bool {
    match status.state {
        SourceState::Connecting => false,
        SourceState::Connected => {
            status.connections > 0 && !status.processes.iter().any(|process| old.contains(process))
        }
        SourceState::Disabled
        | SourceState::Failed
        | SourceState::NeedsAuth
        | SourceState::NeedsClientRegistration => true,
    }
}
