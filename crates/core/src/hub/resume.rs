//! How a call that asked something waits, and how its retry goes on.

use crate::parking::{Answered, Parked};
use crate::seal::{Next, Round, State, digest};
use crate::{Ask, Call, ConnectionId, Hub, Outcome, Result, Run};

use super::Inner;

/// How a retry goes on.
pub(super) enum Resumed {
    Run(Run),
    Source(Round),
    Outcome(Outcome),
}

impl Hub {
    /// Parks a run of a modern client that asked something, and says what to answer instead.
    pub fn park(&self, run: Run, ask: Ask) -> Outcome {
        let expires_ms = self.inner.expiry();
        self.inner.park(Parked::new(run, ask, expires_ms)).unwrap_or_else(Outcome::Failed)
    }

    pub(super) fn resume(&self, call: &Call) -> Result<Option<Resumed>> {
        let Some(state) = call.resume.as_ref().and_then(|resume| resume.state.as_deref()) else {
            return Ok(None);
        };
        let inner = &self.inner;
        let state = inner.sealer.open(state, inner.clock.unix_ms())?;
        state.belongs_to(&call.principal, &digest(&call.target, &call.params))?;
        let number = match state.next {
            Next::Parked(number) => number,
            Next::Source(round) => return Ok(Some(Resumed::Source(round))),
        };
        let (parked, left) = inner.parking.take(number)?;
        inner.metrics.parked(left);
        let limit = inner.time_limit(call);
        let responses = call.resume.as_ref().and_then(|resume| resume.responses.as_ref());
        match parked.answer(responses) {
            Answered::All(run) => {
                run.reattach(call, limit);
                Ok(Some(Resumed::Run(run)))
            }
            Answered::Some(parked) => Ok(Some(Resumed::Outcome(inner.park(parked)?))),
        }
    }
}

impl Inner {
    /// A client has gone: what waited for its answers ends, and what it watched is let go.
    pub(crate) fn leave(&self, connection: ConnectionId) {
        self.metrics.parked(self.parking.leave(connection));
        self.sources.now().all.iter().for_each(|source| source.left(connection));
    }

    fn park(&self, parked: Parked) -> Result<Outcome> {
        let now = self.clock.unix_ms();
        let shared = &parked.run.shared;
        let (principal, digest) = (shared.principal.id.to_string(), digest(&shared.target, &shared.params));
        let (requests, expires_ms) = (parked.requests(), parked.expires_ms);
        let (number, count) = self.parking.park(parked, self.settings.load().max_parked, now)?;
        self.metrics.parked(count);
        let state = self.sealer.seal(&State { principal, digest, expires_ms, next: Next::Parked(number) })?;
        Ok(Outcome::InputRequired { requests, state: Some(state) })
    }
}
