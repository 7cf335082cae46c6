//! Setting up, logging in and out, and the OpenAPI document: what answers without a login, and what is about one's own.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolgate_host::Secret;

use super::VIEWER;
use crate::access::{Account, Cookie, Login, NewAccount, Role, password_fault};
use crate::admin::{Inner, principal};
use crate::problem::Problem;
use crate::route::{Ask, DELETE, GET, LoggedIn, LoggedOut, Nothing, POST, PUT, Route, Who};

pub(super) fn routes() -> Vec<Route> {
    let anyone = Who::Anyone;
    vec![
        Route::new((GET, "/openapi.json"), anyone, "This document.", document),
        Route::new((GET, "/setup"), anyone, "Whether someone has to set up the first account.", look),
        Route::new(
            (POST, "/setup"),
            anyone,
            "Use a link: an account is there then, with this password.",
            set_up,
        ),
        Route::new((POST, "/session"), anyone, "Log in.", log_in),
        Route::new(
            (GET, "/session"),
            VIEWER,
            "Who is logged in, and what to send along with every change.",
            who,
        ),
        Route::new((DELETE, "/session"), VIEWER, "Log out.", log_out),
        Route::new(
            (PUT, "/session/password"),
            VIEWER,
            "Choose another password; all other logins end.",
            password,
        ),
    ]
}

/// Someone who is logged in. Times are in milliseconds since 1970.
#[derive(Debug, Serialize, JsonSchema)]
struct Session {
    /// Their account.
    account: String,
    /// What they may do.
    role: Role,
    /// What to send as `X-CSRF-Token` along with every change.
    csrf: String,
    /// When the login ends if it is not used.
    idle_ms: u64,
    /// When it ends, used or not.
    ends_ms: u64,
}

impl Session {
    fn of(login: &Login) -> Self {
        Self {
            account: login.account.clone(),
            role: login.role,
            csrf: login.csrf.clone(),
            idle_ms: login.idle_ms,
            ends_ms: login.ends_ms,
        }
    }
}

/// How far setting up is.
#[derive(Debug, Serialize, JsonSchema)]
struct SetUp {
    /// Whether there is no account at all: then a link is needed, which `toolgate serve` prints when it starts.
    needed: bool,
}

/// Using a link.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UseLink {
    /// What stands behind `#setup=` in it.
    link: String,
    /// The name of the account, where the link leaves it open.
    #[serde(default)]
    account: Option<String>,
    /// The password: 16 characters, or 12 with three of lower case, upper case, digits and others.
    password: String,
}

/// Who wants in.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Credentials {
    /// The name of the account.
    account: String,
    /// Its password.
    password: String,
}

/// Another password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChangePassword {
    /// The one that holds.
    old: String,
    /// The one that is to hold.
    new: String,
}

async fn document(ask: Ask, _: Nothing) -> Result<Map<String, Value>, Problem> {
    Ok(serde_json::from_slice(&ask.admin.openapi).unwrap_or_default())
}

async fn look(ask: Ask, _: Nothing) -> Result<SetUp, Problem> {
    Ok(SetUp { needed: !ask.admin.accounts.any().await? })
}

async fn set_up(ask: Ask, given: UseLink) -> Result<LoggedIn<Session>, Problem> {
    let (admin, begun) = (&ask.admin, Instant::now());
    let password = Secret::new(given.password);
    let found = admin.accounts.redeem(&given.link, given.account, password, &admin.passwords).await?;
    tracing::info!(account = found.0.name, "an account was set up on the admin page");
    let address = ask.address();
    admin.throttle.succeeded(&found.0.name, address);
    entered(admin, "admin/POST /setup", &found.0, begun);
    begin(&ask, (&found.0, found.1)).await
}

async fn log_in(ask: Ask, given: Credentials) -> Result<LoggedIn<Session>, Problem> {
    let (admin, begun) = (&ask.admin, Instant::now());
    let address = ask.address();
    if let Err(seconds) = admin.throttle.begin(&given.account, address) {
        tracing::warn!(%address, "a login on the admin page has to wait");
        let detail = format!("too many failed logins; try again in {seconds} s");
        return Err(Problem::too_many(detail, seconds));
    }
    let password = Secret::new(given.password);
    let Some((account, generation)) =
        admin.accounts.check(&given.account, password, &admin.passwords).await?
    else {
        tracing::warn!(%address, "a login on the admin page failed");
        // Which of the two it is, only its owner should know.
        return Err(Problem::unknown("name or password is wrong"));
    };
    admin.throttle.succeeded(&account.name, address);
    entered(admin, "admin/POST /session", &account, begun);
    begin(&ask, (&account, generation)).await
}

/// Records who came in: before that, nobody knew who asked.
fn entered(admin: &Inner, what: &str, account: &Account, begun: Instant) {
    admin.hub.record_change(&principal(&account.name), what, "complete", begun.elapsed());
}

async fn begin(ask: &Ask, account: (&Account, u64)) -> Result<LoggedIn<Session>, Problem> {
    let (text, login) = ask.admin.logins.begin(account, &ask.admin.config()).await?;
    let cookie = Cookie::of(&ask.way.host, ask.way.secure);
    Ok(LoggedIn { value: Session::of(&login), cookie, text })
}

async fn who(ask: Ask, _: Nothing) -> Result<Session, Problem> {
    Ok(Session::of(ask.login()?))
}

async fn log_out(ask: Ask, _: Nothing) -> Result<LoggedOut, Problem> {
    ask.admin.logins.end(ask.login()?).await?;
    Ok(LoggedOut(Cookie::of(&ask.way.host, ask.way.secure)))
}

async fn password(ask: Ask, given: ChangePassword) -> Result<LoggedIn<Session>, Problem> {
    let (admin, login) = (&ask.admin, ask.login()?);
    let address = ask.address();
    // Whoever finds a page open must not guess here.
    if let Err(seconds) = admin.throttle.begin(&login.account, address) {
        return Err(Problem::too_many(format!("too many failures; try again in {seconds} s"), seconds));
    }
    let old = Secret::new(given.old);
    if admin.accounts.check(&login.account, old, &admin.passwords).await?.is_none() {
        return Err(Problem::field("old", "is not the password that holds"));
    }
    admin.throttle.succeeded(&login.account, address);
    if let Some(why) = password_fault(&given.new) {
        return Err(Problem::field("new", why));
    }
    let new = NewAccount {
        name: login.account.clone(),
        password: Secret::new(given.new),
        role: None,
        may_exist: true,
        by: login.account.clone(),
    };
    let (account, generation) = admin.accounts.put(new, None, &admin.passwords).await?;
    begin(&ask, (&account, generation)).await
}
