//! Which era a server speaks: found out once, remembered, and doubted where it may be another server by now.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use toolgate_wire::{Era, Version};

use super::Shared;
use crate::config::EraChoice;
use crate::fault::Fault;
use crate::plan::Reach;

impl Shared {
    /// The revision the server was found to speak.
    pub(crate) fn version(&self) -> Option<Version> {
        *self.version.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The era it speaks, as far as is known: calls go by connections that fit it.
    pub(crate) fn known_era(&self) -> Option<Era> {
        self.version().map(Version::era)
    }

    /// The era that the next connection may rely on.
    pub(crate) fn trusted_era(&self) -> Option<Era> {
        self.known_era().filter(|_| !self.is_era_doubted.load(Ordering::Relaxed))
    }

    pub(crate) fn knows(&self, version: Option<Version>) {
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) = version;
        self.is_era_doubted.store(false, Ordering::Relaxed);
    }

    /// Has the era found out anew, if that may be why the server cannot be spoken to: it may be another server by now.
    pub(crate) fn doubts_era(&self, fault: &Fault) {
        if self.plan.era != EraChoice::Auto {
            return;
        }
        match fault {
            // One that was modern and ended at every question is greeted as if it were not. That it minds is no news.
            Fault::Refused(_) | Fault::Unusable(_) | Fault::Status(400..=499)
                if self.known_era() == Some(Era::Modern) && self.trusted_era().is_none() => {}
            Fault::Refused(_) | Fault::Unusable(_) | Fault::Status(400..=499) => self.knows(None),
            // Programs may end, or fall silent, at a question that they do not know. Most end for other reasons, and
            // then are what they were; one that stands was found out.
            Fault::NotSent(_) | Fault::Gone(_) | Fault::Late(_) => {
                let may_be_other = matches!(self.plan.reach, Reach::Program(_)) && !self.stands();
                self.is_era_doubted.store(may_be_other, Ordering::Relaxed);
            }
            Fault::Status(_)
            | Fault::SessionGone
            | Fault::NoToken(_)
            | Fault::Unauthorized(_)
            | Fault::Scope(_) => {}
        }
    }

    /// Whether there is a connection.
    fn stands(&self) -> bool {
        self.pool.all().iter().any(|line| line.link().is_some())
    }
}
