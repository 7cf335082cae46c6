//! The settings in force, and where each comes from.

use schemars::JsonSchema;
use serde::Serialize;

use super::{ADMIN, VIEWER};
use crate::desk::SettingsInForce;
use crate::problem::Problem;
use crate::route::{Ask, GET, Nothing, POST, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new((GET, "/settings"), VIEWER, "Every setting in force, with where it comes from.", list),
        Route::new((POST, "/settings/reload"), ADMIN, "Read the settings anew.", reload),
    ]
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
struct Reloaded {
    /// What changed, in words.
    changed: String,
}

async fn list(ask: Ask, _: Nothing) -> Result<SettingsInForce, Problem> {
    Ok(ask.admin.desk.settings().await?)
}

async fn reload(ask: Ask, _: Nothing) -> Result<Reloaded, Problem> {
    Ok(Reloaded { changed: ask.admin.desk.reload().await? })
}
