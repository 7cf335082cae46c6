//! `toolgate setup`: add Toolgate to a client's own file, show what that changes, and take it back.

mod change;
mod cost;
pub(in crate::command) mod diff;
mod entry;
pub(in crate::command) mod mask;
mod overview;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use toolgate_clients::{Client, ConfigFile, Folders, Scope, System};
use toolgate_config::process_environment;
use toolgate_core::{Error, Hub, Kind};

use crate::cli::{Cli, Setup};

pub(crate) use cost::{Costs, tokens};

/// Whether the tools must be known: an entry says which are on, and what they cost.
pub(crate) fn needs_tools(setup: &Setup) -> bool {
    setup.client.is_some() && !setup.undo && setup.http.is_none()
}

/// Sets a client up to start the Toolgate whose hub this is.
pub(crate) async fn run_with(cli: &Cli, setup: &Setup, hub: &Hub) -> anyhow::Result<ExitCode> {
    run(cli, setup, Some(&Costs::of(hub).await))
}

/// Shows the clients, sets one up, or takes that back.
pub(crate) fn run(cli: &Cli, setup: &Setup, costs: Option<&Costs>) -> anyhow::Result<ExitCode> {
    let environment = process_environment();
    let folders = Folders::new(System::here(), |name| environment.get(name).map(str::to_owned))?;
    let scope = if setup.project {
        Scope::Project(std::env::current_dir().context("the working folder cannot be read")?)
    } else {
        Scope::User
    };
    let scene = Scene { folders, scope };
    match setup.client {
        None => overview::run(&scene, setup),
        Some(client) => change::run(cli, setup, &scene, client, costs),
    }
}

/// Where the clients' files are.
struct Scene {
    folders: Folders,
    scope: Scope,
}

impl Scene {
    fn file(&self, client: Client, name: &str) -> anyhow::Result<ConfigFile> {
        ConfigFile::find(client, &self.folders, &self.scope, name)?.ok_or_else(|| {
            let error = Error::new(Kind::InvalidInput, format!("{client} has no file for a project"));
            error.hint("leave out `--project`").into()
        })
    }

    /// A path as people write it.
    fn short(&self, path: &Path) -> String {
        match path.strip_prefix(self.folders.home()) {
            Ok(below) => format!("~/{}", below.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use toolgate_clients::Folders;
    use toolgate_config::env::VARIABLES;

    #[test]
    fn every_variable_that_moves_a_file_is_documented() {
        for name in Folders::VARIABLES {
            assert!(VARIABLES.iter().any(|variable| variable.name == name), "{name}");
        }
    }
}
