//! What a person sees while a server takes its time: one line on standard error, gone when it ends.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use toolgate_host::terminal;

use crate::command::table::{fit, one_line};

/// Nobody needs to be told before this.
const PATIENCE: Duration = Duration::from_secs(1);

/// The columns of a terminal that does not say how many it has.
const COLUMNS: usize = 80;

/// A wait that a person sees; it leaves nothing on the screen.
pub(super) struct Waiting {
    what: String,
    begun: Instant,
    shown: bool,
}

impl Waiting {
    pub(super) fn begin(what: String) -> Self {
        Self { what: one_line(&what), begun: Instant::now(), shown: false }
    }

    /// Shows that it still lasts.
    pub(super) fn tick(&mut self) {
        let stderr = std::io::stderr();
        if self.begun.elapsed() < PATIENCE || !stderr.is_terminal() {
            return;
        }
        let columns = terminal::columns(&stderr).unwrap_or(COLUMNS);
        let line = format!("{}: {} s", self.what, self.begun.elapsed().as_secs());
        self.shown = true;
        // A terminal that is gone needs no progress.
        drop(write!(stderr.lock(), "\r\x1b[K{}", fit(&line, columns.saturating_sub(1))));
    }

    /// Waits for something, and shows meanwhile that it does.
    pub(super) async fn on<T>(mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = tokio::time::sleep(PATIENCE) => self.tick(),
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.shown {
            drop(write!(std::io::stderr().lock(), "\r\x1b[K"));
        }
    }
}
