//! Renewing a grant: one at a time, never lost half-way, and in turn with other processes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use reqwest::header::HeaderValue;
use tokio::sync::watch;

use super::discovery::Found;
use super::error::{OauthError, OauthReason};
use super::keeper::{Keeper, Live};
use super::store::{Client, Record, Tokens, lock};
use super::token::{self, Given, NoToken};
use super::{Authorizer, Holder, pkce};
use crate::config::GrantKind;

/// How long to wait after a failed attempt: while the token still counts, and when it does not.
const LATER_MS: u64 = 10_000;
const SOON_MS: u64 = 1_000;

/// How long others may take for their turns, and how often we look. One that died with its process has run out by then.
const PATIENCE: Duration = Duration::from_secs(40);
const LOOK: Duration = Duration::from_millis(50);

impl Authorizer {
    /// Whether there is a way to renew a grant without a person.
    pub(super) fn can_renew(&self, live: &Live) -> bool {
        let refresh = live.record.tokens.as_ref().is_some_and(|tokens| tokens.refresh.is_some());
        refresh || self.plan.grant == GrantKind::ClientCredentials
    }

    /// Renews in the background, unless that was tried just now.
    pub(super) fn renew_ahead(self: &Arc<Self>, keeper: &Arc<Keeper>) {
        if keeper.not_before_ms.load(Ordering::Relaxed) <= self.clock.unix_ms() {
            drop(self.begin_renewal(keeper));
        }
    }

    /// Renews, or waits for the renewal that is under way. Whoever gives up waiting does not end it: what comes of it
    /// may be the only thing that lets us in.
    pub(super) async fn renew(self: &Arc<Self>, keeper: &Arc<Keeper>) -> Result<(), OauthError> {
        let mut renewal = self.begin_renewal(keeper);
        let over = renewal.wait_for(Option::is_some).await.map(|done| done.clone());
        match over {
            Ok(Some(done)) => done,
            Ok(None) | Err(_) => Err(OauthError::unavailable("the renewal of the token was broken off")),
        }
    }

    fn begin_renewal(self: &Arc<Self>, keeper: &Arc<Keeper>) -> super::keeper::Renewal {
        let mut renewing = lock(&keeper.renewing);
        // A sender that is gone will never answer.
        if let Some(under_way) =
            renewing.as_ref().filter(|one| one.borrow().is_none() && one.has_changed().is_ok())
        {
            return under_way.clone();
        }
        let (done, renewal) = watch::channel(None);
        *renewing = Some(renewal.clone());
        let (this, keeper) = (self.clone(), keeper.clone());
        self.tasks.spawn(async move {
            let outcome = this.renew_in_turn(&keeper).await;
            if let Err(error) = &outcome {
                if !this.needs_person() || error.reason() == OauthReason::WrongClient {
                    *lock(&this.trouble) = Some(error.clone());
                }
                tracing::warn!(server = %this.server, "the token could not be renewed: {error}");
                this.failed_at(&keeper, this.clock.unix_ms());
            }
            done.send_replace(Some(outcome));
        });
        renewal
    }

    /// Notes when the next attempt may be made. One that is asked for too early does not put it off.
    fn failed_at(&self, keeper: &Keeper, now: u64) {
        if keeper.not_before_ms.load(Ordering::Relaxed) <= now {
            let over = keeper.now().is_none_or(|live| live.is_over(now));
            keeper.not_before_ms.store(now + if over { SOON_MS } else { LATER_MS }, Ordering::Relaxed);
        }
    }

    async fn renew_in_turn(&self, keeper: &Keeper) -> Result<(), OauthError> {
        let had = keeper.now().and_then(|live| live.header.clone());
        self.in_turn(keeper, self.renew_now(keeper, had.as_ref())).await?
    }

