//! Addresses that people are sent to: who is there, and who has been there already.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;
use toolgate_core::{Afterwards, RunHandle};
use toolgate_wire::{Era, Raw, method};

use super::incoming::elicitation;
use super::{Desk, LONGEST_ID, MOST_NAMED, Named, Said};

/// How many visits are remembered that were over before anybody waited for them, and how long the word of each may be.
const MOST_EARLY: usize = 64;
const LONGEST_EARLY: usize = 4096;

/// For how long they are remembered. It only bridges the moment between a server's word and the answer that names the
/// address: what is older was for somebody who is gone, and a server may use its name again.
const EARLY: Duration = Duration::from_secs(30);

/// Addresses that people are sent to, by the names that the server gives them.
#[derive(Default)]
pub(super) struct Visits {
    /// Who was sent there, oldest first: they may be there for longer than their call takes.
    visitors: VecDeque<(String, Afterwards)>,
    /// What the server said was over before anybody waited for it, oldest first.
    early: VecDeque<(String, Raw, Instant)>,
}

impl Visits {
    fn send(&mut self, page: String, later: Afterwards) {
        if page.len() > LONGEST_ID {
            return;
        }
        self.visitors.retain(|(other, _)| *other != page);
        if self.visitors.len() >= MOST_NAMED {
            self.visitors.pop_front();
        }
        self.visitors.push_back((page, later));
    }

    /// Who was sent there, and has not come back yet.
    fn visitor(&mut self, page: &str) -> Option<Afterwards> {
        let place = self.visitors.iter().position(|(other, _)| other == page)?;
        self.visitors.remove(place).map(|(_, later)| later)
    }

    /// Remembers a visit that is over and that nobody waits for; the oldest makes room.
    fn is_early(&mut self, page: String, params: &Raw) {
        if params.as_bytes().len() > LONGEST_EARLY {
            return;
        }
        self.early.retain(|(other, ..)| *other != page);
        if self.early.len() >= MOST_EARLY {
            self.early.pop_front();
        }
        self.early.push_back((page, params.detach(), Instant::now()));
    }

    /// What the server said of a visit that was over before anybody waited for it. Only the first to wait gets it.
    fn take_early(&mut self, page: &str) -> Option<Raw> {
        let place = self.early.iter().position(|(other, ..)| other == page)?;
        let (_, params, since) = self.early.remove(place)?;
        (since.elapsed() < EARLY).then_some(params)
    }
}

impl Desk {
    /// Remembers whom a server sent to an address, where their revision has a word for that they have been there.
    pub(crate) fn sends(&self, params: &Raw, run: &RunHandle) {
        if let (Some(Named::Elicitation(page)), Some(later)) = (elicitation(params), visitor(run)) {
            self.lock().visits.send(page, later);
        }
    }

    /// The same for an address that an answer names, whose call has ended by it. The word that the visit is over may
    /// have come first: it takes another way than the answer, or was read before anybody looked at that.
    pub(crate) fn sends_after(&self, params: &Raw, run: &RunHandle) {
        let (Some(Named::Elicitation(page)), Some(later)) = (elicitation(params), visitor(run)) else {
            return;
        };
        let mut state = self.lock();
        let Some(early) = state.visits.take_early(&page) else { return state.visits.send(page, later) };
        drop(state);
        later.tell(method::ELICITATION_COMPLETE, early);
    }

    /// The same, and the call that waits is told when the visit is over, or that it is already. Says whether that can
    /// be known at all.
    pub(crate) fn awaits(&self, params: &Raw, id: u64, run: &RunHandle) -> bool {
        let Some(named) = elicitation(params) else { return false };
        self.await_named(named, id, visitor(run));
        true
    }

    /// All of it at once, or the word that it is over could pass by between two steps.
    pub(super) fn await_named(&self, named: Named, id: u64, visitor: Option<Afterwards>) {
        let mut state = self.lock();
        let early = state.visits.take_early(named.id());
        let page = named.id().to_owned();
        state.name(named, id);
        match (early, visitor) {
            (Some(early), visitor) => {
                drop(state);
                self.tell(Some(id), Said::Visited(early, visitor));
            }
            (None, Some(later)) => state.visits.send(page, later),
            (None, None) => {}
        }
    }

    /// A person has done what they were sent to an address for.
    pub(super) fn visited(&self, params: Raw) {
        let Some(named) = elicitation(&params) else { return };
        let mut state = self.lock();
        let (call, visitor) = (state.named.get(&named).copied(), state.visits.visitor(named.id()));
        match (call, visitor) {
            (Some(call), visitor) => {
                drop(state);
                self.tell(Some(call), Said::Visited(params, visitor));
            }
            // The call has ended, and its client may still wait for the word.
            (None, Some(visitor)) => {
                drop(state);
                visitor.tell(method::ELICITATION_COMPLETE, params);
            }
            (None, None) => state.visits.is_early(named.into_id(), &params),
        }
    }
}

/// The way to the client of a call that is sent to an address, where it has a word for that it has been there.
fn visitor(run: &RunHandle) -> Option<Afterwards> {
    let client = run.client();
    let has_word = client.era() == Era::Legacy && client.version.has_url_elicitation();
    run.afterwards().filter(|_| has_word)
}
