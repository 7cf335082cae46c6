//! JWTs of a configured issuer: signature, issuer, audience, time and scopes, each checked before anyone is known.

mod cache;
mod claims;
mod fetch;
mod keys;
mod terms;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Authenticated, Pass, Refused};
use toolgate_host::{Clock, Outbound, Tasks};

use crate::text::Digest;
use cache::Cache;
use claims::{Claims, Verified};
use keys::Keys;
pub(crate) use terms::Terms;

/// How long a JWT may be.
const LONGEST: usize = 16 * 1024;

/// How often keys are fetched at most because a JWT names an unknown one.
const FETCH_AT_MOST_EVERY: Duration = Duration::from_secs(30);

/// How often keys are fetched in any case.
const FETCH_AT_LEAST_EVERY: Duration = Duration::from_secs(3600);

/// How long a request waits for keys.
const WAIT: Duration = Duration::from_secs(15);

/// One issuer, and what is known of its keys.
pub(crate) struct Issuer {
    terms: Terms,
    clock: Clock,
    tasks: Tasks,
    outbound: Outbound,
    keys: ArcSwap<Keys>,
    cache: Cache,
    fetching: Mutex<Fetching>,
    /// Counts the times that keys were fetched, or could not be.
    fetched: watch::Sender<u64>,
    /// Cancelled when the issuer is not asked any more.
    stop: CancellationToken,
    /// Told when passes have ended.
    ended: watch::Sender<u64>,
}

#[derive(Default)]
struct Fetching {
    under_way: bool,
    begun: Option<Instant>,
    failed: bool,
}

