//! `toolgate mcp remove`: the table of a server goes, and what is remembered of it.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::{Error, Kind};

use super::table::{self, File};
use super::told::{print, say};
use super::{Scene, running};
use crate::cli::Named;
use crate::command::setup::diff;
use crate::upstreams::{Grants, Kept};

pub(super) async fn run(scene: &Scene<'_>, named: &Named) -> anyhow::Result<ExitCode> {
    let name = &named.name;
    scene.table(name)?;
    let file = File::open(scene)?;
    if !file.has(name) {
        let message = format!("`{}` has no server `{name}`", file.path.display());
        return Err(Error::new(Kind::InvalidInput, message)
            .hint(format!("`toolgate config show mcp.{name}` says where it is set"))
            .into());
    }
    let after = table::without(file.text(), name)?;
    let diff = diff::between(&file.path, file.text(), &after);
    file.write(after).await?;
    let (parts, _) = scene.parts().await?;
    // What lets us in is given back, where it can be.
    if let Ok((authorizer, holder)) = super::auth::of(scene, name, None).await {
        authorizer.logout(holder).await.map_err(|error| super::auth::told(&error))?;
    }
    Grants::new(&parts, &scene.process.tasks).forget(name).await?;
    Kept::new(parts.database).forget(name).await?;
    let reloaded = running::reload(&scene.settings).await?.is_some();
    if reloaded {
        running::until(&scene.settings, name, "ending it", |status| status.is_none()).await?;
    }
    if named.json {
        print(&json!({"name": name, "file": file.path, "diff": diff, "running": reloaded}))?;
        return Ok(ExitCode::SUCCESS);
    }
    write!(std::io::stdout().lock(), "{diff}")?;
    say(&format!("removed `{name}` from `{}`", file.path.display()))?;
    if reloaded {
        say("the running hub has ended it")?;
    }
    Ok(ExitCode::SUCCESS)
}
