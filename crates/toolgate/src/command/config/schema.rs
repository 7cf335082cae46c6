//! `toolgate config schema`: the JSON Schema of the file.

use std::io::Write as _;
use std::process::ExitCode;

use crate::settings::Settings;

/// Prints it.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    writeln!(std::io::stdout().lock(), "{}", serde_json::to_string_pretty(&Settings::schema())?)?;
    Ok(ExitCode::SUCCESS)
}
