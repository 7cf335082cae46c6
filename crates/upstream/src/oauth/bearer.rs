//! What a request carries to be let in, and what to do when it is not.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use reqwest::header::HeaderValue;

use super::Authorizer;
use super::challenge::Challenge;
use super::error::{OauthError, OauthReason};
use super::keeper::Keeper;
use super::scope::lacking;
use super::store::lock;
use crate::fault::{Fault, short};

/// What lets one holder's requests in.
#[derive(Clone)]
pub(crate) struct Bearer {
    pub(super) authorizer: Arc<Authorizer>,
    pub(super) keeper: Arc<Keeper>,
}

impl Bearer {
    /// The token of the moment; none if there is none. One that ends soon is renewed meanwhile, one that has ended
    /// before it is used.
    pub(crate) async fn header(&self) -> Result<Option<HeaderValue>, Fault> {
        let live = self.authorizer.live(&self.keeper).await.map_err(into_fault)?;
        let now = self.authorizer.clock.unix_ms();
        if !live.is_due(now) || !self.authorizer.can_renew(&live) {
            return Ok(live.header.clone());
        }
        if !live.is_over(now) {
            self.authorizer.renew_ahead(&self.keeper);
            return Ok(live.header.clone());
        }
        match self.authorizer.renew(&self.keeper).await {
            Ok(()) => Ok(self.keeper.now().and_then(|live| live.header.clone())),
            // The server will say itself how it wants to be asked.
            Err(error) if error.reason() == OauthReason::NeedsAuth => Ok(None),
            Err(error) => Err(into_fault(error)),
        }
    }

    /// The server refused a token, or that there is none. Says what to try instead, once.
    pub(crate) async fn instead(
        &self,
        used: Option<&HeaderValue>,
        challenge: Option<&str>,
    ) -> Option<HeaderValue> {
        if let Some(challenge) = challenge {
            *lock(&self.authorizer.challenge) = Some(challenge.to_owned());
        }
        let live = self.authorizer.live(&self.keeper).await.ok()?;
        if live.header.is_some() && live.header.as_ref() != used {
            return live.header.clone();
        }
        // One that is refused as soon as it is given is no better the next time.
        if !self.authorizer.can_renew(&live) || self.keeper.doubted.load(Ordering::Relaxed) {
            return None;
        }
        self.authorizer.renew(&self.keeper).await.ok()?;
        self.keeper.doubted.store(true, Ordering::Relaxed);
        let live = self.keeper.now()?;
        live.header.clone().filter(|header| Some(header) != used)
    }

    /// The server took a token.
    pub(crate) fn taken(&self) {
        if self.keeper.doubted.load(Ordering::Relaxed) {
            self.keeper.doubted.store(false, Ordering::Relaxed);
        }
    }

    /// The server says that the token does not allow enough. A machine gets another that allows more, once; people are
    /// asked first.
    pub(crate) async fn more(&self, used: Option<&HeaderValue>, challenge: &str) -> Option<HeaderValue> {
        let read = Challenge::read(challenge);
        if self.authorizer.needs_person() || !read.is_insufficient_scope() {
            return None;
        }
        let (this, used, missing) = (self.clone(), used.cloned(), read.scope?);
        // Whoever gives up their call leaves nothing half done.
        let stepping = self
            .authorizer
            .tasks
            .spawn(async move { this.authorizer.step_up(&this.keeper, used.as_ref(), &missing).await });
        stepping.await.ok().flatten()
    }

    /// The server says that the token does not allow enough: what is missing is remembered for the next sign-in.
    pub(crate) async fn missing(&self, challenge: &str) -> Option<Fault> {
        let read = Challenge::read(challenge);
        if !read.is_insufficient_scope() {
            return None;
        }
        let scope = read.scope.clone().unwrap_or_default();
        if self.authorizer.needs_person()
            && let Ok(live) = self.authorizer.live(&self.keeper).await
            && live.record.wanted.as_deref() != Some(&*scope)
        {
            let (this, scope) = (self.clone(), scope.clone());
            // Whoever gives up their call leaves nothing half done.
            let wanting = self
                .authorizer
                .tasks
                .spawn(async move { this.authorizer.note_wanted(&this.keeper, Some(scope)).await });
            // One that was stopped was told to the log.
            drop(wanting.await);
        }
        Some(Fault::Scope(short(&scope)))
    }

    /// What the server said was missing, and still is.
    pub(crate) fn wanted(&self) -> Option<String> {
        let live = self.keeper.now()?;
        if self.authorizer.needs_person() { live.record.wanted.clone() } else { lacking(&live.record) }
    }

    /// Finds out what keeps people from signing in.
    pub(crate) async fn assess(&self) {
        if self.authorizer.needs_person() {
            self.authorizer.assess().await;
        }
    }
}

fn into_fault(error: OauthError) -> Fault {
    match error.reason() {
        // Only a person can help.
        OauthReason::NeedsAuth
        | OauthReason::NeedsClientRegistration
        | OauthReason::Untrusted
        | OauthReason::WrongClient => Fault::Unauthorized(None),
        OauthReason::Denied | OauthReason::Unavailable | OauthReason::WrongAnswer => {
            Fault::NoToken(error.to_string())
        }
    }
}
