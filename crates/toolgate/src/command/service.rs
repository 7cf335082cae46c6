//! `toolgate service`: `serve --http` as a service of the user's systemd.

mod systemd;
mod unit;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;
use toolgate_config::{env, process_environment};

use crate::cli::Service;
use crate::exit;
use crate::settings::Settings;
use systemd::Systemd;
use unit::Unit;

/// The unit's name.
const NAME: &str = "toolgate.service";

/// Installs, looks at or removes the service.
pub(crate) async fn run(settings: &Settings, command: &Service) -> anyhow::Result<ExitCode> {
    match command {
        Service::Install { print: true } => {
            std::io::stdout().lock().write_all(unit(settings)?.text().as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Service::Install { print: false } => install(settings).await,
        Service::Status { json } => status(*json).await,
        Service::Remove => remove().await,
    }
}

async fn install(settings: &Settings) -> anyhow::Result<ExitCode> {
    let path = unit_path()?;
    unit::write(&path, &unit(settings)?.text())?;
    say(&format!("wrote `{}`", path.display()));
    let commands: [&[&str]; 2] = [&["daemon-reload"], &["enable", "--now", NAME]];
    if !ask(&commands).await? {
        return Ok(ExitCode::from(exit::FAILED));
    }
    say("the service runs, now and from every login on; `toolgate status` shows who is connected");
    say("hint: `loginctl enable-linger` lets it run also while you are not logged in");
    Ok(ExitCode::SUCCESS)
}

async fn remove() -> anyhow::Result<ExitCode> {
    let path = unit_path()?;
    if !unit::is_there(&path)? {
        say(&format!("nothing to remove: there is no `{}`", path.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let stopped = ask(&[&["disable", "--now", NAME]]).await?;
    std::fs::remove_file(&path).with_context(|| format!("cannot remove `{}`", path.display()))?;
    say(&format!("removed `{}`", path.display()));
    let reloaded = stopped && ask(&[&["daemon-reload"]]).await?;
    Ok(if reloaded { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

async fn status(as_json: bool) -> anyhow::Result<ExitCode> {
    let path = unit_path()?;
    let installed = path.is_file();
    let systemd = Systemd::find(&process_environment());
    let word = async |verb: &str| match &systemd {
        Ok(systemd) => systemd.word(verb, NAME).await,
        Err(_) => "unknown".into(),
    };
    let (active, enabled) = (word("is-active").await, word("is-enabled").await);
    let mut out = std::io::stdout().lock();
    if as_json {
        let told = json!({"unit": path, "installed": installed, "active": active, "enabled": enabled});
        writeln!(out, "{}", serde_json::to_string_pretty(&told)?)?;
    } else {
        let state = if installed { "installed" } else { "not installed" };
        writeln!(out, "unit     {} ({state})\nactive   {active}\nenabled  {enabled}", path.display())?;
    }
    if !installed {
        say("hint: install it with `toolgate service install`");
    }
    Ok(if active == "active" { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// Has the user's systemd do these; where it cannot be asked, says what to run.
async fn ask(commands: &[&[&str]]) -> anyhow::Result<bool> {
    let mut done = Ok(());
    match Systemd::find(&process_environment()) {
        Ok(systemd) => {
            for arguments in commands {
                done = systemd.run(arguments).await;
                if done.is_err() {
                    break;
                }
            }
        }
        Err(why) => done = Err(why),
    }
    let Err(why) = done else { return Ok(true) };
    let commands: Vec<String> =
        commands.iter().map(|arguments| format!("systemctl --user {}", arguments.join(" "))).collect();
    say(&format!("error: the user's systemd cannot be asked: {why}"));
    say(&format!("hint: log in as yourself and run `{}`", commands.join(" && ")));
    Ok(false)
}

fn unit(settings: &Settings) -> anyhow::Result<Unit> {
    let environment = process_environment();
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let variable = |name: &str| environment.get(name).map(|value| (name.to_owned(), value.to_owned()));
    let data_dir = environment.get(env::DATA_DIR).map(|path| absolute(Path::new(path)));
    let data_dir = data_dir.map(|path| (env::DATA_DIR.to_owned(), path.to_string_lossy().into_owned()));
    Ok(Unit {
        program: std::env::current_exe().context("this program does not know where it lies")?,
        config: settings.file.as_deref().map(absolute),
        variables: variable(env::PATH).into_iter().chain(data_dir).collect(),
    })
}

fn unit_path() -> anyhow::Result<PathBuf> {
    let environment = process_environment();
    let absolute = |name| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute(env::XDG_CONFIG_HOME).or_else(|| Some(absolute(env::HOME)?.join(".config")));
    let folder = folder.context("there is no folder for units: `HOME` is not set")?;
    Ok(folder.join("systemd/user").join(NAME))
}

fn say(text: &str) {
    // Who closed standard error does not want to hear it.
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}
