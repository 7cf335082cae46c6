//! Other MCP servers: added, removed, switched, started anew, signed in to.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ADMIN, VIEWER};
use crate::desk::{NewUpstream, SignIn, Upstream};
use crate::problem::Problem;
use crate::route::{Ask, Done, Items, Made, Nothing, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/upstreams", VIEWER, "All upstreams, and how each stands.", list),
        Route::post("/upstreams", ADMIN, "Add an upstream to the settings.", add),
        Route::get("/upstreams/{name}", VIEWER, "One of them, with what its program wrote.", show),
        Route::delete("/upstreams/{name}", ADMIN, "Take an upstream out of the settings.", remove),
        Route::post("/upstreams/{name}/enable", ADMIN, "Switch an upstream on.", enable),
        Route::post("/upstreams/{name}/disable", ADMIN, "Switch an upstream off.", disable),
        Route::post("/upstreams/{name}/restart", ADMIN, "Connect to an upstream anew.", restart),
        Route::post("/upstreams/{name}/sign-in", ADMIN, "Begin to sign in to an upstream.", sign_in),
        Route::post(
            "/upstreams/{name}/sign-in/finish",
            ADMIN,
            "Go on with signing in, by the address that the browser ended at.",
            finish,
        ),
        Route::post("/upstreams/{name}/sign-out", ADMIN, "Sign out of an upstream.", sign_out),
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
    match (&new.command, &new.url) {
        (None, None) => return Err(Problem::field("command", "is missing, and so is `url`")),
        (Some(_), Some(_)) => return Err(Problem::field("url", "and `command` exclude each other")),
        (Some(_), None) | (None, Some(_)) => {}
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
