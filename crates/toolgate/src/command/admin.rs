//! `toolgate admin`: who may use the admin page.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_admin::{Account, Accounts, NewLink};
use toolgate_core::iso8601;
use toolgate_front::control;
use toolgate_host::Clock;

use crate::cli::Admin;
use crate::command::Process;
use crate::command::by_hand::{recorded, recorded_if_possible};
use crate::command::table::one_line;
use crate::parts::Parts;
use crate::settings::Settings;

/// Runs one of the subcommands.
pub(crate) async fn run(settings: &Settings, process: &Process, admin: &Admin) -> anyhow::Result<ExitCode> {
    let parts = Parts::new(settings, process.redactor.clone(), &process.tasks)?;
    let accounts = Accounts::new(parts.database, Clock::system());
    match admin {
        Admin::Link { account, role, json } => {
            let by = format!("{} on the command line", toolgate_host::user_name());
            let new = NewLink { account: account.clone(), role: *role, first: false, by };
            let about = format!("{} {role}", account.as_deref().unwrap_or("of any name"));
            let linking = async { Ok((accounts.link(new).await?, about)) };
            let (text, expires_ms) = recorded(&parts.audit, "admin link", linking).await?;
            let account = account.as_ref().map_or_else(String::new, |name| format!("&account={name}"));
            let url = format!("{}/admin#setup={}{account}", base(settings).await, text.expose());
            told(&url, expires_ms, *json)?;
        }
        Admin::List { json } => list(&accounts.list().await?, *json)?,
        Admin::Remove { account } => {
            let removing = async { Ok((accounts.remove(account).await?, account.clone())) };
            recorded_if_possible(&parts.audit, "admin remove", removing).await?;
            writeln!(std::io::stderr().lock(), "removed `{}`; its logins have ended", one_line(account))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the page is reached: where a hub runs, else where one would.
async fn base(settings: &Settings) -> String {
    if let Some(url) = &settings.http.public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let running = control::status(&settings.data_dir).await.ok().flatten();
    let address = running.and_then(|status| status.address?.parse().ok()).or(settings.http.address().ok());
    address.map_or_else(String::new, super::greeting::base)
}

fn told(url: &str, expires_ms: u64, as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let value = json!({"url": url, "expires_ms": expires_ms});
        writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
        return Ok(());
    }
    writeln!(out, "{url}")?;
    drop(out);
    let until = iso8601(expires_ms);
    writeln!(std::io::stderr().lock(), "It is shown this once, and good for one use until {until}.")?;
    Ok(())
}

fn list(all: &[Account], as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let items: Vec<Value> = all.iter().map(item).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({"items": items}))?)?;
        return Ok(());
    }
    if all.is_empty() {
        writeln!(
            std::io::stderr().lock(),
            "there are no accounts; `toolgate admin link` makes a link for one"
        )?;
    }
    for account in all {
        let last = account.last_login_ms.map_or_else(|| "never".into(), iso8601);
        let line =
            format!("{}  {}  logged in {last}, made by {}", account.name, account.role, account.created_by);
        writeln!(out, "{}", one_line(&line))?;
    }
    Ok(())
}

fn item(account: &Account) -> Value {
    json!({
        "name": account.name,
        "role": account.role,
        "created_ms": account.created_ms,
        "created_by": account.created_by,
        "last_login_ms": account.last_login_ms,
    })
}
