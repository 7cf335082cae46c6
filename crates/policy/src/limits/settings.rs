//! Limits as they are written become limits in force, or all that is wrong with them.

use std::collections::{BTreeMap, HashMap};

use toolgate_core::{Principal, PrincipalId, SourceId, Target};

use crate::bucket::{Bucket, Pace};
use crate::compiled::Patterns;
use crate::config::{LimitsConfig, PrincipalConfig, TargetLimit};
use crate::error::{Faults, PolicyError, quoted};
use crate::places::Room;
use crate::principal::{Who, is_meant};
use crate::target::{Subject, Sure, TargetPattern};

/// How many limits of targets there can be: one bit for each.
const MOST_TARGETS: usize = 64;

/// The most places, and the most who may wait.
const MOST_PLACES: u32 = 1_000_000;

/// Limits that are in force.
#[derive(Debug)]
pub struct LimitSettings {
    enabled: bool,
    /// Whether it matters how often someone calls.
    pub(super) paced: bool,
    pace: Pace,
    /// Of those who have one of their own.
    paces: HashMap<String, Pace>,
    /// The roles that are configured.
    roles: HashMap<String, Vec<String>>,
    targets: Vec<Limited>,
    room: Room,
    rooms: HashMap<String, Room>,
}

/// A limit of some targets.
#[derive(Debug)]
struct Limited {
    written: TargetLimit,
    who: Option<Vec<Who>>,
    patterns: Patterns,
    pace: Pace,
}

impl LimitSettings {
    /// Reads `[limits]`, and what `[principals.NAME]` says of limits.
    ///
    /// # Errors
    /// All that is wrong with them, by key.
    pub fn load(
        limits: &LimitsConfig,
        principals: &BTreeMap<String, PrincipalConfig>,
    ) -> Result<Self, PolicyError> {
        let mut faults = Faults::default();
        let pace = pace(&mut faults, "limits", limits.rate, limits.burst);
        let mut paces = HashMap::new();
        for (name, config) in
            principals.iter().filter(|(_, config)| config.rate.or(config.burst.map(f64::from)).is_some())
        {
            let (rate, burst) = (config.rate.unwrap_or(limits.rate), config.burst.unwrap_or(limits.burst));
            paces.insert(
                name.clone(),
                self::pace(&mut faults, &format!("principals.{}", quoted(name)), rate, burst),
            );
        }
        let room = room(&mut faults, "limits", limits.concurrent, limits.queue);
        let mut rooms = HashMap::new();
        for (name, config) in &limits.sources {
            let (concurrent, queue) =
                (config.concurrent.unwrap_or(limits.concurrent), config.queue.unwrap_or(limits.queue));
            rooms.insert(
                name.clone(),
                self::room(&mut faults, &format!("limits.sources.{}", quoted(name)), concurrent, queue),
            );
        }
        let targets = targets(&mut faults, &limits.targets);
        let roles = principals.iter().map(|(name, config)| (name.clone(), config.roles.clone())).collect();
        let (enabled, paced) = (limits.enabled, limits.enabled);
        faults.or(Self { enabled, paced, pace, paces, roles, targets, room, rooms })
    }

    /// The same, but everyone may call as often as they like.
    #[must_use]
    pub fn at_any_pace(self) -> Self {
        Self { paced: false, ..self }
    }

    pub(super) fn pace(&self, principal: &PrincipalId) -> Pace {
        if self.paces.is_empty() {
            return self.pace;
        }
        self.paces.get(principal.as_str()).copied().unwrap_or(self.pace)
    }

    /// How many may be at a source at once.
    pub(super) fn room(&self, source: &SourceId) -> Room {
        if !self.enabled {
            return Room { concurrent: usize::MAX, queue: usize::MAX };
        }
        self.rooms.get(source.as_str()).copied().unwrap_or(self.room)
    }

    /// The pace of each limit of targets.
    pub(super) fn targets(&self) -> impl Iterator<Item = Pace> {
        self.targets.iter().map(|limited| limited.pace)
    }

