//! Waiting as long as a service asks, within limits, and saying so.

use std::time::Duration;

use serde_json::json;
use toolgate_core::{Error, Kind, Progress, RunHandle};
use toolgate_wire::Raw;

/// How long one call waits in all. Clients give up after a minute.
const MOST: Duration = Duration::from_secs(30);

/// How often in a row it tries.
const TRIES: u32 = 5;

/// A service that asks to wait but does not say how long is asked again after this.
const DEFAULT: Duration = Duration::from_secs(1);

/// What a call is still ready to wait, and what it has said so far.
///
/// A wait ends with the call: whoever cancels that does not have to wait.
pub(crate) struct Patience<'a> {
    run: &'a RunHandle,
    left: Duration,
    tries: u32,
    said: f64,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(run: &'a RunHandle) -> Self {
        Self { run, left: MOST, tries: TRIES, said: 0.0 }
    }

    /// Tells the client how far it is.
    pub(crate) async fn say(&mut self, message: &str) {
        // The protocol wants a number that grows, whatever is told.
        self.said += 1.0;
        self.run.progress(Progress::new(self.said, None, Some(message))).await;
    }

    /// Something went well, so there may be as many tries as at first.
    pub(crate) fn renew(&mut self) {
        self.tries = TRIES;
    }

    /// Waits as a service asks, and tells whether to try again.
    pub(crate) async fn wait(&mut self, name: &str, delay: Option<Duration>) -> bool {
        let delay = delay.unwrap_or(DEFAULT);
        let (Some(left), Some(tries)) = (self.left.checked_sub(delay), self.tries.checked_sub(1)) else {
            return false;
        };
        (self.left, self.tries) = (left, tries);
        self.say(&format!("{name} asks to wait {}", in_words(delay))).await;
        tokio::time::sleep(delay).await;
        true
    }
}

/// A service asks to wait longer than anyone would.
pub(crate) fn limited(message: String, delay: Option<Duration>) -> Error {
    let error = Error::new(Kind::RateLimited, message);
    let Some(delay) = delay else { return error.hint("try again in a few minutes") };
    let ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
    error.hint(format!("try again in {}", in_words(delay))).data(Raw::of(&json!({"retryAfterMs": ms})))
}

/// A time to wait, in words.
fn in_words(delay: Duration) -> String {
    let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up() {
        #[track_caller]
        fn check(ms: u64, expect: &str) {
            assert_eq!(in_words(Duration::from_millis(ms)), expect);
        }
        check(0, "0 s");
        check(300, "1 s");
        check(119_000, "119 s");
        check(121_000, "3 min");
        check(7_200_001, "3 h");
    }
}
