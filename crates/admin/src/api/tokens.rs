//! Principals, and the tokens by which they are known.

use super::{ADMIN, VIEWER};
use crate::desk::{MadeToken, NewToken, PrincipalInfo, Token};
use crate::problem::Problem;
use crate::route::{Ask, DELETE, GET, Items, Nothing, POST, Route, Shown};

/// The longest note.
const LONGEST_NOTE: usize = 500;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new((GET, "/principals"), VIEWER, "Everyone who calls, or may, by name.", principals),
        Route::new((GET, "/tokens"), VIEWER, "All tokens, newest first.", list),
        Route::new((POST, "/tokens"), ADMIN, "Make a token; its text is shown this once.", create),
        Route::new(
            (DELETE, "/tokens/{id}"),
            ADMIN,
            "Take a token back; what was begun with it ends.",
            revoke,
        ),
    ]
}

async fn principals(ask: Ask, _: Nothing) -> Result<Items<PrincipalInfo>, Problem> {
    Ok(Items { items: ask.admin.desk.principals().await? })
}

async fn list(ask: Ask, _: Nothing) -> Result<Items<Token>, Problem> {
    Ok(Items { items: ask.admin.desk.tokens().await? })
}

async fn create(ask: Ask, new: NewToken) -> Result<Shown<MadeToken>, Problem> {
    if new.note.chars().count() > LONGEST_NOTE {
        return Err(Problem::field("note", format!("is longer than {LONGEST_NOTE} characters")));
    }
    if new.expires_in_seconds.is_some_and(|seconds| !(60..=315_360_000).contains(&seconds)) {
        return Err(Problem::field("expires_in_seconds", "has to be a minute to ten years"));
    }
    Ok(Shown(ask.admin.desk.make_token(new, ask.by()).await?))
}

async fn revoke(ask: Ask, _: Nothing) -> Result<Token, Problem> {
    Ok(ask.admin.desk.revoke_token(ask.name().to_owned()).await?)
}
