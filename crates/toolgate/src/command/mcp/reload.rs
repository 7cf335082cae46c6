//! `toolgate mcp reload`: the running hub reads its configuration anew.

use std::process::ExitCode;

use serde_json::json;

use super::told::{print, say};
use super::{Scene, running};

pub(super) async fn run(scene: &Scene<'_>, as_json: bool) -> anyhow::Result<ExitCode> {
    let Some(what) = running::reload(&scene.settings).await? else {
        return Err(running::none(&scene.settings.data_dir));
    };
    if as_json {
        print(&json!({"reloaded": what}))?;
    } else {
        say(&what)?;
    }
    Ok(ExitCode::SUCCESS)
}
