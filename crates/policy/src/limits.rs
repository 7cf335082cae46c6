//! How often, and how many at once: the limiter.

mod settings;

use std::hash::BuildHasher as _;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

use toolgate_core::{
    Admission, Limiter, Place, Principal, PrincipalId, QuickMap, QuickState, SourceId, Target, TooMany,
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
}

/// The buckets of a principal: its own, and one for each limit of targets.
struct Buckets {
    own: Bucket,
    targets: Box<[Bucket]>,
}

impl Limits {
    /// A limiter by these settings.
    pub fn new(settings: LimitSettings, clock: Clock) -> Self {
        let settings = Arc::new(settings);
        let shard = || {
            let settings = Arc::clone(&settings);
            RwLock::new(Shard { rest: Buckets::new(&settings), settings, buckets: QuickMap::default() })
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

    fn take_of(&self, request: Request<'_>) -> Result<(), TooMany> {
        let id = &request.principal.id;
        let shard = self.shard(id);
        let now = self.now();
        {
            let shard = read(shard);
            if !shard.settings.paced {
                return Ok(());
            }
            if let Some(buckets) = shard.buckets.get(id) {
                return buckets.take(&shard.settings, request, now);
            }
        }
        let mut shard = write(shard);
        shard.make_room(now);
        let Shard { settings, buckets, rest } = &mut *shard;
        if buckets.len() >= MOST && !buckets.contains_key(id) {
            return rest.take(settings, request, now);
        }
        let buckets = buckets.entry(id.clone()).or_insert_with(|| Buckets::new(settings));
        buckets.take(settings, request, now)
    }

    fn give_back_of(&self, request: Request<'_>) {
        let Request { principal, target, own } = request;
        let shard = read(self.shard(&principal.id));
        if let Some(buckets) = shard.buckets.get(&principal.id).filter(|_| shard.settings.paced) {
            if own {
                buckets.own.give_back(shard.settings.pace(&principal.id));
            }
            let matching = shard.settings.matching(principal, target);
            buckets.give_back(&shard.settings, matching);
        }
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
    fn take(&self, principal: &Principal, target: Option<&Target>) -> Result<(), TooMany> {
        self.take_of(Request { principal, target, own: true })
    }

    fn give_back(&self, principal: &Principal, target: &Target) {
        self.give_back_of(Request { principal, target: Some(target), own: true });
    }

    fn take_nested(&self, principal: &Principal, target: &Target) -> Result<(), TooMany> {
        self.take_of(Request { principal, target: Some(target), own: false })
    }

    fn give_back_nested(&self, principal: &Principal, target: &Target) {
        self.give_back_of(Request { principal, target: Some(target), own: false });
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
        for (principal, buckets) in &mut self.buckets {
            let (from, to) = (before.pace(principal), settings.pace(principal));
            *buckets = Buckets {
                own: buckets.own.at_another_pace(from, to, now),
                targets: settings.carry_over(&before, &buckets.targets, now),
            };
        }
        self.rest = Buckets::new(settings);
    }
}

impl Buckets {
    fn new(settings: &LimitSettings) -> Self {
        Self { own: Bucket::default(), targets: settings.targets().map(|_| Bucket::default()).collect() }
    }

    /// A token of every bucket that counts, or none.
    fn take(&self, settings: &LimitSettings, request: Request<'_>, now: u64) -> Result<(), TooMany> {
        let Request { principal, target, own } = request;
        let pace = settings.pace(&principal.id);
        let refuse = |bucket: &Bucket, retry_after| TooMany { retry_after, first: bucket.refused() };
        if own {
            self.own.take(pace, now).map_err(|wait| refuse(&self.own, wait))?;
        }
        let matching = settings.matching(principal, target);
        let mut taken = 0;
        for (place, paced) in settings.targets().enumerate().filter(|(place, _)| matching & 1 << place != 0) {
            if let Err(wait) = self.targets[place].take(paced, now) {
                if own {
                    self.own.give_back(pace);
                }
                self.give_back(settings, taken);
                return Err(refuse(&self.targets[place], wait));
            }
            taken |= 1 << place;
        }
        if own {
            self.own.granted();
        }
        self.of(taken).for_each(Bucket::granted);
        Ok(())
    }

    fn give_back(&self, settings: &LimitSettings, taken: u64) {
        for (place, pace) in settings.targets().enumerate().filter(|(place, _)| taken & 1 << place != 0) {
            self.targets[place].give_back(pace);
        }
    }

    fn of(&self, places: u64) -> impl Iterator<Item = &Bucket> {
        self.targets
            .iter()
            .enumerate()
            .filter(move |(place, _)| places & 1 << place != 0)
            .map(|(_, bucket)| bucket)
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
