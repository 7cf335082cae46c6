//! Secrets: their names and times, never their values.

use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_host::Secret;

use super::{ADMIN, VIEWER};
use crate::desk::SecretInfo;
use crate::problem::Problem;
use crate::route::{Ask, DELETE, Done, GET, Items, Nothing, PUT, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new((GET, "/secrets"), VIEWER, "The names of all secrets.", list),
        Route::new((PUT, "/secrets/{name}"), ADMIN, "Keep a secret; one of the same name is replaced.", set),
        Route::new((DELETE, "/secrets/{name}"), ADMIN, "Forget a secret.", remove),
    ]
}

/// The value of a secret.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SecretValue {
    /// The value: at least 8 bytes.
    value: String,
}

async fn list(ask: Ask, _: Nothing) -> Result<Items<SecretInfo>, Problem> {
    Ok(Items { items: ask.admin.desk.secrets().await? })
}

async fn set(ask: Ask, given: SecretValue) -> Result<Done, Problem> {
    ask.admin.desk.set_secret(ask.name().to_owned(), Secret::new(given.value)).await?;
    Ok(Done)
}

async fn remove(ask: Ask, _: Nothing) -> Result<Done, Problem> {
    ask.admin.desk.remove_secret(ask.name().to_owned()).await?;
    Ok(Done)
}
