//! How soon a server's word that its lists changed is followed: at once, and ever more seldom if it never ends.

use std::time::Duration;

use tokio::time::Instant;

use super::Shared;

/// So many words in a row are followed at once: one that changes has often more than one list to tell of.
const AT_ONCE: u32 = 4;

/// How long to wait after the last of them, and at most.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// A server that is made to wait for so long says it again and again.
const NOTED: Duration = Duration::from_secs(4);

/// How soon a server's word that its lists changed is followed.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// How many words there were since it was quiet.
    words: u32,
    wait: Duration,
    until: Option<Instant>,
}

impl Pace {
    /// Until when the next word has to wait, if it has to.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.until.filter(|until| *until > Instant::now())
    }

    /// A look that a word brought about has ended. Says whether there were so many that it is worth a note.
    pub(crate) fn looked(&mut self, begun: Instant) -> bool {
        // A server is quiet that says nothing for as long again as it had to wait.
        let is_quiet = self.until.is_none_or(|until| begun > until + self.wait.max(SHORTEST));
        self.words = if is_quiet { 1 } else { self.words.saturating_add(1) };
        self.wait = match self.words {
            ..AT_ONCE => Duration::ZERO,
            AT_ONCE => SHORTEST,
            _ => (self.wait * 2).min(LONGEST),
        };
        self.until = Some(Instant::now() + self.wait);
        self.wait >= NOTED
    }
}

/// When the next server that said too often that its lists changed may be looked at again.
pub(super) fn held_back(shared: &Shared) -> Option<Instant> {
    shared.pool.all().iter().filter_map(|line| line.pace().until()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks as soon as it may, and says how long it has to wait then, in seconds.
    async fn look(pace: &mut Pace) -> (u64, bool) {
        if let Some(until) = pace.until() {
            tokio::time::sleep_until(until).await;
        }
        let noted = pace.looked(Instant::now());
        (pace.until().map_or(0, |until| (until - Instant::now()).as_secs()), noted)
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_words_count_at_once_and_each_that_follows_later() {
        let mut pace = Pace::default();
        assert_eq!(pace.until(), None);
        for wait in [0, 0, 0, 1, 2, 4, 8, 16, 32, 60] {
            assert_eq!(look(&mut pace).await, (wait, wait >= 4));
        }
        assert_eq!(look(&mut pace).await, (60, true));
        tokio::time::advance(Duration::from_secs(121)).await;
        assert_eq!((pace.until(), look(&mut pace).await), (None, (0, false)), "it was quiet");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_takes_long_to_say_what_it_has_waits_all_the_same() {
        let mut pace = Pace::default();
        for wait in [0, 0, 0, 1, 2, 4] {
            let begun = pace.until().unwrap_or_else(Instant::now);
            tokio::time::advance(Duration::from_secs(10)).await;
            pace.looked(begun);
            let until = Instant::now() + Duration::from_secs(wait);
            assert_eq!(pace.until(), Some(until).filter(|_| wait > 0));
        }
    }
}
