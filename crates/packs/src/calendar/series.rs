//! An event with all its occurrences: what a rule gives, what is added and left out, and what takes their place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::budget::{Budget, Spent};
use super::civil::{DAY, moved, seconds};
use super::event::{Event, When, day_later};
use super::ical::Length;
use super::rule::{Range, Rule};

/// How far clocks are moved at once, at most.
const CLOCK_CHANGE: i64 = 3 * 3600;

/// What is asked for.
#[derive(Debug, Clone)]
pub(super) struct Window {
    pub(super) from: Timestamp,
    /// This instant does not belong to it.
    pub(super) to: Timestamp,
    /// The time zone of the answer, which floating times and whole days are in.
    pub(super) zone: TimeZone,
    /// How many occurrences are wanted, of one event and of all.
    pub(super) most: usize,
}

/// An event and what takes the place of its occurrences.
#[derive(Debug, Default)]
pub(super) struct Series {
    pub(super) main: Option<Arc<Event>>,
    /// By the time that they take the place of, by the clock of the main event.
    pub(super) instead: BTreeMap<DateTime, Arc<Event>>,
    /// The same, for all times from then on.
    pub(super) future: BTreeMap<DateTime, Arc<Event>>,
}

/// One time that an event is at.
#[derive(Debug, Clone)]
pub(super) struct Occurrence {
    pub(super) event: Arc<Event>,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) shown: Shown,
    pub(super) recurring: bool,
}

/// How a time is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Whole days, the last included.
    Days(Date, Date),
    /// Instants.
    Times,
    /// Clock times wherever one is.
    Floating(DateTime, DateTime),
}

impl Series {
    /// Adds all occurrences in a window.
    ///
    /// # Errors
    /// The rules take too many steps; what was found so far is there.
    pub(super) fn occurrences(
        &self,
        window: &Window,
        budget: &mut Budget,
        found: &mut Vec<Occurrence>,
    ) -> Result<(), Spent> {
        let recurring = self.main.as_ref().is_none_or(|main| main.recurs());
        for event in self.instead.values() {
            budget.spend(1)?;
            let placed = Occurrence::place(event, event.start.at, event.length, window, recurring);
            found.extend(placed.filter(|_| !event.cancelled));
        }
        let Some(main) = &self.main else { return Ok(()) };
        let mut taking =
            Taking { series: self, main, window, found, seen: BTreeSet::new(), left: window.most };
        taking.take_all(budget)
    }

    /// The event that says what an occurrence is like, and how much earlier or later it is.
    fn teller(&self, main: &Arc<Event>, at: DateTime) -> (Arc<Event>, DateTime) {
        match self.future.range(..=at).next_back() {
            Some((from, event)) => {
                let by = seconds(event.start.at) - seconds(*from);
                (event.clone(), moved(at, by))
            }
            None => (main.clone(), at),
        }
    }

    /// How much earlier than a window, and how much later, occurrences have to be looked for.
    fn slack(&self, main: &Event) -> (i64, i64) {
        let (mut before, mut behind) = (main.length.at_most(), 0);
        let added = main.added.values().flatten().map(|length| length.at_most());
        before = added.fold(before, i64::max);
        for (from, event) in &self.future {
            let by = seconds(event.start.at) - seconds(*from);
            before = before.max(event.length.at_most() + by.max(0));
            behind = behind.max((-by).max(0));
        }
        // Those who moved it may have moved it to another time zone.
        let elsewhere = if self.future.is_empty() { CLOCK_CHANGE } else { 2 * DAY };
        (before + elsewhere, behind + elsewhere)
    }
}

/// Occurrences being taken from an event.
struct Taking<'a> {
    series: &'a Series,
    main: &'a Arc<Event>,
    window: &'a Window,
    found: &'a mut Vec<Occurrence>,
    /// A time that two rules give is one time.
    seen: BTreeSet<Timestamp>,
    left: usize,
}