    /// Does something that reads what is kept and writes it anew, while nobody else does.
    pub(super) async fn in_turn<T>(
        &self,
        keeper: &Keeper,
        work: impl Future<Output = T>,
    ) -> Result<T, OauthError> {
        let (key, mark) = (&*keeper.key, pkce::random_word()?);
        let until = tokio::time::Instant::now() + PATIENCE;
        while !self.store.take_turn(key, &mark).await.map_err(super::store_failed)? {
            // Two that use one refresh token may both be thrown out for it.
            if tokio::time::Instant::now() > until {
                let message = format!("others are at what lets us in to `{}`", self.server);
                return Err(OauthError::unavailable(message));
            }
            tokio::time::sleep(LOOK).await;
        }
        let outcome = work.await;
        if let Err(why) = self.store.end_turn(key, &mark).await {
            tracing::debug!(server = %self.server, "a turn ends by itself: {why}");
        }
        Ok(outcome)
    }

    async fn renew_now(&self, keeper: &Keeper, had: Option<&HeaderValue>) -> Result<(), OauthError> {
        let live = self.reload(keeper).await?;
        let now = self.clock.unix_ms();
        // Someone else was faster.
        if live.header.is_some() && live.header.as_ref() != had && !live.is_due(now) {
            return Ok(());
        }
        let record = live.record.clone();
        match (self.plan.grant, record.tokens.clone()) {
            (GrantKind::ClientCredentials, _) => self.obtain(keeper, record).await,
            (GrantKind::Code, Some(Tokens { refresh: Some(refresh), .. })) => {
                // Who comes again and again with a wrong secret may be shut out.
                if let Some(error) = self.wrong_client()
                    && now < keeper.not_before_ms.load(Ordering::Relaxed)
                {
                    return Err(error);
                }
                self.refresh(keeper, record, &refresh).await
            }
            (GrantKind::Code, _) => Err(self.needs_auth(&keeper.holder)),
        }
    }

    /// Gets a new token for a refresh token.
    async fn refresh(&self, keeper: &Keeper, mut record: Record, refresh: &str) -> Result<(), OauthError> {
        let before = record.tokens.clone();
        let Some(mut tokens) = record.tokens.take() else { return Err(self.needs_auth(&keeper.holder)) };
        tokens.client = self.client_of(&tokens).await;
        let resource = tokens.resource.clone();
        let form =
            [("grant_type", "refresh_token"), ("refresh_token", refresh), ("resource", resource.as_str())];
        let mut answer = token::ask(&self.ways, &tokens.token_url, &tokens.client, &form).await;
        if matches!(answer, Err(NoToken::Moved(_)))
            && let Some(found) = self.moved(&tokens).await
        {
            tokens.token_url = found.authority.token_url.to_string();
            tokens.revocation_url = found.authority.revocation_url.map(|url| url.to_string());
            answer = token::ask(&self.ways, &tokens.token_url, &tokens.client, &form).await;
        }
        match answer {
            Ok(given) => {
                self.fresh(&mut tokens, given);
                if self
                    .keep_instead(keeper, before.as_ref(), Record { tokens: Some(tokens.clone()), ..record })
                    .await
                {
                    return Ok(());
                }
                if keeper.now().is_some_and(|live| live.record.tokens.is_some()) {
                    return Ok(());
                }
                // Whoever signed out meanwhile wants none of it.
                if let Err(error) = token::revoke(&self.ways, &tokens).await {
                    tracing::warn!(server = %self.server, "the grant could not be given back: {error}");
                }
                Err(self.needs_auth(&keeper.holder))
            }
            // A person can mend the client, and what was given to it counts again.
            Err(refused @ NoToken::Client(_)) if self.is_configured(&tokens.client) => {
                Err(self.blame(refused, &tokens.client))
            }
            Err(NoToken::Client(error)) => {
                record.registered = None;
                Err(self.forget(keeper, before.as_ref(), record, &error).await)
            }
            Err(NoToken::Gone(error)) => Err(self.forget(keeper, before.as_ref(), record, &error).await),
            Err(other @ (NoToken::Scope(_) | NoToken::Moved(_) | NoToken::Failed(_))) => {
                Err(other.into_error())
            }
        }
    }

