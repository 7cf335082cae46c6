//! How often, and how many at once: the limiter.

mod settings;

use std::hash::BuildHasher as _;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

use toolgate_core::{
    Admission, Limiter, Place, Principal, PrincipalId, QuickMap, QuickState, SourceId, Taken, Target, TooMany,
};
use toolgate_host::Clock;

use crate::bucket::Bucket;
use crate::places::Places;

pub use settings::LimitSettings;

/// In how many parts the buckets are kept, so that few callers meet.
const SHARDS: usize = 16;

/// Of how many principals buckets are kept in each part.
const MOST: usize = 1024;

/// The limiter. Its settings can be replaced while calls pass; who has used up tokens has still done so.
pub struct Limits {
    clock: Clock,
    start: Instant,
    hasher: QuickState,
    shards: Box<[RwLock<Shard>]>,
    sources: RwLock<QuickMap<SourceId, Arc<Places>>>,
}

struct Shard {
    settings: Arc<LimitSettings>,
    buckets: QuickMap<PrincipalId, Buckets>,
    /// Shared by all for whom there is no room.
    rest: Buckets,
    /// How many buckets there were, so that none is taken for another.
    made: u64,
}

/// The buckets of a principal: its own, and one for each limit of targets.
struct Buckets {
    /// Their number.
    number: u64,
    own: Bucket,
    targets: Box<[Bucket]>,
}

impl Limits {
    /// A limiter by these settings.
    pub fn new(settings: LimitSettings, clock: Clock) -> Self {
        let settings = Arc::new(settings);
        let shard = || {
            let settings = Arc::clone(&settings);
            let (rest, buckets) = (Buckets::new(&settings, 0), QuickMap::default());
            RwLock::new(Shard { settings, buckets, rest, made: 0 })
        };
        Self {
            start: clock.now(),
            clock,
            hasher: QuickState::default(),
            shards: (0..SHARDS).map(|_| shard()).collect(),
            sources: RwLock::default(),
        }
    }

    /// Goes by other settings from now on.
    pub fn set(&self, settings: LimitSettings) {
        let settings = Arc::new(settings);
        let now = self.now();
        for shard in &self.shards {
            write(shard).set(&settings, now);
        }
        for (source, places) in read(&self.sources).iter() {
            places.set_room(settings.room(source));
        }
    }

    /// Nanoseconds since the limiter began.
    fn now(&self) -> u64 {
        let since = self.clock.now().saturating_duration_since(self.start);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    fn shard(&self, principal: &PrincipalId) -> &RwLock<Shard> {
        let hash = self.hasher.hash_one(principal);
        &self.shards[usize::try_from(hash % SHARDS as u64).unwrap_or_default()]
    }

    fn places(&self, source: &SourceId) -> Option<Arc<Places>> {
        if let Some(places) = read(&self.sources).get(source) {
            return Some(Arc::clone(places));
        }
        // In this order: whoever sets others after this finds the source, and changes its room.
        let mut sources = write(&self.sources);
        let settings = Arc::clone(&read(self.shards.first()?).settings);
        let places = sources.entry(source.clone()).or_insert_with(|| Places::new(settings.room(source)));
        Some(Arc::clone(places))
    }

    fn take_of(&self, request: Request<'_>) -> Result<Taken, TooMany> {
        let id = &request.principal.id;
        let shard = self.shard(id);
        let now = self.now();
        {
            let shard = read(shard);
            if !shard.settings.paced {
                return Ok(Taken::default());
            }
            if let Some(buckets) = shard.buckets.get(id) {
                return buckets.take(&shard.settings, request, now);
            }
        }
        let mut shard = write(shard);
        shard.make_room(now);
        let Shard { settings, buckets, rest, made } = &mut *shard;
        if buckets.len() >= MOST && !buckets.contains_key(id) {
            return rest.take(settings, request, now);
        }
        *made += 1;
        let buckets = buckets.entry(id.clone()).or_insert_with(|| Buckets::new(settings, *made));
        buckets.take(settings, request, now)
    }
}

/// What tokens are taken for.
#[derive(Clone, Copy)]
struct Request<'a> {
    principal: &'a Principal,
    target: Option<&'a Target>,
    /// Whether the principal's own bucket counts it, beside those of the target.
    own: bool,
}

