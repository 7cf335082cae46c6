//! Lists that a server has but does not tell: they are asked for again, ever more seldom.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use toolgate_core::{Kinds, ListKind};

use super::{AGAIN, Shared};
use crate::definitions::Definitions;

/// How long to wait at most before a list is asked for again.
const LONGEST: Duration = Duration::from_secs(600);

/// After so many times in a row nothing is kept running only to be asked again.
const TIMES: u32 = 5;

/// Lists that a server has but does not tell.
#[derive(Debug, Default)]
pub(crate) struct Lacking {
    kinds: Kinds,
    /// How many times in a row it did not tell one of them.
    times: u32,
    again: Option<Instant>,
}

impl Lacking {
    /// A server was asked for some lists, and did not tell these of them.
    fn looked(&mut self, asked: Kinds, untold: Kinds) {
        self.kinds = without(self.kinds, asked).union(untold);
        if self.kinds == Kinds::NONE {
            *self = Self::default();
        } else if untold != Kinds::NONE {
            let wait = AGAIN.saturating_mul(1 << self.times.min(8)).min(LONGEST);
            self.times = self.times.saturating_add(1);
            self.again = Some(Instant::now() + wait);
        }
    }
}

impl Shared {
    /// Notes which of the lists that were asked for were not told.
    pub(super) fn looked_at(&self, asked: Kinds, untold: Kinds) {
        self.lacking().looked(asked, untold);
    }

    /// Whether a server has told what it has, or was asked for all of it at least once. What is remembered of one that
    /// had not told all by then is not all there is.
    pub(crate) fn has_looked(&self) -> bool {
        let learned = self.learned.borrow();
        let is_whole = |learned: &Arc<Definitions>| learned.untold == Kinds::NONE;
        learned.as_ref().is_some_and(|learned| is_whole(learned) || self.lacking().kinds != Kinds::NONE)
    }

    /// Whether it is worth while to wait for a list that was not told.
    pub(crate) fn waits_for_list(&self) -> bool {
        let lacking = self.lacking();
        lacking.kinds != Kinds::NONE && lacking.times <= TIMES
    }

    /// How many times in a row a list was not told.
    pub(super) fn times_lacking(&self) -> u32 {
        self.lacking().times
    }

    /// When to ask again for what was not told, if anything was not.
    pub(super) fn ask_lacking_at(&self) -> Option<Instant> {
        self.lacking().again
    }

    /// Asks again for what was not told. Where nothing is connected, the next connection asks for everything.
    pub(super) fn ask_lacking(&self) {
        let mut lacking = self.lacking();
        lacking.again = None;
        let kinds = lacking.kinds;
        drop(lacking);
        let lines = self.pool.all();
        let Some(link) = lines.iter().filter(|line| line.is_shared(self)).find_map(|line| line.link()) else {
            return;
        };
        if kinds.has(ListKind::Tools) {
            // How the server stands depends on whether it tells anything.
            link.wire.desk.all_changed();
        } else {
            link.wire.desk.look_at(kinds);
        }
    }

    fn lacking(&self) -> MutexGuard<'_, Lacking> {
        self.lacking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// These lists without those.
pub(crate) fn without(these: Kinds, those: Kinds) -> Kinds {
    let left = ListKind::ALL.into_iter().filter(|kind| these.has(*kind) && !those.has(*kind));
    left.fold(Kinds::NONE, Kinds::with)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPTS: Kinds = Kinds::only(ListKind::Prompts);
    const TOOLS: Kinds = Kinds::only(ListKind::Tools);

    #[tokio::test(start_paused = true)]
    async fn a_list_is_asked_for_ever_more_seldom_until_it_is_told() {
        let mut lacking = Lacking::default();
        let wait = |lacking: &Lacking| lacking.again.map(|again| (again - Instant::now()).as_secs());
        lacking.looked(super::super::all_kinds(), Kinds::NONE);
        assert_eq!(wait(&lacking), None);
        for seconds in [10, 20, 40, 80, 160, 320, 600, 600] {
            lacking.looked(PROMPTS, PROMPTS);
            assert_eq!(wait(&lacking), Some(seconds));
        }
        lacking.looked(TOOLS, Kinds::NONE);
        assert_eq!((lacking.kinds, wait(&lacking)), (PROMPTS, Some(600)), "another list says nothing of it");
        lacking.looked(PROMPTS, Kinds::NONE);
        assert_eq!((lacking.kinds, lacking.times, wait(&lacking)), (Kinds::NONE, 0, None));
    }
}
