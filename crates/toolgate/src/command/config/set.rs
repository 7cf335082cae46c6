//! `toolgate config set` and `unset`: change one key of the file.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use toolgate_config::{ConfigError, Loader, Origin, edit};
use toolgate_core::{Error, Kind};

use super::file;
use crate::cli::Cli;
use crate::settings::{self, Sources};

/// Sets a key.
pub(crate) fn set(cli: &Cli, key: &str, typed: &str) -> anyhow::Result<ExitCode> {
    change(cli, key, ("set", "in"), |path, text| {
        let mut first = None;
        for value in edit::readings(typed) {
            let changed = edit::set(text, key, &value)?;
            match settings::check(path, Some(&changed)) {
                Ok(_) => return Ok(changed),
                Err(error) => first.get_or_insert(error),
            };
        }
        Err(first
            .map_or_else(|| anyhow::anyhow!("`{key}` cannot be set"), |error| refused(path, text, error)))
    })
}

/// Removes a key.
pub(crate) fn unset(cli: &Cli, key: &str) -> anyhow::Result<ExitCode> {
    change(cli, key, ("removed", "from"), |path, text| {
        let changed = edit::unset(text, key)?;
        settings::check(path, Some(&changed)).map_err(|error| refused(path, text, error))?;
        Ok(changed)
    })
}

fn change(
    cli: &Cli,
    key: &str,
    (done, place): (&str, &str),
    edit: impl FnOnce(&Path, &str) -> anyhow::Result<String>,
) -> anyhow::Result<ExitCode> {
    let sources = Sources::of(cli)?;
    let path =
        sources.own_file().context("there is no place for a file\nhint: name one with `--config FILE`")?;
    let held = file::read(&path)?;
    let text = held.as_deref().unwrap_or_default();
    is_toml(&path, text)?;
    let changed = edit(&path, text)?;
    let mut talk = std::io::stderr().lock();
    if changed == text {
        writeln!(talk, "`{key}` was so already in `{}`", path.display())?;
    } else {
        file::replace(&path, held.as_deref(), &changed)?;
        writeln!(talk, "{done} `{key}` {place} `{}`", path.display())?;
    }
    if let Some(winner) = stronger(&sources, key) {
        writeln!(talk, "note: {winner} wins over it")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A file that is no TOML is left alone, whatever the key.
fn is_toml(path: &Path, text: &str) -> Result<(), ConfigError> {
    Loader::new().only(path).text(text).load().map(drop)
}

/// Why the change is not made: because of the change itself, or of what was wrong before, which has a place.
pub(in crate::command) fn refused(path: &Path, before: &str, error: ConfigError) -> anyhow::Error {
    if settings::check(path, Some(before)).is_err() {
        return error.into();
    }
    let Some(problem) = error.problems().first().cloned() else { return error.into() };
    let refusal = Error::new(Kind::InvalidInput, problem.message().to_owned());
    match problem.suggestion() {
        Some(hint) => refusal.hint(hint.to_owned()).into(),
        None => refusal.into(),
    }
}

/// What sets the same key and wins over the file.
fn stronger(sources: &Sources, key: &str) -> Option<Origin> {
    let origin = sources.load().ok()?.document.origin(key);
    matches!(origin, Origin::Variable(_) | Origin::Flag(_)).then_some(origin)
}
