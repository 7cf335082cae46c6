//! JWTs that were verified, so that each is verified once.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::claims::Verified;
use crate::text::Digest;

/// How many are kept.
const MOST: usize = 4096;

/// JWTs that were verified, by their hash.
#[derive(Default)]
pub(super) struct Cache(RwLock<HashMap<Digest, Arc<Verified>>>);

impl Cache {
    pub(super) fn get(&self, hash: &Digest) -> Option<Arc<Verified>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    /// Keeps one; where there are too many, those go whose time is over, or the one whose time is over next.
    pub(super) fn put(&self, hash: Digest, verified: Arc<Verified>, now_ms: u64) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.retain(|_, verified| verified.until_ms > now_ms);
        }
        let next =
            (all.len() >= MOST).then(|| all.iter().min_by_key(|(_, verified)| verified.until_ms)).flatten();
        if let Some(next) = next.map(|(hash, _)| *hash) {
            all.remove(&next);
        }
        all.insert(hash, verified);
    }

    pub(super) fn clear(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
