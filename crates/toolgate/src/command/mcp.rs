//! `toolgate mcp`: other MCP servers, added, imported, tested and watched.

mod add;
mod auth;
mod findings;
mod import;
mod known;
mod list;
mod logout;
mod logs;
mod reload;
mod remove;
mod restart;
mod running;
mod status;
mod switch;
pub(crate) mod table;
mod test;
mod told;
mod waiting;

use std::process::ExitCode;

pub(crate) use auth::told as sign_in_error;
pub(crate) use told::reach;
use toolgate_core::{Error, Kind};
use toolgate_secrets::Snapshot;
use toolgate_upstream::UpstreamConfig;

use crate::cli::{Cli, Mcp};
use crate::command::Process;
use crate::parts::Parts;
use crate::settings::Settings;

/// What a command about servers works on.
struct Scene<'a> {
    cli: &'a Cli,
    settings: Settings,
    process: &'a Process,
}

/// Runs one of the subcommands.
pub(crate) async fn run(
    cli: &Cli,
    mcp: &Mcp,
    settings: Settings,
    process: &Process,
) -> anyhow::Result<ExitCode> {
    let scene = Scene { cli, settings, process };
    match mcp {
        Mcp::List { json } => list::run(&scene, *json).await,
        Mcp::Add(add) => add::run(&scene, add).await,
        Mcp::Known { json } => known::run(*json),
        Mcp::Remove(named) => remove::run(&scene, named).await,
        Mcp::Test(named) => test::run(&scene, named).await,
        Mcp::Status { name, json } => status::run(&scene, name.as_deref(), *json).await,
        Mcp::Reload { json } => reload::run(&scene, *json).await,
        Mcp::Enable(named) => switch::run(&scene, named, true).await,
        Mcp::Disable(named) => switch::run(&scene, named, false).await,
        Mcp::Restart(named) => restart::run(&scene, named).await,
        Mcp::Auth(auth) => auth::run(&scene, auth).await,
        Mcp::Logout(logout) => logout::run(&scene, logout).await,
        Mcp::Logs { name, follow, json } => logs::run(&scene, name, *follow, *json).await,
        Mcp::Import(import) => import::run(&scene, import).await,
    }
}

impl Scene<'_> {
    /// The table of a server.
    fn table(&self, name: &str) -> Result<&UpstreamConfig, Error> {
        self.settings.mcp.get(name).ok_or_else(|| {
            let error = Error::new(Kind::InvalidInput, format!("there is no server `{name}`"));
            match toolgate_config::nearest(name, self.settings.mcp.keys().map(String::as_str)) {
                Some(near) => error.hint(format!("did you mean `{near}`? `toolgate mcp list` shows all")),
                None => error.hint("`toolgate mcp list` shows those there are"),
            }
        })
    }

    /// The store, and the secrets in it, hidden from now on in whatever goes out.
    async fn parts(&self) -> anyhow::Result<(Parts, Snapshot)> {
        let parts = Parts::new(&self.settings, self.process.redactor.clone(), &self.process.tasks)?;
        let secrets = parts.hide_secrets(&self.settings).await?;
        Ok((parts, secrets))
    }
}
