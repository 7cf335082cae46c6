//! `toolgate config check`: what is wrong with the configuration.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use toolgate_config::{ConfigError, Problem};

use super::origin::problem;
use crate::cli::Cli;
use crate::exit;
use crate::settings::{self, Sources};

/// Checks a file alone, or all that is configured.
pub(crate) fn run(cli: &Cli, file: Option<&Path>, as_json: bool) -> anyhow::Result<ExitCode> {
    let (found, warnings) = match file {
        Some(file) => (settings::check(file, None).map(|_| Some(file.to_owned())), Vec::new()),
        None => match Sources::of(cli)?.load() {
            Ok(loaded) => (Ok(loaded.settings.file), loaded.document.warnings().to_vec()),
            Err(error) => (Err(error), Vec::new()),
        },
    };
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&in_json(found.as_ref().err(), &warnings))?)?;
        return Ok(ExitCode::from(if found.is_ok() { 0 } else { exit::USAGE }));
    }
    match found? {
        Some(file) => writeln!(out, "`{}` is right", file.display())?,
        None => writeln!(out, "there is no file, so the defaults hold")?,
    }
    let mut talk = std::io::stderr().lock();
    for warning in warnings {
        writeln!(talk, "warning: {warning}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn in_json(error: Option<&ConfigError>, warnings: &[Problem]) -> serde_json::Value {
    let problems = error.map(ConfigError::problems).unwrap_or_default();
    json!({
        "ok": error.is_none(),
        "problems": problems.iter().map(problem).collect::<Vec<_>>(),
        "warnings": warnings.iter().map(problem).collect::<Vec<_>>(),
    })
}