impl Issuer {
    /// Begins to fetch keys, and goes on until it is stopped.
    pub(crate) fn start(terms: Terms, clock: Clock, tasks: &Tasks, ended: watch::Sender<u64>) -> Arc<Self> {
        let this = Arc::new(Self {
            terms,
            clock,
            tasks: tasks.clone(),
            outbound: Outbound::default(),
            keys: ArcSwap::default(),
            cache: Cache::default(),
            fetching: Mutex::default(),
            fetched: watch::Sender::default(),
            stop: tasks.stopping(),
            ended,
        });
        drop(this.fetch());
        let weak = Arc::downgrade(&this);
        tasks.spawn(this.stop.clone().run_until_cancelled_owned(keep_fetching(weak)));
        this
    }

    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// From now on nobody is known by it.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
        self.keys.load().ended.cancel();
    }

    /// Who brings this JWT.
    pub(crate) fn authenticate(
        self: &Arc<Self>,
        jwt: &str,
        hash: Digest,
        profile: Option<&str>,
    ) -> Authenticated {
        let now_ms = self.clock.unix_ms();
        if let Some(verified) = self.cache.get(&hash) {
            return Authenticated::Now(verified.admit(&self.terms, now_ms, profile));
        }
        match self.verify(jwt, hash) {
            Ok(verified) => Authenticated::Now(verified.admit(&self.terms, now_ms, profile)),
            Err(Trouble::Refused(refused)) => Authenticated::Now(Err(refused)),
            Err(Trouble::UnknownKey) => match self.fetch() {
                Some(fetched) => self.later(fetched, jwt.to_owned(), hash, profile.map(str::to_owned)),
                // Keys may have come since they were looked at.
                None => Authenticated::Now(self.settle(jwt, hash, profile)),
            },
        }
    }

    /// Answers once keys have come, or could not be fetched.
    fn later(
        self: &Arc<Self>,
        mut fetched: watch::Receiver<u64>,
        jwt: String,
        hash: Digest,
        profile: Option<String>,
    ) -> Authenticated {
        let this = self.clone();
        Authenticated::Later(Box::pin(async move {
            let comes = tokio::time::timeout(WAIT, fetched.changed());
            // Whatever comes of it, what is known by then counts.
            this.stop.run_until_cancelled(comes).await.map(Result::ok);
            this.settle(&jwt, hash, profile.as_deref())
        }))
    }

    /// Answers by the keys that are known by now.
    fn settle(&self, jwt: &str, hash: Digest, profile: Option<&str>) -> Result<Pass, Refused> {
        match self.verify(jwt, hash) {
            Ok(verified) => verified.admit(&self.terms, self.clock.unix_ms(), profile),
            Err(Trouble::Refused(refused)) => Err(refused),
            Err(Trouble::UnknownKey) => Err(self.no_key()),
        }
    }

    fn verify(&self, jwt: &str, hash: Digest) -> Result<Arc<Verified>, Trouble> {
        if jwt.len() > LONGEST {
            return Err(Refused::Malformed.into());
        }
        let header = decode_header(jwt).map_err(|_| Refused::Malformed)?;
        let algorithm = self.allowed(&header)?;
        let keys = self.keys.load();
        let key = keys.find(header.kid.as_deref(), algorithm).ok_or(Trouble::UnknownKey)?;
        let mut only_signature = Validation::new(algorithm);
        // Times go by our clock, and the rest has to be there: both are checked below.
        only_signature.required_spec_claims.clear();
        only_signature.validate_exp = false;
        only_signature.validate_aud = false;
        let decoded = decode::<Claims>(jwt, &key.key, &only_signature).map_err(|error| {
            tracing::debug!(%error, "a JWT was refused");
            Refused::Unknown
        })?;
        let verified = Arc::new(Verified::new(&decoded.claims, &self.terms, |principal, until_ms| {
            Pass::renewable(principal, keys.ended.clone()).until(self.clock.clone(), until_ms)
        })?);
        self.cache.put(hash, verified.clone(), self.clock.unix_ms());
        // Keys that went while this one was used took their JWTs with them.
        if keys.ended.is_cancelled() {
            self.cache.clear();
            return Err(Refused::Unknown.into());
        }
        Ok(verified)
    }

    /// The algorithm of a JWT of a kind that is taken.
    fn allowed(&self, header: &Header) -> Result<Algorithm, Refused> {
        let kind = header.typ.as_deref().unwrap_or("JWT").to_ascii_lowercase();
        let is_access = matches!(kind.strip_prefix("application/").unwrap_or(&kind), "jwt" | "at+jwt");
        // What is critical has to be understood, and none of it is.
        let is_plain = header.crit.is_none() && header.enc.is_none() && header.zip.is_none();
        let is_allowed = self.terms.algorithms.contains(&header.alg);
        (is_access && is_plain && is_allowed).then_some(header.alg).ok_or(Refused::Malformed)
    }

    fn no_key(&self) -> Refused {
        let fetching = self.fetching();
        if fetching.failed || fetching.under_way { Refused::Unavailable } else { Refused::Unknown }
    }

    /// Fetches keys, unless that was done a moment ago; tells when it is done.
    fn fetch(self: &Arc<Self>) -> Option<watch::Receiver<u64>> {
        let fetched = self.fetched.subscribe();
        let mut fetching = self.fetching();
        if fetching.under_way {
            return Some(fetched);
        }
        let now = self.clock.now();
        if fetching.begun.is_some_and(|begun| now.saturating_duration_since(begun) < FETCH_AT_MOST_EVERY) {
            return None;
        }
        fetching.under_way = true;
        fetching.begun = Some(now);
        drop(fetching);
        let this = self.clone();
        self.tasks.spawn(self.stop.clone().run_until_cancelled_owned(async move {
            let keys = fetch::keys(&this.outbound, &this.terms).await;
            this.take(keys);
        }));
        Some(fetched)
    }

    fn take(&self, keys: Result<Keys, fetch::FetchError>) {
        let failed = keys.is_err();
        match keys {
            Ok(keys) => self.replace(keys),
            Err(error) => {
                let issuer = &self.terms.issuer;
                tracing::warn!(
                    issuer,
                    error = fetch::in_full(&error),
                    "the issuer's keys could not be fetched"
                );
            }
        }
        let mut fetching = self.fetching();
        fetching.under_way = false;
        fetching.failed = failed;
        drop(fetching);
        self.fetched.send_modify(|count| *count += 1);
    }

    /// Takes new keys. What was signed by one that is gone does not hold any more.
    fn replace(&self, new: Keys) {
        let old = self.keys.load_full();
        if new.hold_all_of(&old) {
            self.keys.store(Arc::new(new.in_place_of(&old)));
            return;
        }
        self.keys.store(Arc::new(new));
        old.ended.cancel();
        self.cache.clear();
        self.ended.send_modify(|count| *count += 1);
    }

    fn fetching(&self) -> MutexGuard<'_, Fetching> {
        self.fetching.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a JWT is not taken, yet.
enum Trouble {
    Refused(Refused),
    UnknownKey,
}

impl From<Refused> for Trouble {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

async fn keep_fetching(issuer: Weak<Issuer>) {
    loop {
        tokio::time::sleep(FETCH_AT_LEAST_EVERY).await;
        let Some(issuer) = issuer.upgrade() else { return };
        drop(issuer.fetch());
    }
}
