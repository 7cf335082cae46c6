//! Other MCP servers: added, removed, switched, started anew, signed in to.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::SourceId;

use super::{ADMIN, VIEWER};
use crate::desk::{NewUpstream, SignIn, Upstream};
use crate::problem::Problem;
use crate::route::{Ask, DELETE, Done, GET, Items, Made, Nothing, POST, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new((GET, "/upstreams"), VIEWER, "All upstreams, and how each stands.", list),
        Route::new((POST, "/upstreams"), ADMIN, "Add an upstream to the settings.", add),
        Route::new((GET, "/upstreams/{name}"), VIEWER, "One of them, with what its program wrote.", show),
        Route::new((DELETE, "/upstreams/{name}"), ADMIN, "Take an upstream out of the settings.", remove),
        Route::new((POST, "/upstreams/{name}/enable"), ADMIN, "Switch an upstream on.", enable),
        Route::new((POST, "/upstreams/{name}/disable"), ADMIN, "Switch an upstream off.", disable),
        Route::new((POST, "/upstreams/{name}/restart"), ADMIN, "Connect to an upstream anew.", restart),
        Route::new((POST, "/upstreams/{name}/sign-in"), ADMIN, "Begin to sign in to an upstream.", sign_in),
        Route::new(
            (POST, "/upstreams/{name}/sign-in/finish"),
            ADMIN,
            "Go on with signing in, by the address that the browser ended at.",
            finish,
        ),
        Route::new((POST, "/upstreams/{name}/sign-out"), ADMIN, "Sign out of an upstream.", sign_out),
    ]
}

/// Where a browser ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ended {
    /// The address, as it stands in the browser.
    address: String,
}

async fn list(ask: Ask, _: Nothing) -> Result<Items<Upstream>, Problem> {
    Ok(Items { items: ask.admin.desk.upstreams().await? })
}

async fn add(ask: Ask, new: NewUpstream) -> Result<Made<Upstream>, Problem> {
    let is_blank = |text: &Option<String>| text.as_ref().is_some_and(|text| text.trim().is_empty());
    match (&new.command, &new.url) {
        (None, None) => return Err(Problem::field("command", "is missing, and so is `url`")),
        (Some(_), Some(_)) => return Err(Problem::field("url", "and `command` exclude each other")),
        (Some(_), None) if is_blank(&new.command) => return Err(Problem::field("command", "is missing")),
        (None, Some(_)) if is_blank(&new.url) => return Err(Problem::field("url", "is missing")),
        (Some(_), None) | (None, Some(_)) => {}
    }
    if !SourceId::fits(&new.name) {
        let why = "has to be 1 to 32 characters of `A-Z`, `a-z`, `0-9`, `_` and `-`";
        return Err(Problem::field("name", why));
    }
    if ask.admin.desk.upstreams().await?.iter().any(|known| known.name == new.name) {
        return Err(Problem::field("name", "is taken by another server"));
    }
    Ok(Made(ask.admin.desk.add_upstream(new).await?))
}

async fn show(ask: Ask, _: Nothing) -> Result<Upstream, Problem> {
    Ok(ask.admin.desk.upstream(ask.name().to_owned()).await?)
}

async fn remove(ask: Ask, _: Nothing) -> Result<Done, Problem> {
    ask.admin.desk.remove_upstream(ask.name().to_owned()).await?;
    Ok(Done)
}

async fn enable(ask: Ask, _: Nothing) -> Result<Done, Problem> {
    ask.admin.desk.switch_upstream(ask.name().to_owned(), true).await?;
    Ok(Done)
}

async fn disable(ask: Ask, _: Nothing) -> Result<Done, Problem> {
    ask.admin.desk.switch_upstream(ask.name().to_owned(), false).await?;
    Ok(Done)
}

async fn restart(ask: Ask, _: Nothing) -> Result<Done, Problem> {
    ask.admin.hub.restart(ask.name())?;
    Ok(Done)
}

async fn sign_in(ask: Ask, _: Nothing) -> Result<SignIn, Problem> {
    Ok(ask.admin.desk.sign_in(ask.name().to_owned()).await?)
}

async fn finish(ask: Ask, ended: Ended) -> Result<Done, Problem> {
    ask.admin.desk.finish_sign_in(ask.name().to_owned(), ended.address).await?;
    Ok(Done)
}

async fn sign_out(ask: Ask, _: Nothing) -> Result<Done, Problem> {
    ask.admin.desk.sign_out(ask.name().to_owned()).await?;
    Ok(Done)
}
