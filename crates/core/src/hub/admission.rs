//! Whether a call may begin, and how one ends that may not.

use std::time::Duration;

use super::Inner;
use crate::{Call, Error, Limiter, Outcome, Result, Taken, TooMany, pipeline};

impl Inner {
    /// How a call ends that cannot even begin.
    pub(super) fn refused(&self, call: &Call, error: Error) -> Outcome {
        pipeline::refused(self, call, &error, "request");
        self.unbegun(call, error)
    }

    /// How a call ends that came too soon. Of a row of them one is recorded; all are counted.
    pub(super) fn limited(&self, call: &Call, too_many: TooMany) -> Outcome {
        let error = Error::from(too_many);
        if too_many.first {
            pipeline::refused(self, call, &error, "limits");
        }
        self.unbegun(call, error)
    }

    fn unbegun(&self, call: &Call, error: Error) -> Outcome {
        let outcome = self.filters.outcome(Outcome::Failed(error));
        self.metrics.started();
        self.metrics.ended(&call.target, &outcome, Duration::ZERO);
        pipeline::unbegun(self, call, &outcome);
        outcome
    }

    /// Counts a call against the limits that hold for it.
    pub(super) fn take(&self, call: &Call) -> Result<Taken, TooMany> {
        let Call { principal, target, nested, .. } = call;
        self.taken(|limiter| match nested {
            true => limiter.take_nested(principal, target),
            false => limiter.take(principal, Some(target)),
        })
    }

    /// Takes of the limiter, where there is one.
    pub(super) fn taken(
        &self,
        take: impl FnOnce(&dyn Limiter) -> Result<Taken, TooMany>,
    ) -> Result<Taken, TooMany> {
        let Some(limiter) = &self.limiter else { return Ok(Taken::default()) };
        take(&**limiter).inspect_err(|_| self.metrics.limited("rate"))
    }

    /// A call that a gate denied does not count. One about which a person is asked does, also if they say no: nobody may
    /// be asked without end.
    pub(crate) fn give_back(&self, call: &Call) {
        let Some(limiter) = &self.limiter else { return };
        let Call { principal, target, taken, .. } = call;
        match call.nested {
            true => limiter.give_back_nested(principal, target, taken),
            false => limiter.give_back(principal, target, taken),
        }
    }
}
