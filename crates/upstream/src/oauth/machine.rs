//! Machines, which nobody signs in: they get their tokens by themselves, and more to be allowed too.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use reqwest::header::HeaderValue;

use super::Authorizer;
use super::error::{OauthError, OauthReason};
use super::keeper::Keeper;
use super::scope::wanted_with;
use super::store::Record;
use super::token::{self, NoToken};

impl Authorizer {
    /// Gets a token for the machine itself.
    pub(super) async fn obtain(&self, keeper: &Keeper, mut record: Record) -> Result<(), OauthError> {
        let found = self.discover().await?;
        record.bond = self.bind_now(keeper, &found.authority).await?;
        let Some(client) = self.applicant(&found).known() else {
            return Err(OauthError::new(
                OauthReason::NeedsClientRegistration,
                "a machine has to be known to the authorization server",
                format!("set `mcp.{}.oauth.client_id`", self.server),
            ));
        };
        let url = found.authority.token_url.to_string();
        let mut scopes = self.machine_scopes(&record, &found).into_iter();
        let (scope, given) = loop {
            let scope = scopes.next().unwrap_or_default();
            let form =
                [("grant_type", "client_credentials"), ("scope", &*scope), ("resource", &*found.resource)];
            match token::ask(&self.ways, &url, &client, &form).await {
                Err(NoToken::Scope(_)) if scopes.len() > 0 => {}
                given => break (scope, given),
            }
        };
        let given = given.map_err(|refused| self.blame(refused, &client))?;
        let tokens = self.tokens(&found, client, given, Some(scope));
        // What is wanted stays: the next token has to allow it too.
        self.keep_on(keeper, Record { tokens: Some(tokens), ..record }).await;
        Ok(())
    }

    /// Gets another token for a machine whose own does not allow enough. What was asked for once is not asked for again
    /// before the token ends.
    pub(super) async fn step_up(
        self: &Arc<Self>,
        keeper: &Arc<Keeper>,
        used: Option<&HeaderValue>,
        missing: &str,
    ) -> Option<HeaderValue> {
        let _one_at_a_time = keeper.stepping.lock().await;
        let live = self.live(keeper).await.ok()?;
        // Who came before has got it, for all.
        if live.header.is_some() && live.header.as_ref() != used {
            return live.header.clone();
        }
        let before = live.record.wanted.clone();
        let wanted = wanted_with(before.as_deref(), missing)?;
        if keeper.not_before_ms.load(Ordering::Relaxed) > self.clock.unix_ms() {
            return None;
        }
        self.note_wanted(keeper, Some(wanted)).await;
        if self.renew_for(keeper).await.is_err() {
            // It was not asked for in the end.
            self.note_wanted(keeper, before).await;
            return None;
        }
        keeper.now()?.header.clone().filter(|header| Some(header) != used)
    }

    /// Renews for what is wanted by now; a renewal that just ends may have been for less.
    async fn renew_for(self: &Arc<Self>, keeper: &Arc<Keeper>) -> Result<(), OauthError> {
        let header = || keeper.now().and_then(|live| live.header.clone());
        let had = header();
        self.renew(keeper).await?;
        if header() == had { self.renew(keeper).await } else { Ok(()) }
    }
}
