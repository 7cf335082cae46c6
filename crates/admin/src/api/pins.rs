//! Tools of other servers whose definition is not what it was.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{APPROVER, VIEWER};
use crate::desk::PinnedTool;
use crate::problem::Problem;
use crate::route::{Ask, GET, Items, Nothing, POST, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            (GET, "/pins"),
            VIEWER,
            "Every tool of another server that was ever seen, held ones first.",
            list,
        ),
        Route::new((GET, "/pins/{source}/{tool}"), VIEWER, "One of them, with what changed.", show),
        Route::new(
            (POST, "/pins/{source}/{tool}/accept"),
            APPROVER,
            "Accept the definition that someone has looked at, and no other.",
            accept,
        ),
    ]
}

/// What someone has looked at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Accept {
    /// The digest of the definition.
    #[schemars(length(min = 1, max = 200))]
    digest: String,
}

async fn list(ask: Ask, _: Nothing) -> Result<Items<PinnedTool>, Problem> {
    Ok(Items { items: ask.admin.desk.pins().await? })
}

async fn show(ask: Ask, _: Nothing) -> Result<PinnedTool, Problem> {
    let (source, tool) = named(&ask);
    Ok(ask.admin.desk.pin(source, tool).await?)
}

async fn accept(ask: Ask, accept: Accept) -> Result<PinnedTool, Problem> {
    let (source, tool) = named(&ask);
    Ok(ask.admin.desk.accept_pin(source, tool, accept.digest, ask.by()).await?)
}

fn named(ask: &Ask) -> (String, String) {
    let part = |place: usize| ask.params.get(place).cloned().unwrap_or_default();
    (part(0), part(1))
}