    /// Lets go of tokens that do not count any more.
    async fn forget(
        &self,
        keeper: &Keeper,
        before: Option<&Tokens>,
        record: Record,
        why: &OauthError,
    ) -> OauthError {
        self.keep_instead(keeper, before, record).await;
        OauthError::new(OauthReason::NeedsAuth, why.to_string(), self.command(&keeper.holder))
    }

    /// Where the same authorization server gives tokens now.
    async fn moved(&self, tokens: &Tokens) -> Option<Found> {
        if self.plan.token_url.is_some() {
            return None;
        }
        let found = self.discover().await.ok()?;
        let same = found.authority.issuer.is_some() && found.authority.issuer == tokens.client.issuer;
        (same && found.authority.token_url.as_str() != tokens.token_url).then_some(found)
    }

    /// Keeps what became of a grant, unless it is no longer the one that is kept: a turn may run out, and whoever signed
    /// in or out meanwhile has the last word.
    async fn keep_instead(&self, keeper: &Keeper, before: Option<&Tokens>, mut record: Record) -> bool {
        if let Ok(live) = self.reload(keeper).await {
            if live.record.tokens.as_ref() != before {
                return false;
            }
            record.wanted.clone_from(&live.record.wanted);
        }
        self.keep_on(keeper, record).await;
        true
    }

    /// Remembers what a server said was missing.
    pub(super) async fn note_wanted(&self, keeper: &Keeper, scope: Option<String>) {
        let kept = self.in_turn(keeper, self.want(keeper, scope)).await;
        if let Err(error) = kept.and_then(|kept| kept) {
            tracing::warn!(server = %self.server, "{error}");
        }
    }

    async fn want(&self, keeper: &Keeper, scope: Option<String>) -> Result<(), OauthError> {
        let mut record = self.reload(keeper).await?.record.clone();
        if record.tokens.is_none() {
            return Ok(());
        }
        record.wanted = scope;
        self.keep(keeper, record).await
    }

    /// Uses a record, and goes on even where it cannot be kept.
    pub(super) async fn keep_on(&self, keeper: &Keeper, record: Record) {
        if let Err(error) = self.keep(keeper, record).await {
            tracing::warn!(server = %self.server, "it counts only until we end: {error}");
        }
    }

    /// What was given, with what it takes to renew it.
    pub(super) fn tokens(
        &self,
        found: &Found,
        client: Client,
        given: Given,
        asked: Option<String>,
    ) -> Tokens {
        let mut tokens = Tokens {
            access: String::new(),
            refresh: None,
            // Where nothing is said, what was asked for is allowed.
            scope: asked.filter(|scope| !scope.is_empty()),
            received_ms: 0,
            expires_ms: None,
            client,
            resource: found.resource.clone(),
            token_url: found.authority.token_url.to_string(),
            revocation_url: found.authority.revocation_url.as_ref().map(ToString::to_string),
        };
        self.fresh(&mut tokens, given);
        tokens
    }

    /// Puts what was given in the place of what was there; a refresh token that is not replaced stays.
    fn fresh(&self, tokens: &mut Tokens, given: Given) {
        tokens.access = given.access;
        tokens.refresh = given.refresh.or_else(|| tokens.refresh.take());
        tokens.scope = given.scope.or_else(|| tokens.scope.take());
        tokens.received_ms = self.clock.unix_ms();
        tokens.expires_ms = given.lasts_ms.map(|lasts| tokens.received_ms.saturating_add(lasts));
    }

    pub(super) fn needs_auth(&self, holder: &Holder) -> OauthError {
        let message = format!("nobody is signed in to `{}`", self.server);
        OauthError::new(OauthReason::NeedsAuth, message, self.command(holder))
    }
}
