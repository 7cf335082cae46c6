//! `toolgate config init`: a file in which every key stands as a comment.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toolgate_config::{FILE_NAME, describe, template};
use toolgate_core::{Error, Kind};

use super::file;
use crate::cli::Cli;
use crate::settings::{Settings, Sources};

/// Writes the file.
pub(crate) fn run(cli: &Cli, path: Option<&Path>, force: bool) -> anyhow::Result<ExitCode> {
    let path = path.or(cli.global.config.as_deref()).unwrap_or(Path::new(FILE_NAME));
    let path = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
    let mut talk = std::io::stderr().lock();
    let held = file::read(&path)?;
    if let Some(text) = &held {
        if !force {
            return Err(is_there(&path).into());
        }
        let kept = PathBuf::from(format!("{}.bak", path.display()));
        file::replace(&kept, file::read(&kept)?.as_deref(), text)?;
        writeln!(talk, "kept the old file as `{}`", kept.display())?;
    }
    file::replace(&path, held.as_deref(), &template(&describe(&Settings::schema())))?;
    writeln!(talk, "wrote `{}`", path.display())?;
    let is_found = path.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    if let (true, Some(users)) = (is_found, Sources::of(cli)?.users_file()) {
        writeln!(talk, "note: in this folder it is read instead of `{}`", users.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn is_there(path: &Path) -> Error {
    Error::new(Kind::InvalidInput, format!("`{}` is there already", path.display()))
        .hint("change one key with `toolgate config set`, or overwrite the file with `--force`")
}
