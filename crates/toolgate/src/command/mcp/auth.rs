//! `toolgate mcp auth`: someone signs in to a server.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_config::{env, process_environment};
use toolgate_core::{Error, Kind, Principal, SourceState, SourceStatus};
use toolgate_host::{open_browser, terminal};
use toolgate_upstream::{Authorizer, BadConfig, Holder, Login, OauthError, OauthReason, Standing};

use super::told::{print, say};
use super::waiting::Waiting;
use super::{Scene, running};
use crate::cli::Auth;
use crate::exit;
use crate::upstreams::{self, Grants};

/// How long a person has to sign in.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

pub(super) async fn run(scene: &Scene<'_>, auth: &Auth) -> anyhow::Result<ExitCode> {
    let name = &auth.name;
    let (authorizer, holder) = of(scene, name, auth.principal.as_deref()).await?;
    if !authorizer.needs_person() {
        tell_of_machine(scene, auth, &authorizer).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let finding = Waiting::begin(format!("{name}: finding out where to sign in"));
    let login = finding.on(authorizer.begin(holder.clone())).await.map_err(|error| told(&error))?;
    invite(&login, auth)?;
    sign_in(&login, auth).await?;
    let standing = authorizer.standing(holder.clone()).await.map_err(|error| told(&error))?;
    if !auth.json {
        say(&format!("signed in to `{name}`"))?;
    }
    // The hub hears of it by the store; a person wants to see that it did.
    let status = match holder {
        Holder::Shared => running::until(&scene.settings, name, "connecting", is_settled).await?,
        Holder::Principal(_) => None,
    };
    let is_well = status.as_ref().is_none_or(|status| !super::told::is_trouble(status.state));
    if auth.json {
        print(&outcome(auth, standing.as_ref(), status.as_ref()))?;
    } else if let Some(status) = &status {
        super::status::brief(Some(status))?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// Tells how a machine stands, for which nobody has to do anything.
async fn tell_of_machine(scene: &Scene<'_>, auth: &Auth, authorizer: &Authorizer) -> anyhow::Result<()> {
    let name = &auth.name;
    if !auth.json {
        return say(&format!(
            "`{name}` is signed in to by the machine itself; `toolgate mcp test {name}` tries it"
        ));
    }
    let standing = authorizer.standing(Holder::Shared).await.map_err(|error| told(&error))?;
    let status = running::one(&scene.settings, name).await?;
    print(&outcome(auth, standing.as_ref(), status.as_ref()))
}

/// What came of it, for programs.
fn outcome(auth: &Auth, grant: Option<&Standing>, status: Option<&SourceStatus>) -> Value {
    json!({"name": auth.name, "principal": auth.principal, "grant": grant, "status": status})
}

/// What signs in to a server, and for whom.
pub(super) async fn of(
    scene: &Scene<'_>,
    name: &str,
    principal: Option<&str>,
) -> anyhow::Result<(Arc<Authorizer>, Holder)> {
    let table = scene.table(name)?;
    let (parts, secrets) = scene.parts().await?;
    let tasks = &scene.process.tasks;
    let grants = Grants::new(&parts, tasks);
    let bad =
        |error: BadConfig| Error::new(Kind::InvalidInput, error.to_string()).hint(error.hint().to_owned());
    let authorizer = upstreams::authorizer(name, table, &secrets, &grants, tasks).map_err(bad)?;
    let Some(authorizer) = authorizer else {
        let message = format!("`{name}` is not signed in to");
        let hint =
            format!("it is a program, its address is not `https`, or `mcp.{name}` already says who we are");
        return Err(Error::new(Kind::InvalidInput, message).hint(hint).into());
    };
    let holder = match principal {
        None => Holder::Shared,
        Some(principal) => authorizer.holder(&Principal::named(principal).id),
    };
    let local = Principal::local();
    if holder == Holder::Shared && principal.is_some_and(|principal| principal != local.id.as_str()) {
        let message = format!("all principals share one sign-in to `{name}`");
        let hint = format!("set `mcp.{name}.oauth.per_principal = true`, or leave `--principal` out");
        return Err(Error::new(Kind::InvalidInput, message).hint(hint).into());
    }
    Ok((authorizer, holder))
}

/// Opens the browser, or says what to open.
fn invite(login: &Login, auth: &Auth) -> anyhow::Result<()> {
    let environment = process_environment();
    let path = environment.get(env::PATH).unwrap_or_default();
    let opened = !auth.no_browser && has_display() && open_browser(path, login.url()).is_ok();
    if opened {
        say("your browser opens; sign in there. If it does not, open this address:")?;
    } else {
        say("open this address in a browser, and sign in:")?;
    }
    if auth.no_browser && !auth.json {
        writeln!(std::io::stdout().lock(), "{}", login.url())?;
    } else {
        writeln!(std::io::stderr().lock(), "{}", login.url())?;
    }
    if may_paste(auth) {
        say("if the browser is on another machine, paste here the address it ends at, then Enter")?;
    }
    Ok(())
}

/// Whether someone could see a browser here.
fn has_display() -> bool {
    let environment = process_environment();
    let shows = |name: &str| environment.get(name).is_some();
    cfg!(target_os = "macos")
        || [env::DISPLAY, env::WAYLAND_DISPLAY, env::WSL_DISTRO_NAME].into_iter().any(shows)
}

/// Whether someone may type, or pipes what the browser came to.
fn may_paste(auth: &Auth) -> bool {
    auth.no_browser || std::io::stdin().is_terminal()
}

/// Waits for the browser, or for what is pasted; a paste that is none may be followed by another.
async fn sign_in(login: &Login, auth: &Auth) -> anyhow::Result<()> {
    let pasted = async {
        while may_paste(auth) {
            let Some(line) = terminal::next_line().await else { break };
            match login.finish(&line).await {
                Err(error) if error.reason() == OauthReason::WrongAnswer => say(&format!("{error}"))?,
                done => return done.map_err(|error| told(&error).into()),
            }
        }
        std::future::pending().await
    };
    let signed = tokio::time::timeout(PATIENCE, async {
        tokio::select! {
            done = login.wait() => done.map_err(|error| anyhow::Error::from(told(&error))),
            done = pasted => done,
        }
    });
    signed.await.unwrap_or_else(|_| {
        let message = format!("nobody signed in within {} minutes", PATIENCE.as_secs() / 60);
        Err(Error::new(Kind::Timeout, message).hint("run the command again").into())
    })
}

fn is_settled(status: Option<&SourceStatus>) -> bool {
    status.is_none_or(|status| !matches!(status.state, SourceState::Connecting | SourceState::NeedsAuth))
}

/// An error as commands tell it.
pub(crate) fn told(error: &OauthError) -> Error {
    let kind = match error.reason() {
        OauthReason::NeedsClientRegistration | OauthReason::WrongClient => Kind::InvalidInput,
        OauthReason::Unavailable => Kind::ConnectionFailed,
        OauthReason::NeedsAuth | OauthReason::Untrusted | OauthReason::Denied | OauthReason::WrongAnswer => {
            Kind::Unauthorized
        }
    };
    Error::new(kind, error.to_string()).hint(error.hint().to_owned())
}
