//! A bucket of tokens as one number: when the last token that was taken will have flowed back. A token that is given back
//! puts its clock forward.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How fast tokens flow back, and how many a full bucket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// Nanoseconds for one token.
    each: u64,
    /// Nanoseconds for all of them.
    all: u64,
}

impl Pace {
    /// `rate` tokens a second, `burst` at most. Both were checked: see [`Pace::RATES`] and [`Pace::BURSTS`].
    pub(crate) fn new(rate: f64, burst: u32) -> Self {
        // Rounded up, so that there is never more than was allowed.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "1 to 10^13 by the checked rate"
        )]
        let each = (1e9 / rate.clamp(Self::RATES.0, Self::RATES.1)).ceil() as u64;
        Self { each, all: each.saturating_mul(burst.max(1).into()) }
    }

    /// The slowest and the fastest.
    pub(crate) const RATES: (f64, f64) = (0.0001, 1_000_000.0);

    /// The smallest and the largest bucket.
    pub(crate) const BURSTS: (u32, u32) = (1, 100_000);
}

/// A bucket, full at first. Time is in nanoseconds since anything.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    /// When it is full again, by its own clock.
    full_at: AtomicU64,
    /// How far its own clock is ahead.
    ahead: AtomicU64,
    /// Whether the last request was refused.
    refusing: AtomicBool,
}

impl Bucket {
    /// How far its clock is put forward at most; a token that is given back later is lost.
    const FARTHEST: u64 = u64::MAX / 2;

    /// Takes a token, and tells when it will have flowed back, by the bucket's own clock; else tells how long until there
    /// is one.
    pub(crate) fn take(&self, pace: Pace, now: u64) -> Result<u64, Duration> {
        let now = self.clock(now);
        let mut full_at = self.full_at.load(Ordering::Relaxed);
        loop {
            let next = full_at.max(now).saturating_add(pace.each);
            let debt = next - now;
            if debt > pace.all {
                return Err(Duration::from_nanos(debt - pace.all));
            }
            match self.full_at.compare_exchange_weak(full_at, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(next),
                Err(other) => full_at = other,
            }
        }
    }

    /// Puts a token back that would flow back at `back_at`. What of it has flowed back meanwhile is not put back again: the
    /// clock never goes beyond that moment, so that others get no more than if it had not been taken.
    pub(crate) fn give_back(&self, pace: Pace, back_at: u64, now: u64) {
        let mut ahead = self.ahead.load(Ordering::Relaxed);
        loop {
            // A clock that reached its end would stand still, and every token would be there for ever.
            if ahead > Self::FARTHEST {
                return;
            }
            let left = back_at.saturating_sub(now.saturating_add(ahead)).min(pace.each);
            let next = ahead.saturating_add(left);
            match self.ahead.compare_exchange_weak(ahead, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => ahead = other,
            }
        }
    }

    /// What the bucket's own clock says.
    fn clock(&self, now: u64) -> u64 {
        now.saturating_add(self.ahead.load(Ordering::Relaxed))
    }

    /// Notes that a request was granted.
    pub(crate) fn granted(&self) {
        if self.refusing.load(Ordering::Relaxed) {
            self.refusing.store(false, Ordering::Relaxed);
        }
    }

