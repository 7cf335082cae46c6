//! Signing in to other servers that was begun on the page, and waits for a browser.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolgate_admin::SignIn;
use toolgate_core::{Error, Kind, Result};
use toolgate_host::{Clock, Tasks};
use toolgate_upstream::{Login, OauthReason};

/// How long a person has to sign in.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Signing in that waits for a browser, by server; one at a time each.
pub(super) struct SignIns {
    waiting: Arc<Mutex<HashMap<String, Waiting>>>,
    tasks: Tasks,
}

struct Waiting {
    login: Arc<Login>,
    over: CancellationToken,
}

impl SignIns {
    pub(super) fn new(tasks: Tasks) -> Self {
        Self { waiting: Arc::default(), tasks }
    }

    /// Waits for the browser; one that was begun before ends.
    pub(super) fn begin(&self, name: &str, login: Login) -> SignIn {
        let url = login.url().to_string();
        let (login, over) = (Arc::new(login), CancellationToken::new());
        let before =
            lock(&self.waiting).insert(name.to_owned(), Waiting { login: login.clone(), over: over.clone() });
        if let Some(before) = before {
            before.over.cancel();
        }
        let (waiting, name, stopping) = (self.waiting.clone(), name.to_owned(), self.tasks.stopping());
        self.tasks.spawn(async move {
            tokio::select! {
                signed = tokio::time::timeout(PATIENCE, login.wait()) => match signed {
                    Ok(Ok(())) => tracing::info!(server = name, "someone signed in on the admin page"),
                    Ok(Err(error)) => tracing::warn!(server = name, "signing in failed: {error}"),
                    Err(_) => tracing::info!(server = name, "nobody signed in"),
                },
                () = over.cancelled() => return,
                () = stopping.cancelled() => return,
            }
            let mut waiting = lock(&waiting);
            if waiting.get(&name).is_some_and(|now| Arc::ptr_eq(&now.login, &login)) {
                waiting.remove(&name);
            }
        });
        let ms = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
        SignIn { url, expires_ms: Clock::system().unix_ms().saturating_add(ms) }
    }

    /// Goes on with the address that a browser ended at.
    pub(super) async fn finish(&self, name: &str, address: &str) -> Result<()> {
        let login = lock(&self.waiting).get(name).map(|waiting| waiting.login.clone());
        let Some(login) = login else {
            return Err(Error::new(Kind::NotFound, "nobody is signing in to this server")
                .hint("begin anew, and sign in within 15 minutes"));
        };
        login.finish(address).await.map_err(|error| {
            if error.reason() == OauthReason::WrongAnswer {
                return Error::new(Kind::InvalidInput, error.to_string())
                    .hint("copy the whole address that the browser ended at");
            }
            crate::command::sign_in_error(&error)
        })?;
        if let Some(done) = lock(&self.waiting).remove(name) {
            done.over.cancel();
        }
        Ok(())
    }
}

fn lock(waiting: &Mutex<HashMap<String, Waiting>>) -> MutexGuard<'_, HashMap<String, Waiting>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
