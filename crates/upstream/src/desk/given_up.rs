//! Calls that were given up, and that their server may still be at.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::Caller;

/// Of how many callers they are remembered, and how many of each.
const MOST: usize = 64;

/// Calls that were given up, and until when their server may still be at them.
#[derive(Default)]
pub(super) struct GivenUp {
    /// Those of one caller each, oldest first.
    left: VecDeque<Left>,
    /// Until when it may be at one of those that made room: whose they were is not known any more.
    somebodys: Option<Instant>,
}

/// The calls that one caller gave up.
struct Left {
    caller: Caller,
    ids: VecDeque<u64>,
    /// Whether there are more than their ids are known of.
    uncounted: bool,
    /// Until when the server may be at the last of them.
    until: Instant,
}

impl GivenUp {
    /// The oldest makes room, but is not forgotten: that somebody else may be asked something matters for as long as it
    /// would have been remembered.
    pub(super) fn add(&mut self, id: u64, caller: Caller, until: Instant) {
        if let Some(left) = self.left.iter_mut().find(|left| left.caller.is(&caller)) {
            return left.add(id, until);
        }
        if self.left.len() == MOST {
            let now = Instant::now();
            self.left.retain(|left| left.until > now);
        }
        if self.left.len() == MOST {
            let evicted = self.left.pop_front().map(|left| left.until);
            self.somebodys = self.somebodys.max(evicted);
        }
        self.left.push_back(Left { caller, ids: VecDeque::from([id]), uncounted: false, until });
    }

    /// The server has answered it.
    pub(super) fn remove(&mut self, id: u64) {
        self.left.retain_mut(|left| {
            left.ids.retain(|other| *other != id);
            left.uncounted || !left.ids.is_empty()
        });
    }

    /// Whether the server may still be at one.
    pub(super) fn is_any_left(&self) -> bool {
        self.is_any_left_but_of(&Caller::default())
    }

    /// Whether the server may still be at one that is not of this caller.
    pub(super) fn is_any_left_but_of(&self, caller: &Caller) -> bool {
        if self.left.is_empty() && self.somebodys.is_none() {
            return false;
        }
        let now = Instant::now();
        let is_somebodys = self.somebodys.is_some_and(|until| until > now);
        is_somebodys || self.left.iter().any(|left| left.until > now && !left.caller.is(caller))
    }
}

impl Left {
    fn add(&mut self, id: u64, until: Instant) {
        if self.until <= Instant::now() {
            self.ids.clear();
            self.uncounted = false;
        }
        if self.ids.len() == MOST {
            self.ids.pop_front();
            self.uncounted = true;
        }
        self.ids.push_back(id);
        self.until = self.until.max(until);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use toolgate_core::Principal;

    use super::*;

    fn caller(name: &str) -> Caller {
        Caller(Some((Principal::named(name), None)))
    }

    fn after(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    #[test]
    fn however_many_calls_one_gives_up_those_of_another_stay_known() {
        let mut given_up = GivenUp::default();
        given_up.add(0, caller("ann"), after(60));
        (1..=2 * MOST as u64).for_each(|id| given_up.add(id, caller("bob"), after(60)));
        assert!(given_up.is_any_left_but_of(&caller("bob")));
        given_up.remove(0);
        assert!(!given_up.is_any_left_but_of(&caller("bob")));
        // Not all of his are known one by one any more.
        (1..=2 * MOST as u64).for_each(|id| given_up.remove(id));
        assert!(given_up.is_any_left_but_of(&caller("ann")));
        assert_eq!(given_up.left.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn who_made_room_for_others_is_somebody_until_their_time_is_over() {
        let mut given_up = GivenUp::default();
        given_up.add(0, caller("ann"), after(90));
        (1..=MOST as u64).for_each(|id| given_up.add(id, caller(&id.to_string()), after(60)));
        (1..=MOST as u64).for_each(|id| given_up.remove(id));
        assert!(given_up.left.is_empty() && given_up.is_any_left_but_of(&caller("bob")));
        tokio::time::advance(Duration::from_secs(91)).await;
        assert!(!given_up.is_any_left());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_over_makes_room_first() {
        let mut given_up = GivenUp::default();
        given_up.add(0, caller("ann"), after(90));
        (1..MOST as u64).for_each(|id| given_up.add(id, caller(&id.to_string()), after(60)));
        tokio::time::advance(Duration::from_secs(61)).await;
        given_up.add(64, caller("bob"), after(60));
        assert!(given_up.somebodys.is_none() && given_up.left.len() == 2);
        // What is over of one is not counted with what comes later.
        tokio::time::advance(Duration::from_secs(61)).await;
        given_up.add(65, caller("ann"), after(60));
        assert_eq!(given_up.left[0].ids, [65]);
    }
}
