//! `toolgate secret`: secrets that the configuration uses and nobody else sees.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;
use toolgate_core::{Error, Kind, iso8601};
use toolgate_host::terminal;
use toolgate_secrets::{MAX_VALUE, SecretName, Secrets};

use crate::cli::Secret;
use crate::command::by_hand::{recorded, recorded_if_possible};
use crate::parts::Parts;

/// Runs one of the subcommands.
pub(crate) async fn run(parts: &Parts, secret: &Secret) -> anyhow::Result<ExitCode> {
    let secrets = &parts.secrets;
    match secret {
        Secret::Set { name } => {
            let name: SecretName = name.parse()?;
            let value = read(&name)?;
            let setting = async {
                secrets.set(&name, &value).await?;
                Ok(((), name.to_string()))
            };
            recorded(&parts.audit, "secret set", setting).await?;
            writeln!(
                std::io::stderr().lock(),
                "kept `{name}`; refer to it as `{{secret:{name}}}` in `toolgate.toml`"
            )?;
        }
        Secret::List { json } => list(secrets, *json).await?,
        Secret::Remove { name } => {
            let name: SecretName = name.parse()?;
            let removing = async {
                if !secrets.remove(&name).await? {
                    return Err(Error::new(Kind::NotFound, format!("there is no secret `{name}`"))
                        .hint("`toolgate secret list` shows what there is")
                        .into());
                }
                Ok(((), name.to_string()))
            };
            recorded_if_possible(&parts.audit, "secret remove", removing).await?;
            writeln!(std::io::stderr().lock(), "removed `{name}`")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The value, from whoever writes to standard input. A line's end is not part of it.
fn read(name: &SecretName) -> anyhow::Result<toolgate_host::Secret> {
    if std::io::stdin().is_terminal() {
        return terminal::read_hidden(&format!("value of {name}: ")).context("the terminal cannot be read");
    }
    let mut text = String::new();
    // One more than fits, so that what is too long is refused and not cut.
    let most = u64::try_from(MAX_VALUE)?.saturating_add(3);
    std::io::stdin().lock().take(most).read_to_string(&mut text).context("standard input is no text")?;
    let value = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(&text);
    Ok(toolgate_host::Secret::new(value.to_owned()))
}

async fn list(secrets: &Secrets, as_json: bool) -> anyhow::Result<()> {
    let all = secrets.list().await?;
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"items": all}))?)?;
        return Ok(());
    }
    if all.is_empty() {
        writeln!(std::io::stderr().lock(), "there are no secrets; `toolgate secret set NAME` keeps one")?;
    }
    let width = all.iter().map(|info| info.name.len()).max().unwrap_or_default();
    for info in &all {
        writeln!(out, "{:width$}  set {}", info.name, iso8601(info.updated_ms))?;
    }
    Ok(())
}