impl Limiter for Limits {
    fn take(&self, principal: &Principal, target: Option<&Target>) -> Result<Taken, TooMany> {
        self.take_of(Request { principal, target, own: true })
    }

    fn give_back(&self, principal: &Principal, _: &Target, taken: &Taken) {
        let shard = read(self.shard(&principal.id));
        let buckets = shard.buckets.get(&principal.id);
        // Of others than it was taken of, or under other settings, it means nothing.
        if let Some(buckets) = buckets.filter(|buckets| buckets.number == taken.buckets) {
            buckets.give_back(&shard.settings, principal, taken, self.now());
        }
    }

    fn take_nested(&self, principal: &Principal, target: &Target) -> Result<Taken, TooMany> {
        self.take_of(Request { principal, target: Some(target), own: false })
    }

    fn enter(&self, principal: &Principal, source: &SourceId) -> Admission<'_> {
        match self.places(source) {
            Some(places) => places.enter(&principal.id),
            None => Admission::Now(Place::default()),
        }
    }
}

impl Shard {
    /// A bucket that is full is like one that never was.
    fn make_room(&mut self, now: u64) {
        if self.buckets.len() >= MOST {
            self.buckets.retain(|_, buckets| !buckets.are_full(now));
        }
    }

    fn set(&mut self, settings: &Arc<LimitSettings>, now: u64) {
        let before = std::mem::replace(&mut self.settings, Arc::clone(settings));
        self.made += 1;
        for (principal, buckets) in &mut self.buckets {
            let (from, to) = (before.pace(principal), settings.pace(principal));
            *buckets = Buckets {
                number: self.made,
                own: buckets.own.at_another_pace(from, to, now),
                targets: settings.carry_over(&before, &buckets.targets, now),
            };
        }
        self.rest = Buckets::new(settings, 0);
    }
}

impl Buckets {
    fn new(settings: &LimitSettings, number: u64) -> Self {
        let targets = settings.targets().map(|_| Bucket::default()).collect();
        Self { number, own: Bucket::default(), targets }
    }

    /// A token of every bucket that counts, or none.
    fn take(&self, settings: &LimitSettings, request: Request<'_>, now: u64) -> Result<Taken, TooMany> {
        let Request { principal, target, own } = request;
        let refuse = |bucket: &Bucket, retry_after| TooMany { retry_after, first: bucket.refused() };
        let mut taken = Taken { buckets: self.number, ..Taken::default() };
        if own {
            let pace = settings.pace(&principal.id);
            taken.own = Some(self.own.take(pace, now).map_err(|wait| refuse(&self.own, wait))?);
        }
        let matching = settings.matching(principal, target);
        let mut targets = Vec::new();
        for (place, paced) in settings.targets().enumerate().filter(|(place, _)| matching & 1 << place != 0) {
            match self.targets[place].take(paced, now) {
                Ok(back_at) => targets.push((place, back_at)),
                Err(wait) => {
                    taken.targets = targets.into();
                    self.give_back(settings, principal, &taken, now);
                    return Err(refuse(&self.targets[place], wait));
                }
            }
        }
        if own {
            self.own.granted();
        }
        targets.iter().for_each(|(place, _)| self.targets[*place].granted());
        taken.targets = targets.into();
        Ok(taken)
    }

    /// What was taken of these very buckets, by these settings.
    fn give_back(&self, settings: &LimitSettings, principal: &Principal, taken: &Taken, now: u64) {
        if let Some(back_at) = taken.own {
            self.own.give_back(settings.pace(&principal.id), back_at, now);
        }
        for (place, back_at) in &taken.targets {
            if let (Some(bucket), Some(pace)) = (self.targets.get(*place), settings.targets().nth(*place)) {
                bucket.give_back(pace, *back_at, now);
            }
        }
    }

    fn are_full(&self, now: u64) -> bool {
        self.own.is_full(now) && self.targets.iter().all(|bucket| bucket.is_full(now))
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
