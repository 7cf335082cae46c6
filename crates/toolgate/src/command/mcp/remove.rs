//! `toolgate mcp remove`: the table of a server goes, and what is remembered of it.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_core::{Error, Kind};
use toolgate_upstream::{Holder, LoggedOut};

use super::table::{self, File};
use super::told::{print, say};
use super::waiting::Waiting;
use super::{Scene, auth, logout, running};
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
    let had = running::one(&scene.settings, name).await?.is_some();
    let after = table::without(file.text(), name)?;
    let diff = diff::between(&file.path, file.text(), &after);
    let (parts, _) = scene.parts().await?;
    // What lets us in is given back, where it can be. The table goes last: whoever is interrupted can do it again.
    let authorizer = auth::of(scene, name, None).await.ok().map(|(authorizer, _)| authorizer);
    let grants = Grants::new(&parts, &scene.process.tasks);
    let waiting = Waiting::begin(format!("{name}: signing out"));
    let mut out = waiting.on(grants.forget(name, authorizer.as_deref())).await?;
    out.retain(|(_, out)| out.was_in);
    file.write(after).await?;
    Kept::new(parts.database).forget(name).await?;
    let reloaded = running::reload(&scene.settings).await?.is_some();
    // One that reads another file may not have had it, or keeps its own.
    let has_ended = reloaded
        && had
        && running::until(&scene.settings, name, "ending it", |status| status.is_none()).await?.is_none();
    if named.json {
        let principal = |holder: &Holder| match holder {
            Holder::Shared => Value::Null,
            Holder::Principal(id) => id.as_str().into(),
        };
        let row = |(holder, out): &(Holder, LoggedOut)| json!({"principal": principal(holder), "revoked": out.revoked});
        let out: Vec<Value> = out.iter().map(row).collect();
        print(
            &json!({"name": name, "file": file.path, "diff": diff, "signedOut": out, "running": reloaded}),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    write!(std::io::stdout().lock(), "{diff}")?;
    say(&format!("removed `{name}` from `{}`", file.path.display()))?;
    for (holder, out) in &out {
        say(&logout::words(name, holder, out))?;
    }
    if has_ended {
        say("the running hub has ended it")?;
    }
    Ok(ExitCode::SUCCESS)
}
