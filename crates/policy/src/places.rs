//! The places at a source: so many at once, and those who wait are served in turn, principal by principal.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use toolgate_core::{Admission, Place, PrincipalId, QuickMap, Vacate};

/// Of how many principals it is remembered when they were last served.
const REMEMBERED: usize = 1024;

/// How many places there are, and how many may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) concurrent: usize,
    pub(crate) queue: usize,
}

/// The places at one source.
pub(crate) struct Places {
    state: Mutex<State>,
}

struct State {
    room: Room,
    running: usize,
    waiting: usize,
    /// Counts everyone who is served.
    served: u64,
    turns: QuickMap<PrincipalId, Turn>,
    /// Who waits, by when they were last served: the longest ago is next.
    order: BTreeSet<(u64, PrincipalId)>,
    /// Numbers those who wait.
    next: u64,
}

/// The turn of a principal.
#[derive(Default)]
struct Turn {
    last: u64,
    waiting: VecDeque<(u64, oneshot::Sender<Place>)>,
}

impl Places {
    pub(crate) fn new(room: Room) -> Arc<Self> {
        let state = State {
            room,
            running: 0,
            waiting: 0,
            served: 0,
            turns: QuickMap::default(),
            order: BTreeSet::new(),
            next: 0,
        };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// A place for a call of this principal.
    pub(crate) fn enter(self: &Arc<Self>, principal: &PrincipalId) -> Admission<'static> {
        let mut state = self.lock();
        if state.running < state.room.concurrent {
            state.running += 1;
            state.serve(principal);
            return Admission::Now(Place::at(self.clone()));
        }
        let Some((number, seat)) = state.wait(principal) else { return Admission::Full };
        drop(state);
        let waiting = Waiting { places: Arc::clone(self), principal: principal.clone(), number, seat };
        Admission::Waiting(Box::pin(waiting.served()))
    }

    /// Changes how many there are; those who can now come in do.
    pub(crate) fn set_room(self: &Arc<Self>, room: Room) {
        let mut state = self.lock();
        state.room = room;
        let free = room.concurrent.saturating_sub(state.running).min(state.waiting);
        state.running += free;
        drop(state);
        // Each is a place that nobody holds yet.
        (0..free).for_each(|_| Arc::clone(self).vacate());
    }

    /// The lock is given back before anyone is woken.
    fn next(&self) -> Option<oneshot::Sender<Place>> {
        self.lock().hand_over()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Vacate for Places {
    /// Gives a place to who is next, or nobody.
    fn vacate(self: Arc<Self>) {
        loop {
            let Some(next) = self.next() else { return };
            let Err(unwanted) = next.send(Place::at(self.clone())) else { return };
            // Who waited is gone: the place is still free, for the next one.
            unwanted.forget();
        }
    }
}

impl State {
    fn serve(&mut self, principal: &PrincipalId) {
        self.served += 1;
        if let Some(turn) = self.turns.get_mut(principal) {
            turn.last = self.served;
            return;
        }
        if self.turns.len() >= REMEMBERED {
            self.turns.retain(|_, turn| !turn.waiting.is_empty());
        }
        self.turns.insert(principal.clone(), Turn { last: self.served, waiting: VecDeque::new() });
    }

    /// Lines up, unless there is no room.
    fn wait(&mut self, principal: &PrincipalId) -> Option<(u64, oneshot::Receiver<Place>)> {
        let own = self.turns.get(principal).map_or(0, |turn| turn.waiting.len());
        if !self.has_room(own) {
            return None;
        }
        let (sender, seat) = oneshot::channel();
        let number = self.next;
        self.next += 1;
        self.waiting += 1;
        let turn = self.turns.entry(principal.clone()).or_default();
        turn.waiting.push_back((number, sender));
        self.order.insert((turn.last, principal.clone()));
        Some((number, seat))
    }

    /// A queue that others have filled still takes in who has less than an equal share of it.
    fn has_room(&self, own: usize) -> bool {
        if self.waiting < self.room.queue {
            return true;
        }
        let waiting = self.order.len() + usize::from(own == 0);
        own < self.room.queue / waiting.max(1) && self.waiting < self.room.queue.saturating_mul(2)
    }

    /// Who gets a place that became free; without anyone there is one running less.
    fn hand_over(&mut self) -> Option<oneshot::Sender<Place>> {
        let fewer = self.running > self.room.concurrent;
        let next = if fewer { None } else { self.next_in_turn() };
        if next.is_none() {
            self.running -= 1;
        }
        next
    }

    fn next_in_turn(&mut self) -> Option<oneshot::Sender<Place>> {
        let (_, principal) = self.order.pop_first()?;
        self.served += 1;
        let turn = self.turns.get_mut(&principal)?;
        turn.last = self.served;
        let (_, next) = turn.waiting.pop_front()?;
        self.waiting -= 1;
        if !turn.waiting.is_empty() {
            self.order.insert((turn.last, principal));
        }
        Some(next)
    }

    /// Who waited went away.
    fn give_up(&mut self, principal: &PrincipalId, number: u64) {
        let Some(turn) = self.turns.get_mut(principal) else { return };
        let before = turn.waiting.len();
        turn.waiting.retain(|(waiting, _)| *waiting != number);
        self.waiting -= before - turn.waiting.len();
        if turn.waiting.is_empty() {
            self.order.remove(&(turn.last, principal.clone()));
        }
    }
}

/// A call that waits for its place.
struct Waiting {
    places: Arc<Places>,
    principal: PrincipalId,
    number: u64,
    seat: oneshot::Receiver<Place>,
}

impl Waiting {
    async fn served(mut self) -> Place {
        // Nobody drops the other end before it is used.
        (&mut self.seat).await.unwrap_or_default()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.places.lock().give_up(&self.principal, self.number);
    }
}
