//! What people said yes to, while a call that asked its client something waits for the next round.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// That a person said yes to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Consent {
    /// Who.
    pub(crate) by: String,
    /// The rules that were in force, and the definition that the tool had.
    pub(crate) policy: String,
    /// Until when it counts, however many rounds the call takes.
    pub(crate) until_ms: u64,
}

/// One that waits, and until when it does.
struct Waiting {
    consent: Consent,
    expires_ms: u64,
}

/// All that wait for the next round of their call, by number. They are in memory alone, as the key is that seals their
/// numbers: in another process there is no such yes.
#[derive(Default)]
pub(crate) struct Consents {
    waiting: Mutex<(u64, HashMap<u64, Waiting>)>,
}

impl Consents {
    /// Keeps a yes for the next round, which comes before `expires_ms` or not at all. Where there is no room for it, who
    /// said it is asked again.
    pub(crate) fn keep(
        &self,
        consent: Consent,
        expires_ms: u64,
        (now_ms, most): (u64, usize),
    ) -> Option<u64> {
        let mut waiting = self.lock();
        forget(&mut waiting.1, now_ms);
        if waiting.1.len() >= most {
            return None;
        }
        waiting.0 += 1;
        let number = waiting.0;
        let expires_ms = consent.until_ms.min(expires_ms);
        waiting.1.insert(number, Waiting { consent, expires_ms });
        Some(number)
    }

    /// Takes a yes out, for the round that has come. It can be taken once.
    pub(crate) fn take(&self, number: u64, now_ms: u64) -> Option<Consent> {
        let waiting = self.lock().1.remove(&number)?;
        (waiting.expires_ms >= now_ms).then_some(waiting.consent)
    }

    /// Forgets those whose time is over.
    pub(crate) fn sweep(&self, now_ms: u64) {
        forget(&mut self.lock().1, now_ms);
    }

    fn lock(&self) -> MutexGuard<'_, (u64, HashMap<u64, Waiting>)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget(waiting: &mut HashMap<u64, Waiting>, now_ms: u64) {
    waiting.retain(|_, waiting| waiting.expires_ms >= now_ms);
}
