//! Our own entry: what a client is to start, or where it is to connect.

use std::path::Path;

use anyhow::Context as _;
use toolgate_clients::{Entry, Local, Remote, Server};
use toolgate_core::{Error, Kind};

use super::cost::Costs;
use crate::cli::{Cli, Setup};
use crate::settings::Sources;

/// The variable that says which packs are on.
const PACKS: &str = "TOOLGATE_PACKS";

/// The server to write; `old` is the entry that is there.
pub(super) fn server(
    cli: &Cli,
    setup: &Setup,
    old: Option<&Entry>,
    costs: Option<&Costs>,
) -> anyhow::Result<Server> {
    if let Some(url) = &setup.http {
        return Ok(Server::Remote(Remote::http(url)));
    }
    let mut args = vec!["serve".to_owned()];
    // A profile is known only where its file is read, wherever the client starts us.
    let profiles =
        || Sources::of(cli).ok()?.own_file().filter(|file| setup.profile.is_some() && file.exists());
    if let Some(file) = cli.global.config.clone().or_else(profiles) {
        args.extend(["--config".to_owned(), path(&file, setup.project)?]);
    }
    if let Some(folder) = &cli.global.workspace {
        args.extend(["--workspace".to_owned(), path(folder, setup.project)?]);
    }
    if let Some(profile) = &setup.profile {
        if let Some(Err(known)) = costs.map(|costs| costs.knows(profile)) {
            return Err(unknown_profile(profile, &known).into());
        }
        args.extend(["--profile".to_owned(), profile.clone()]);
    }
    let mut env = match old.and_then(|old| old.server.clone()) {
        Some(Server::Local(old)) => old.env,
        Some(Server::Remote(_)) | None => Default::default(),
    };
    env.remove(PACKS);
    if let Some(packs) = costs.filter(|_| setup.lean).and_then(Costs::lean) {
        env.insert(PACKS.to_owned(), packs.join(","));
    }
    Ok(Server::Local(Local { command: program(setup.project)?, args, env }))
}

fn unknown_profile(name: &str, known: &[&str]) -> Error {
    let error = Error::new(Kind::InvalidInput, format!("there is no profile `{name}`"));
    if known.is_empty() {
        return error.hint("add a table `[profiles.NAME]` to `toolgate.toml` first");
    }
    error.hint(format!("there are: {}", known.join(", ")))
}

/// This program. A file that others share can only name it: it lies elsewhere on their machines.
fn program(shared: bool) -> anyhow::Result<String> {
    if shared {
        return Ok(env!("CARGO_PKG_NAME").to_owned());
    }
    let program = std::env::current_exe().context("this program does not know where it lies")?;
    text(&program)
}

/// A client starts us in a folder that we do not know, so paths are absolute, except in a file of a project.
fn path(path: &Path, shared: bool) -> anyhow::Result<String> {
    if shared {
        return text(path);
    }
    text(&std::path::absolute(path).with_context(|| format!("`{}` is no path", path.display()))?)
}

fn text(path: &Path) -> anyhow::Result<String> {
    let text =
        path.to_str().with_context(|| format!("`{}` is not UTF-8, as clients want it", path.display()))?;
    Ok(text.to_owned())
}
