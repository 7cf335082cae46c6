//! The place of a script: among those that run, or beside them while a person is asked.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many scripts run at once, and how many may wait for a person beside them.
const RUNNING: usize = 8;
const ASIDE: usize = 32;

/// All places.
#[derive(Debug, Clone)]
pub(super) struct Places {
    running: Arc<Semaphore>,
    aside: Arc<Semaphore>,
}

/// The place of one script.
#[derive(Debug)]
pub(crate) struct Place {
    all: Places,
    seat: Option<OwnedSemaphorePermit>,
    is_aside: bool,
    /// One of the few of its principal; it is kept wherever the script is.
    _own: Option<OwnedSemaphorePermit>,
}

impl Places {
    pub(super) fn new() -> Self {
        Self { running: Arc::new(Semaphore::new(RUNNING)), aside: Arc::new(Semaphore::new(ASIDE)) }
    }

    /// A place among those that run, once there is one.
    pub(super) async fn enter(&self, own: Option<OwnedSemaphorePermit>) -> Place {
        // Nobody closes them.
        let seat = self.running.clone().acquire_owned().await.ok();
        Place { all: self.clone(), seat, is_aside: false, _own: own }
    }
}

impl Place {
    /// Leaves it to another while a person is asked, unless too many have done so.
    pub(super) fn step_aside(&mut self) {
        if !self.is_aside
            && let Ok(seat) = self.all.aside.clone().try_acquire_owned()
        {
            (self.seat, self.is_aside) = (Some(seat), true);
        }
    }

    /// Takes a place again, once there is one.
    pub(super) async fn come_back(&mut self) {
        if self.is_aside {
            self.seat = self.all.running.clone().acquire_owned().await.ok();
            self.is_aside = false;
        }
    }
}