    /// Which limits of targets a call has to pass, as bits.
    pub(super) fn matching(&self, principal: &Principal, target: Option<&Target>) -> u64 {
        let Some(target) = target.filter(|_| !self.targets.is_empty()) else { return 0 };
        let subject = Subject::of(target);
        let known = self.roles.get(principal.id.as_str()).map_or(&[][..], Vec::as_slice);
        let roles: Vec<&str> =
            principal.roles.iter().map(|role| &**role).chain(known.iter().map(String::as_str)).collect();
        let matches = |limited: &Limited| {
            limited.patterns.fit(&subject, Sure::Any)
                && is_meant(limited.who.as_deref(), principal.id.as_str(), &roles)
        };
        self.targets
            .iter()
            .enumerate()
            .filter(|(_, limited)| matches(limited))
            .fold(0, |bits, (place, _)| bits | 1 << place)
    }

    /// The buckets of limits that were there before, and new ones for the others.
    pub(super) fn carry_over(&self, before: &Self, buckets: &[Bucket], now: u64) -> Box<[Bucket]> {
        let bucket = |limited: &Limited| {
            let same = |old: &&(&Limited, &Bucket)| {
                old.0.written.targets == limited.written.targets
                    && old.0.written.principals == limited.written.principals
            };
            let old: Vec<(&Limited, &Bucket)> = before.targets.iter().zip(buckets).collect();
            let found = old.iter().find(same);
            found.map_or_else(Bucket::default, |(old, bucket)| {
                bucket.at_another_pace(old.pace, limited.pace, now)
            })
        };
        self.targets.iter().map(bucket).collect()
    }
}

fn targets(faults: &mut Faults, all: &[TargetLimit]) -> Vec<Limited> {
    if all.len() > MOST_TARGETS {
        let message = format!("holds {} limits", all.len());
        faults.add("limits.targets", message, format!("there can be {MOST_TARGETS}; use wider patterns"));
    }
    let limited = |(place, written): (usize, &TargetLimit)| {
        let key = format!("limits.targets[{place}]");
        let mut patterns = Vec::new();
        for (place, text) in written.targets.iter().enumerate() {
            match text.parse::<TargetPattern>() {
                Ok(pattern) => patterns.push(pattern),
                Err(bad) => {
                    let message = format!("is no pattern: {}", bad.message);
                    faults.add(format!("{key}.targets[{place}]"), message, bad.hint);
                }
            }
        }
        Limited {
            who: written.principals.as_ref().map(|all| all.iter().map(|text| Who::new(text)).collect()),
            patterns: Patterns(patterns),
            pace: pace(faults, &key, written.rate, written.burst),
            written: written.clone(),
        }
    };
    all.iter().enumerate().map(limited).collect()
}

fn pace(faults: &mut Faults, key: &str, rate: f64, burst: u32) -> Pace {
    let (slowest, fastest) = Pace::RATES;
    if !(slowest..=fastest).contains(&rate) {
        let hint = "it is a number of requests a second; `limits.enabled = false` lifts all limits";
        faults.add(format!("{key}.rate"), format!("is {rate}, not from {slowest} to {fastest}"), hint);
    }
    let (smallest, largest) = Pace::BURSTS;
    if !(smallest..=largest).contains(&burst) {
        let hint = "it is a number of requests at once; `limits.enabled = false` lifts all limits";
        faults.add(format!("{key}.burst"), format!("is {burst}, not from {smallest} to {largest}"), hint);
    }
    Pace::new(rate, burst)
}

fn room(faults: &mut Faults, key: &str, concurrent: u32, queue: u32) -> Room {
    if !(1..=MOST_PLACES).contains(&concurrent) {
        let hint = "it is how many calls a source answers at once";
        faults.add(
            format!("{key}.concurrent"),
            format!("is {concurrent}, not from 1 to {MOST_PLACES}"),
            hint,
        );
    }
    if queue > MOST_PLACES {
        let hint = "it is how many calls may wait for a source";
        faults.add(format!("{key}.queue"), format!("is {queue}, more than {MOST_PLACES}"), hint);
    }
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    Room { concurrent: size(concurrent), queue: size(queue) }
}
