//! Accounts of people, and the links by which they come to have one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ADMIN;
use crate::access::{Account, NewLink, Role, name_fault};
use crate::problem::Problem;
use crate::route::{Ask, DELETE, Done, GET, Items, Made, Nothing, POST, PUT, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new((GET, "/accounts"), ADMIN, "All accounts.", list),
        Route::new(
            (POST, "/accounts"),
            ADMIN,
            "Invite someone: a link by which they set up an account.",
            invite,
        ),
        Route::new((PUT, "/accounts/{account}/role"), ADMIN, "Give an account another role.", set_role),
        Route::new((DELETE, "/accounts/{account}"), ADMIN, "Remove an account; its logins end.", remove),
        Route::new(
            (POST, "/accounts/{account}/link"),
            ADMIN,
            "A link by which the owner of an account chooses another password.",
            reset,
        ),
        Route::new((DELETE, "/accounts/{account}/sessions"), ADMIN, "End all logins of an account.", log_out),
    ]
}

/// An account. Times are in milliseconds since 1970.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Account")]
struct AccountInfo {
    /// Its name.
    name: String,
    /// What its owner may do.
    role: Role,
    /// When it was made.
    created_ms: u64,
    /// Who made it.
    created_by: String,
    /// When its owner logged in last.
    last_login_ms: Option<u64>,
}

impl From<Account> for AccountInfo {
    fn from(account: Account) -> Self {
        let Account { name, role, created_ms, created_by, last_login_ms } = account;
        Self { name, role, created_ms, created_by, last_login_ms }
    }
}

/// Someone who is to have an account.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Invite {
    /// The name of the account: `a-z`, `0-9`, `.`, `_`, `@` and `-`.
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[a-z0-9._@-]+$"))]
    account: String,
    /// What they may do.
    role: Role,
}

/// Another role.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewRole {
    /// What its owner may do from now on.
    role: Role,
}

/// A link that was made; it is shown this once, and good for one use.
#[derive(Debug, Serialize, JsonSchema)]
struct MadeLink {
    /// The path to open on this server.
    path: String,
    /// Until when, in milliseconds since 1970.
    expires_ms: u64,
}

fn made(account: &str, (text, expires_ms): (toolgate_host::Secret, u64)) -> MadeLink {
    MadeLink { path: format!("/admin#setup={}&account={account}", text.expose()), expires_ms }
}

async fn list(ask: Ask, _: Nothing) -> Result<Items<AccountInfo>, Problem> {
    let all = ask.admin.accounts.list().await?;
    Ok(Items { items: all.into_iter().map(AccountInfo::from).collect() })
}

async fn invite(ask: Ask, new: Invite) -> Result<Made<MadeLink>, Problem> {
    if let Some(why) = name_fault(&new.account) {
        return Err(Problem::field("account", why));
    }
    let all = ask.admin.accounts.list().await?;
    if all.iter().any(|account| account.name == new.account) {
        return Err(Problem::field("account", "is there already"));
    }
    let (account, by) = (Some(new.account.clone()), ask.login()?.account.clone());
    let link = ask.admin.accounts.link(NewLink { account, role: new.role, first: false, by }).await?;
    Ok(Made(made(&new.account, link)))
}

async fn set_role(ask: Ask, new: NewRole) -> Result<AccountInfo, Problem> {
    Ok(ask.admin.accounts.set_role(ask.name(), new.role).await?.into())
}

async fn remove(ask: Ask, _: Nothing) -> Result<Done, Problem> {
    ask.admin.accounts.remove(ask.name()).await?;
    Ok(Done)
}

async fn reset(ask: Ask, _: Nothing) -> Result<Made<MadeLink>, Problem> {
    let link = ask.admin.accounts.reset_link(ask.name(), &ask.login()?.account).await?;
    Ok(Made(made(ask.name(), link)))
}

async fn log_out(ask: Ask, _: Nothing) -> Result<Done, Problem> {
    ask.admin.accounts.log_out(ask.name()).await?;
    Ok(Done)
}
