//! Failures slow down whoever fails: by name and by address, each process for itself.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolgate_host::Clock;

/// So many failures cost nothing: people mistype.
const FREE: u32 = 4;
/// The first wait; each further failure doubles it.
const FIRST: Duration = Duration::from_secs(2);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(300);
/// After this long without a failure nothing is held against anyone.
const FORGOTTEN: Duration = Duration::from_secs(3600);
/// How many names and addresses are remembered at once.
const MOST: usize = 10_000;

/// Failures, by what failed. A name that is guessed at from many addresses waits, and an address that guesses at many
/// names.
pub(crate) struct Throttle {
    clock: Clock,
    failures: Mutex<HashMap<Key, Failures>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Name(String),
    Address(IpAddr),
}

struct Failures {
    count: u32,
    last: Instant,
}

impl Failures {
    /// How long there is still to wait.
    fn wait(&self, now: Instant) -> Duration {
        let Some(over) = self.count.checked_sub(FREE + 1) else { return Duration::ZERO };
        let wait = FIRST.saturating_mul(1 << over.min(16)).min(LONGEST);
        (self.last + wait).saturating_duration_since(now)
    }
}

impl Throttle {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, failures: Mutex::default() }
    }

    /// Someone tries. It counts as a failure until they say otherwise, so that many at once are not one.
    ///
    /// # Errors
    /// They have to wait for so many seconds first.
    pub(crate) fn begin(&self, name: &str, address: IpAddr) -> Result<(), u64> {
        let now = self.clock.now();
        let mut failures = self.lock();
        let keys = keys(name, address);
        let waits = keys.iter().filter_map(|key| Some(failures.get(key)?.wait(now)));
        if let Some(wait) = waits.max().filter(|wait| !wait.is_zero()) {
            return Err(wait.as_secs() + u64::from(wait.subsec_nanos() > 0));
        }
        if failures.len() >= MOST {
            failures.retain(|_, failures| now.saturating_duration_since(failures.last) < LONGEST);
        }
        if failures.len() >= MOST {
            // Names that someone makes up push out no name that is guessed at.
            failures.retain(|_, failures| failures.count > FREE);
        }
        if failures.len() >= MOST {
            failures.clear();
        }
        for key in keys {
            let entry = failures.entry(key).or_insert(Failures { count: 0, last: now });
            if now.saturating_duration_since(entry.last) >= FORGOTTEN {
                entry.count = 0;
            }
            entry.count = entry.count.saturating_add(1);
            entry.last = now;
        }
        Ok(())
    }

    /// Who came in has not failed. Their address may have failed at other names, which stays.
    pub(crate) fn succeeded(&self, name: &str, address: IpAddr) {
        let mut failures = self.lock();
        let [name, address] = keys(name, address);
        failures.remove(&name);
        if let Some(entry) = failures.get_mut(&address) {
            entry.count = entry.count.saturating_sub(1);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Failures>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keys(name: &str, address: IpAddr) -> [Key; 2] {
    // A name that nobody can have is remembered by its beginning, so that it takes no room.
    let name = name.chars().take(64).collect();
    [Key::Name(name), Key::Address(block(address))]
}

/// Whoever has one address of IPv6 has a whole block of them.
fn block(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) if !address.is_loopback() => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        other @ (IpAddr::V4(_) | IpAddr::V6(_)) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const ELSEWHERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    #[test]
    fn failures_cost_ever_more_time_until_they_are_forgotten() {
        let clock = Clock::manual(0);
        let throttle = Throttle::new(clock.clone());
        for _ in 0..=FREE {
            assert_eq!(throttle.begin("ada", HERE), Ok(()));
        }
        for expect in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            assert_eq!(throttle.begin("ada", HERE), Err(expect));
            clock.advance(Duration::from_secs(expect));
            assert_eq!(throttle.begin("ada", HERE), Ok(()));
        }
        clock.advance(FORGOTTEN);
        assert_eq!(throttle.begin("ada", HERE), Ok(()));
        assert_eq!(throttle.begin("ada", HERE), Ok(()), "all is forgotten");
    }

    #[test]
    fn a_name_is_guarded_against_many_addresses_and_an_address_against_many_names() {
        let throttle = Throttle::new(Clock::manual(0));
        for count in 0..=FREE {
            assert_eq!(throttle.begin(&format!("name {count}"), HERE), Ok(()));
        }
        assert!(throttle.begin("another", HERE).is_err());
        for count in 0..=FREE {
            let address = IpAddr::from([192, 0, 2, 7 + u8::try_from(count).unwrap()]);
            assert_eq!(throttle.begin("ada", address), Ok(()));
        }
        assert!(throttle.begin("ada", ELSEWHERE).is_err());
        throttle.succeeded("ada", HERE);
        assert_eq!(throttle.begin("ada", ELSEWHERE), Ok(()));
    }

    #[test]
    fn who_comes_in_never_waits() {
        let throttle = Throttle::new(Clock::manual(0));
        for _ in 0..100 {
            assert_eq!(throttle.begin("ada", HERE), Ok(()));
            throttle.succeeded("ada", HERE);
        }
    }

    #[test]
    fn a_block_of_addresses_is_one_address() {
        let throttle = Throttle::new(Clock::manual(0));
        for count in 0..=u16::try_from(FREE).unwrap() {
            let address = IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, count]);
            assert_eq!(throttle.begin(&count.to_string(), address), Ok(()));
        }
        assert!(throttle.begin("y", IpAddr::from([0x2001, 0xdb8, 0, 1, 9, 9, 9, 9])).is_err());
        assert_eq!(throttle.begin("y", IpAddr::from([0x2001, 0xdb8, 0, 2, 0, 0, 0, 1])), Ok(()));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let throttle = Throttle::new(Clock::manual(0));
        for _ in 0..=FREE {
            assert_eq!(throttle.begin("ada", HERE), Ok(()));
        }
        for count in 0..=u32::try_from(MOST).unwrap() {
            assert_eq!(throttle.begin(&count.to_string(), IpAddr::from(count.to_be_bytes())), Ok(()));
        }
        assert!(throttle.lock().len() <= MOST + 1);
        assert!(throttle.begin("ada", ELSEWHERE).is_err(), "who is guessed at stays guarded");
    }
}