    /// Notes that a request was refused, and tells whether it is the first of its row.
    pub(crate) fn refused(&self) -> bool {
        !self.refusing.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn is_full(&self, now: u64) -> bool {
        self.full_at.load(Ordering::Relaxed) <= self.clock(now)
    }

    /// As many tokens are missing as before, at another pace.
    pub(crate) fn at_another_pace(&self, from: Pace, to: Pace, now: u64) -> Self {
        let debt = self.full_at.load(Ordering::Relaxed).saturating_sub(self.clock(now));
        let scaled = u128::from(debt) * u128::from(to.each) / u128::from(from.each.max(1));
        let debt = u64::try_from(scaled).unwrap_or(u64::MAX).min(to.all);
        let refusing = AtomicBool::new(self.refusing.load(Ordering::Relaxed));
        Self { full_at: AtomicU64::new(now.saturating_add(debt)), ahead: AtomicU64::new(0), refusing }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_bucket_starts_full_and_flows_back() {
        let (bucket, pace) = (Bucket::default(), Pace::new(10.0, 20));
        let now = 5 * SECOND;
        for _ in 0..20 {
            bucket.take(pace, now).unwrap();
        }
        assert_eq!(bucket.take(pace, now), Err(Duration::from_millis(100)));
        assert_eq!(bucket.take(pace, now + SECOND / 20), Err(Duration::from_millis(50)));
        let taken = bucket.take(pace, now + SECOND / 10).unwrap();
        assert!(bucket.take(pace, now + SECOND / 10).is_err());
        bucket.give_back(pace, taken, now + SECOND / 10);
        bucket.take(pace, now + SECOND / 10).unwrap();
        assert!(bucket.is_full(now + 3 * SECOND) && !bucket.is_full(now + SECOND));
    }

    /// How many of these can be taken now.
    fn granted(bucket: &Bucket, pace: Pace, now: u64) -> usize {
        (0..100).filter(|_| bucket.take(pace, now).is_ok()).count()
    }

    #[test]
    fn what_has_flowed_back_is_not_given_back_again() {
        #[track_caller]
        fn check(after: u64, meanwhile: usize, then: usize) {
            let (bucket, pace) = (Bucket::default(), Pace::new(10.0, 20));
            let taken: Vec<u64> = (0..20).map(|_| bucket.take(pace, 0).unwrap()).collect();
            assert_eq!(granted(&bucket, pace, after), meanwhile, "{after}");
            taken.into_iter().for_each(|back_at| bucket.give_back(pace, back_at, after));
            assert_eq!(granted(&bucket, pace, after), then, "{after}");
        }
        check(0, 0, 20);
        check(SECOND / 10, 1, 19);
        check(SECOND, 10, 10);
        check(2 * SECOND, 20, 0);
        check(3 * SECOND, 20, 0);
    }

    #[test]
    fn however_many_are_given_back_the_rest_stays_counted() {
        let (bucket, pace) = (Bucket::default(), Pace::new(Pace::RATES.0, 3));
        for _ in 0..2_000_000 {
            if let Ok(back_at) = bucket.take(pace, SECOND) {
                bucket.give_back(pace, back_at, SECOND);
            }
        }
        assert!(granted(&bucket, pace, SECOND) <= 3);
        assert!(bucket.take(pace, SECOND).is_err());
    }

    #[test]
    fn another_pace_leaves_as_many_tokens_missing() {
        let (slow, fast) = (Pace::new(1.0, 10), Pace::new(100.0, 10));
        let bucket = Bucket::default();
        for _ in 0..7 {
            bucket.take(slow, 0).unwrap();
        }
        let bucket = bucket.at_another_pace(slow, fast, 0);
        for _ in 0..3 {
            bucket.take(fast, 0).unwrap();
        }
        assert_eq!(bucket.take(fast, 0), Err(Duration::from_millis(10)));
        // A smaller bucket is empty at the worst.
        let small = bucket.at_another_pace(fast, Pace::new(1.0, 2), 0);
        assert_eq!(small.take(Pace::new(1.0, 2), 0), Err(Duration::from_secs(1)));
    }

    proptest! {
        /// In any window, whatever is asked when and given back when: no more than a bucket and what flowed in.
        #[test]
        fn it_never_grants_more_than_burst_and_rate(
            rate in 0.5_f64..2000.0,
            burst in 1_u32..40,
            steps in prop::collection::vec((0_u64..SECOND / 3, prop::option::of(0_u64..2 * SECOND)), 1..200)
        ) {
            let (bucket, pace) = (Bucket::default(), Pace::new(rate, burst));
            let mut granted = Vec::new();
            // What will be given back, and when.
            let mut denied: Vec<(u64, u64)> = Vec::new();
            let mut now = 0;
            // Small steps are the interesting ones.
            let smaller = |time: u64| time / (1 + time % 97).pow(2);
            for (step, denied_after) in steps {
                now += smaller(step);
                denied.sort_unstable();
                let due = denied.partition_point(|(at, _)| *at <= now);
                for (at, back_at) in denied.drain(..due) {
                    bucket.give_back(pace, back_at, at);
                }
                match (bucket.take(pace, now), denied_after) {
                    (Ok(back_at), Some(after)) => denied.push((now + smaller(after), back_at)),
                    (Ok(_), None) => granted.push(now),
                    (Err(_), _) => {}
                }
            }
            for (first, from) in granted.iter().enumerate() {
                for (last, until) in granted.iter().enumerate().skip(first) {
                    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                    let most = f64::from(burst) + rate * (until - from) as f64 / 1e9;
                    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                    let count = (last - first + 1) as f64;
                    prop_assert!(count <= most + 1e-6, "{count} of {most} in {}", until - from);
                }
            }
        }

        /// Who waits as long as was said gets a token.
        #[test]
        fn the_time_it_names_is_right(rate in 0.5_f64..2000.0, burst in 1_u32..40, takes in 1_usize..60) {
            let (bucket, pace) = (Bucket::default(), Pace::new(rate, burst));
            let mut now = 0;
            for _ in 0..takes {
                if let Err(wait) = bucket.take(pace, now) {
                    let wait = u64::try_from(wait.as_nanos()).unwrap();
                    prop_assert!(bucket.take(pace, now + wait - 1).is_err());
                    now += wait;
                    prop_assert!(bucket.take(pace, now).is_ok());
                }
            }
        }
    }
}