impl Taking<'_> {
    fn take_all(&mut self, budget: &mut Budget) -> Result<(), Spent> {
        let (main, here) = (self.main, &self.window.zone);
        let (before, behind) = self.series.slack(main);
        let clock = |at: Timestamp| main.start.zone.clock(at, here);
        let range = Range {
            start: main.start.at,
            from: moved(clock(self.window.from), -before),
            to: moved(clock(self.window.to), behind),
        };
        if range.from > range.to {
            return Ok(());
        }
        let left_out = self.left_out(&range, budget)?;
        let without = |at: &DateTime| {
            main.left_out.contains(at) || main.days_left_out.contains(&at.date()) || left_out.contains(at)
        };
        let added = main.added.range(range.from..=range.to).map(|(at, length)| (*at, *length));
        let first = Some((range.start, None)).filter(|_| !main.added.contains_key(&range.start));
        for (at, length) in first.into_iter().chain(added) {
            budget.spend(1)?;
            if !without(&at) && !self.take(at, length) {
                break;
            }
        }
        for rule in &main.rules {
            self.left = self.window.most;
            self.follow(rule, &range, budget, &without)?;
        }
        Ok(())
    }

    fn follow(
        &mut self,
        rule: &Rule,
        range: &Range,
        budget: &mut Budget,
        without: &impl Fn(&DateTime) -> bool,
    ) -> Result<(), Spent> {
        let to = self.main.until(rule).map_or(range.to, |until| until.min(range.to));
        rule.walk(&Range { to, ..*range }, budget, &mut |at| without(&at) || self.take(at, None))
    }

    /// What rules for leaving out give in the range.
    fn left_out(&self, range: &Range, budget: &mut Budget) -> Result<BTreeSet<DateTime>, Spent> {
        let mut left_out = BTreeSet::new();
        for rule in &self.main.without {
            let to = self.main.until(rule).map_or(range.to, |until| until.min(range.to));
            rule.walk(&Range { to, ..*range }, budget, &mut |at| {
                left_out.insert(at);
                true
            })?;
        }
        Ok(left_out)
    }

    /// Takes a time, and tells whether more are wanted.
    fn take(&mut self, at: DateTime, length: Option<Length>) -> bool {
        if self.series.instead.contains_key(&at) {
            return true;
        }
        let (event, at) = self.series.teller(self.main, at);
        if event.cancelled {
            return true;
        }
        let length = length.unwrap_or(event.length);
        let placed = Occurrence::place(&event, at, length, self.window, self.main.recurs());
        if let Some(occurrence) = placed.filter(|placed| self.seen.insert(placed.start)) {
            self.found.push(occurrence);
            self.left = self.left.saturating_sub(1);
        }
        self.left > 0
    }
}

impl Occurrence {
    /// An event at a time of its clock, if any of that is in the window.
    fn place(
        event: &Arc<Event>,
        at: DateTime,
        length: Length,
        window: &Window,
        recurring: bool,
    ) -> Option<Self> {
        let When { zone, whole_day, .. } = &event.start;
        let here = &window.zone;
        let (start, end, shown) = if *whole_day {
            let (first, behind) = (at.date(), day_later(at.date(), length.days.max(1)));
            let day = |day: Date| here.to_timestamp(day.into()).ok();
            let last = day_later(first, length.days.max(1) - 1);
            (day(first)?, day(behind)?, Shown::Days(first, last))
        } else {
            let start = zone.instant(at, here)?;
            // Days are those of the calendar, and what is beside them is time that passes.
            let days_later =
                if length.days > 0 { zone.instant(moved(at, length.days * DAY), here)? } else { start };
            let end = Timestamp::from_second(days_later.as_second() + length.seconds).ok()?;
            let shown =
                if zone.is_floating() { Shown::Floating(at, here.to_datetime(end)) } else { Shown::Times };
            (start, end, shown)
        };
        let touches = start < window.to && (end > window.from || (start == end && start >= window.from));
        touches.then(|| Self { event: event.clone(), start, end, shown, recurring })
    }
}
