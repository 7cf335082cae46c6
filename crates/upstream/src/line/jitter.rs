//! Times that differ a little each time, so that many who wait do not come back in step.

use std::time::Duration;

/// Between half and all of a time.
pub(super) fn jittered(wait: Duration) -> Duration {
    let mut random = [0u8; 1];
    if let Err(error) = getrandom::fill(&mut random) {
        tracing::debug!(%error, "without randomness all wait the same time, which is no harm");
    }
    wait.mul_f64(0.5 + f64::from(random[0]) / 512.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn waits_lie_between_half_and_all_and_differ() {
        let wait = Duration::from_secs(60);
        let waits: BTreeSet<Duration> = (0..1000).map(|_| jittered(wait)).collect();
        assert!(waits.iter().all(|other| (wait / 2..wait).contains(other)), "{waits:?}");
        assert!(waits.len() > 100, "{} different waits", waits.len());
    }
}
