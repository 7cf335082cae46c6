//! One holder's grant as it is used: loaded once, swapped when it is renewed.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwapOption;
use reqwest::header::HeaderValue;
use tokio::sync::watch;
use toolgate_host::Secret;

use super::discovery::is_same_issuer;
use super::error::OauthError;
use super::store::{Holder, Record, lock};
use super::{Authorizer, Signed, store_failed, token};

/// A token is renewed when a fifth of its time is left, but not sooner than this before its end.
const AHEAD_MS: u64 = 5 * 60 * 1000;

/// What became of a renewal, once it is over.
pub(super) type Renewal = watch::Receiver<Option<Result<(), OauthError>>>;

/// One holder's grant.
pub(super) struct Keeper {
    pub(super) holder: Holder,
    pub(super) key: String,
    live: ArcSwapOption<Live>,
    /// The renewal under way: there is never more than one.
    pub(super) renewing: Mutex<Option<Renewal>>,
    /// When the next attempt may be made after one that failed.
    pub(super) not_before_ms: AtomicU64,
    /// Whether a token was renewed because it was refused, and none was taken since.
    pub(super) doubted: AtomicBool,
    /// Whoever gets more to be allowed for a machine is the only one.
    pub(super) stepping: tokio::sync::Mutex<()>,
}

/// A grant, ready for use.
pub(super) struct Live {
    pub(super) record: Record,
    pub(super) header: Option<HeaderValue>,
    /// When to renew it, if it ends.
    pub(super) renew_ms: Option<u64>,
    pub(super) expires_ms: Option<u64>,
}

impl Live {
    fn of(record: Record) -> Self {
        let tokens = record.tokens.as_ref();
        let expires_ms = tokens.and_then(|tokens| tokens.expires_ms);
        let renew_ms = tokens.zip(expires_ms).map(|(tokens, end)| {
            end.saturating_sub((end.saturating_sub(tokens.received_ms) / 5).min(AHEAD_MS))
        });
        let header = tokens.and_then(|tokens| token::header(&tokens.access));
        Self { header, renew_ms, expires_ms, record }
    }

    pub(super) fn is_due(&self, now_ms: u64) -> bool {
        self.renew_ms.is_some_and(|at| at <= now_ms)
    }

    pub(super) fn is_over(&self, now_ms: u64) -> bool {
        self.expires_ms.is_some_and(|at| at <= now_ms)
    }
}

impl Keeper {
    pub(super) fn new(holder: Holder, key: String) -> Self {
        Self {
            holder,
            key,
            live: ArcSwapOption::empty(),
            renewing: Mutex::default(),
            not_before_ms: AtomicU64::new(0),
            doubted: AtomicBool::new(false),
            stepping: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.live.load().is_some()
    }

    /// The grant as it is now, if it was loaded.
    pub(super) fn now(&self) -> Option<Arc<Live>> {
        self.live.load_full()
    }
}

impl Authorizer {
    /// The grant of a holder, loaded when it is first needed.
    pub(super) async fn live(&self, keeper: &Keeper) -> Result<Arc<Live>, OauthError> {
        if let Some(live) = keeper.now() {
            return Ok(live);
        }
        self.reload(keeper).await
    }

    /// The grant of a holder as it is kept.
    pub(super) async fn reload(&self, keeper: &Keeper) -> Result<Arc<Live>, OauthError> {
        let kept = self.store.load(&keeper.key).await.map_err(store_failed)?;
        let record = kept.and_then(|text| serde_json::from_str::<Record>(text.expose()).ok());
        Ok(self.adopt(keeper, record.filter(|record| self.is_ours(record)).unwrap_or_default()))
    }

    /// Whether a record is for this server, and for the client and the authorization server that are configured.
    fn is_ours(&self, record: &Record) -> bool {
        let Some(tokens) = &record.tokens else { return record.url == self.url.as_str() };
        let client = self.plan.client_id.as_ref().filter(|_| self.plan.document().is_none());
        let (issuer, authority) = (self.plan.issuer.as_ref(), self.plan.token_url.as_ref());
        let by = |own: &String| tokens.client.issuer.as_ref().is_some_and(|by| is_same_issuer(own, by));
        record.url == self.url.as_str()
            && client.is_none_or(|id| *id == tokens.client.id)
            && issuer.is_none_or(by)
            && authority.is_none_or(|url| url.as_str() == tokens.token_url)
    }

    /// Uses a record from now on, and tells who waits for it.
    pub(super) fn adopt(&self, keeper: &Keeper, record: Record) -> Arc<Live> {
        let before = keeper.now();
        if let Some(before) = before.as_ref().filter(|before| before.record == record) {
            return before.clone();
        }
        let live = Arc::new(Live::of(record));
        keeper.live.store(Some(live.clone()));
        let before = before.as_ref().and_then(|before| before.record.tokens.as_ref());
        let event = match (before, &live.record.tokens) {
            (before, after) if before == after.as_ref() => return live,
            (_, Some(_)) => Signed::In(keeper.holder.clone()),
            (_, None) => Signed::Out(keeper.holder.clone()),
        };
        if matches!(event, Signed::In(_)) {
            *lock(&self.trouble) = None;
        }
        // Nobody need listen.
        drop(self.events.send(event));
        live
    }

    /// Keeps a record, and uses it; in this order, for who keeps it also hides it.
    pub(super) async fn keep(&self, keeper: &Keeper, mut record: Record) -> Result<(), OauthError> {
        self.url.as_str().clone_into(&mut record.url);
        let text = serde_json::to_string(&record).map_err(|error| store_failed(error.to_string()))?;
        let saved = self.store.save(&keeper.key, Secret::new(text)).await.map_err(store_failed);
        // What was given to us counts even where it cannot be kept.
        self.adopt(keeper, record);
        saved
    }
}
