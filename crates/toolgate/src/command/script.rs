//! `toolgate script`: scripts, how they stand, and who decides on them.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::{Error, Hub, Kind, iso8601};
use toolgate_host::terminal;
use toolgate_script::{Hash, Looked, Scripts};

use crate::cli::{RunScript, Script};
use crate::command::Process;
use crate::command::by_hand::{recorded, recorded_if_possible};
use crate::command::table::{fit, one_line};
use crate::command::tools::call;
use crate::parts::Parts;
use crate::settings::Settings;
use crate::{diff, packs};

/// Runs one of the subcommands that need no hub. Running hubs hear of what is decided at once.
pub(crate) async fn run(settings: &Settings, process: &Process, script: &Script) -> anyhow::Result<ExitCode> {
    let parts = Parts::new(settings, process.redactor.clone(), &process.tasks)?;
    let scripts = packs::scripts(settings, parts.database.clone());
    match script {
        Script::List { json } => list(&scripts, *json).await?,
        Script::Show { name, json } => show(&scripts.look(name).await?, *json)?,
        Script::Approve { name, yes, hash } => approve(&parts, &scripts, name, (*yes, hash.as_ref())).await?,
        Script::Reject { name, reason, hash } => {
            let seen = scripts.look(name).await?.script.hash;
            let rejecting = async {
                let hash = hash.as_ref().unwrap_or(&seen);
                let rejected = scripts.reject(name, hash, &by(), reason.as_deref()).await?;
                let about = format!("{} {}", rejected.name, rejected.hash);
                Ok((rejected, about))
            };
            let rejected = recorded_if_possible(&parts.audit, "script reject", rejecting).await?;
            say(&format!("rejected `{}` as it is now, {}", rejected.name, rejected.hash))?;
        }
        Script::Diff { name, json } => differences(&scripts.look(name).await?, *json)?,
        Script::Dir { json } => dir(scripts.make_folder()?, *json)?,
        Script::Run(_) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a script through the hub, as every client does.
pub(crate) async fn call(hub: &Hub, run: &RunScript) -> anyhow::Result<ExitCode> {
    let mut arguments = json!({"name": run.name, "kwargs": call::read(&run.arguments)?});
    if let Some(function) = &run.function {
        arguments["function"] = json!(function);
    }
    call::run(hub, "script_run", &[arguments.to_string()], run.json).await
}

/// Whoever may read the data folder may decide; the record names the user of the machine.
fn by() -> String {
    format!("{} on the command line", toolgate_host::user_name())
}

fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(std::io::stderr().lock(), "{}", one_line(line))?)
}

async fn list(scripts: &Scripts, as_json: bool) -> anyhow::Result<()> {
    let all = scripts.list().await?;
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"items": all}))?)?;
        return Ok(());
    }
    if all.is_empty() {
        return say(&format!("there are no scripts in `{}`", scripts.folder().display()));
    }
    let columns = terminal::columns(&out).unwrap_or(usize::MAX);
    let width = all.iter().map(|info| info.name.len()).max().unwrap_or_default();
    for info in &all {
        let about = if info.remark.is_empty() { &info.description } else { &info.remark };
        let line = format!("{:width$}  {:8}  {}", info.name, info.state.as_str(), one_line(about));
        writeln!(out, "{}", fit(line.trim_end(), columns))?;
    }
    Ok(())
}

fn show(looked: &Looked, as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let mut shown = serde_json::to_value(&looked.info)?;
        shown["source"] = json!(looked.script.source);
        shown["decided"] =
            json!(looked.decided.as_ref().map(|(by, at)| json!({"by": by, "at": iso8601(*at)})));
        writeln!(out, "{}", serde_json::to_string_pretty(&shown)?)?;
        return Ok(());
    }
    write!(out, "{}", about(looked))?;
    Ok(())
}

/// A script as people look at it: how it stands, what it wants, and its text.
fn about(looked: &Looked) -> String {
    let info = &looked.info;
    let decided = looked.decided.as_ref().map(|(by, at)| format!("{by}, {}", iso8601(*at)));
    let rows = [
        ("name", info.name.clone()),
        ("state", info.state.as_str().to_owned()),
        ("hash", info.hash.to_string()),
        ("decided", decided.unwrap_or_default()),
        ("description", info.description.clone()),
        ("author", info.author.clone()),
        ("version", info.version.clone()),
        ("secrets", info.secrets.join(", ")),
        ("tools", info.tools.join(", ")),
        ("hosts", info.hosts.join(", ")),
        ("remark", info.remark.clone()),
    ];
    let mut text = String::new();
    for (key, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&format!("{key:11}  {}\n", one_line(value)));
    }
    text.push('\n');
    text.push_str(&plain(&looked.script.source));
    text
}

/// A text without what a terminal would obey, or what would hide something from who reads it.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        out.extend(line.chars().map(|letter| if is_shown(letter) { letter } else { '\u{fffd}' }));
        out.push('\n');
    }
    out
}

/// Whether a letter shows itself, and changes nothing about how others show.
fn is_shown(letter: char) -> bool {
    // The same as on the admin page.
    let unseen = matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}');
    letter == '\t' || !(letter.is_control() || unseen)
}

async fn approve(
    parts: &Parts,
    scripts: &Scripts,
    name: &str,
    (yes, hash): (bool, Option<&Hash>),
) -> anyhow::Result<()> {
    let looked = scripts.look(name).await?;
    let seen = hash.unwrap_or(&looked.script.hash);
    if !yes {
        if !std::io::stdin().is_terminal() {
            return Err(Error::new(Kind::InvalidInput, "nobody can be asked here")
                .hint("pass `--yes`, best with the `--hash` of what was looked at")
                .into());
        }
        write!(std::io::stdout().lock(), "{}", about(&looked))?;
        write!(std::io::stderr().lock(), "\napprove exactly this? [y/N] ")?;
        let answer = terminal::next_line().await.unwrap_or_default();
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            return Err(Error::new(Kind::Denied, format!("`{}` was not approved", looked.script.name)).into());
        }
    }
    let approving = async {
        let approved = scripts.approve(name, seen, &by()).await?;
        let about = format!("{} {}", approved.name, approved.hash);
        Ok((approved, about))
    };
    let approved = recorded(&parts.audit, "script approve", approving).await?;
    say(&format!("approved `{}` as it is now, {}", approved.name, approved.hash))
}

fn differences(looked: &Looked, as_json: bool) -> anyhow::Result<()> {
    let name = &looked.info.name;
    let changed = looked.approved.as_deref().map(|before| diff::of_script(before, &looked.script.source));
    let mut out = std::io::stdout().lock();
    if as_json {
        let shown = json!({"name": name, "state": looked.info.state.as_str(), "diff": changed});
        writeln!(out, "{}", serde_json::to_string_pretty(&shown)?)?;
        return Ok(());
    }
    match changed {
        Some(changed) => Ok(write!(out, "{}", plain(&changed))?),
        None => say(&format!(
            "`{name}` is {}, so there is nothing to compare it with",
            looked.info.state.as_str()
        )),
    }
}

fn dir(folder: &Path, as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match as_json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&json!({"dir": folder}))?)?,
        false => writeln!(out, "{}", folder.display())?,
    }
    Ok(())
}
