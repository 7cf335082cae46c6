//! A token as it is checked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolgate_core::{Pass, Principal};
use toolgate_host::Clock;

use super::record::Record;
use crate::text::Digest;

/// How exactly it is known when a token was used last.
const USED_WITHIN_MS: u64 = 60_000;

/// A token as it is checked.
pub(super) struct Entry {
    pub(super) revision: i64,
    pub(super) hash: Digest,
    pub(super) pass: Pass,
    pub(super) revoked: bool,
    used_ms: AtomicU64,
    told_ms: AtomicU64,
}

impl Entry {
    pub(super) fn new(record: &Record, revision: i64, clock: &Clock) -> Self {
        let roles = record.roles.iter().map(|role| Arc::from(role.as_str()));
        let pass = Pass::new(Principal::with_roles(record.principal.as_str(), roles));
        let pass = match record.expires_ms {
            Some(expires_ms) => pass.until(clock.clone(), expires_ms),
            None => pass,
        };
        let (used_ms, told_ms) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { revision, hash: record.hash, pass, revoked: record.revoked_ms.is_some(), used_ms, told_ms }
    }

    /// Knows what another, which it takes the place of, knew of its use.
    pub(super) fn after(self, old: Option<&Arc<Self>>) -> Self {
        if let Some(old) = old {
            self.used_ms.store(old.used_ms.load(Ordering::Relaxed), Ordering::Relaxed);
            self.told_ms.store(old.told_ms.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self
    }

    /// Notes that it was used, now and then.
    pub(super) fn use_at(&self, now_ms: u64) {
        if now_ms.saturating_sub(self.used_ms.load(Ordering::Relaxed)) >= USED_WITHIN_MS {
            self.used_ms.store(now_ms, Ordering::Relaxed);
        }
    }

    /// When it was used last, unless that was told before.
    pub(super) fn news(&self) -> Option<u64> {
        let used_ms = self.used_ms.load(Ordering::Relaxed);
        (used_ms > self.told_ms.load(Ordering::Relaxed)).then_some(used_ms)
    }

    pub(super) fn told(&self, used_ms: u64) {
        self.told_ms.store(used_ms, Ordering::Relaxed);
    }

    /// When it was used last, as far as this process knows.
    pub(super) fn used_ms(&self) -> Option<u64> {
        Some(self.used_ms.load(Ordering::Relaxed)).filter(|used_ms| *used_ms > 0)
    }
}
