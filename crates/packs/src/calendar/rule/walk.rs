//! Following a rule: it begins where one is interested wherever it can, and never makes a list that only it is to blame
//! for.

use jiff::civil::{Date, DateTime};

use super::{Freq, Rule};
use crate::calendar::budget::{Budget, Spent};
use crate::calendar::civil::{DAY, clock, seconds};

/// What is asked of a rule, in clock times of the event. Both ends belong to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    /// The first time of the event.
    pub(crate) start: DateTime,
    pub(crate) from: DateTime,
    pub(crate) to: DateTime,
}

impl Rule {
    /// Shows all times of a range to `found`, in order, until that says it has enough.
    ///
    /// # Errors
    /// It takes too many steps.
    pub(crate) fn walk(
        &self,
        range: &Range,
        budget: &mut Budget,
        found: &mut dyn FnMut(DateTime) -> bool,
    ) -> Result<(), Spent> {
        let rule = self.completed(range.start);
        // A day can have as many times as seconds.
        budget.spend(1 + rule.clocks().iter().map(|list| list.len() as u64).product::<u64>() / 8)?;
        let times = rule.times();
        let start = seconds(range.start);
        let mut walk = Walk {
            from: seconds(range.from).max(start),
            to: seconds(range.to),
            left: self.count,
            begun: false,
            start,
            times,
            rule,
            first: range.start,
        };
        let ahead = walk.interval_of(walk.from).unwrap_or(0).max(0);
        let mut next = 0;
        if self.count.is_none() {
            next = ahead;
        } else if self.is_plain() {
            walk.begun = ahead > 0;
            walk.left = walk.left.and_then(|left| left.checked_sub(ahead.unsigned_abs()));
            next = ahead;
            if walk.left.is_none() {
                return Ok(());
            }
        }
        while let Some(interval) = walk.interval(next) {
            budget.spend(interval.steps)?;
            if !walk.show(&interval.bases, budget, found)? {
                break;
            }
            next = interval.next;
        }
        Ok(())
    }

    /// The hours, minutes and seconds that times of the rule are made of.
    fn clocks(&self) -> [&[i64]; 3] {
        let zero = &[0][..];
        [
            if self.freq <= Freq::Daily { &self.hours } else { zero },
            if self.freq <= Freq::Hourly { &self.minutes } else { zero },
            if self.freq <= Freq::Minutely { &self.seconds } else { zero },
        ]
    }

    /// The seconds behind the beginning of a day, an hour, a minute, that times of the rule are at.
    fn times(&self) -> Vec<i64> {
        let [hours, minutes, seconds] = self.clocks();
        let mut times = Vec::with_capacity(hours.len() * minutes.len() * seconds.len());
        for hour in hours {
            for minute in minutes {
                times.extend(seconds.iter().map(|second| hour * 3600 + minute * 60 + second));
            }
        }
        times
    }
}

/// A rule under way. All times are clock times, as seconds.
struct Walk {
    rule: Rule,
    times: Vec<i64>,
    first: DateTime,
    start: i64,
    from: i64,
    to: i64,
    /// How many times are left.
    left: Option<u64>,
    /// Whether a time has been counted.
    begun: bool,
}

/// One interval: where its days, hours, minutes begin that count.
struct Interval {
    bases: Vec<i64>,
    /// The next one that may have any.
    next: i64,
    steps: u64,
}

impl Walk {
    /// The interval that a time is in, by number, or the one before it.
    fn interval_of(&self, at: i64) -> Option<i64> {
        let then = clock(at)?;
        let (year, month) = (i64::from(then.year()), i64::from(then.month()));
        let first = (i64::from(self.first.year()), i64::from(self.first.month()));
        let apart = match self.rule.freq {
            Freq::Yearly => year - first.0,
            Freq::Monthly => (year - first.0) * 12 + month - first.1,
            Freq::Weekly | Freq::Daily | Freq::Hourly | Freq::Minutely | Freq::Secondly => {
                (at - self.origin()).div_euclid(self.unit())
            }
        };
        Some(apart.div_euclid(self.rule.interval))
    }

    /// Where the first interval begins, if intervals have a fixed length.
    fn origin(&self) -> i64 {
        let day = self.start.div_euclid(DAY) * DAY;
        match self.rule.freq {
            Freq::Weekly => day - i64::from(self.first.weekday().since(self.rule.week_start)) * DAY,
            Freq::Yearly | Freq::Monthly | Freq::Daily => day,
            Freq::Hourly | Freq::Minutely | Freq::Secondly => {
                self.start.div_euclid(self.unit()) * self.unit()
            }
        }
    }

    /// How long what the interval counts is.
    fn unit(&self) -> i64 {
        match self.rule.freq {
            Freq::Yearly | Freq::Monthly | Freq::Daily => DAY,
            Freq::Weekly => 7 * DAY,
            Freq::Hourly => 3600,
            Freq::Minutely => 60,
            Freq::Secondly => 1,
        }
    }

    /// An interval by its number; none, if it is beyond what is asked for.
    fn interval(&self, number: i64) -> Option<Interval> {
        let ahead = number.checked_mul(self.rule.interval)?;
        match self.rule.freq {
            Freq::Yearly => {
                let year = i16::try_from(ahead.checked_add(self.first.year().into())?).ok()?;
                let first = Date::new(year, 1, 1).ok()?;
                self.days(number, first, first.days_in_year().into())
            }
            Freq::Monthly => {
                let months = ahead.checked_add(i64::from(self.first.month()) - 1)?;
                let year = months.div_euclid(12).checked_add(self.first.year().into())?;
                let month = i8::try_from(months.rem_euclid(12) + 1).ok()?;
                let first = Date::new(i16::try_from(year).ok()?, month, 1).ok()?;
                self.days(number, first, first.days_in_month().into())
            }
            Freq::Weekly | Freq::Daily => {
                let begin = ahead.checked_mul(self.unit())?.checked_add(self.origin())?;
                self.days(number, clock(begin)?.date(), self.unit() / DAY)
            }
            Freq::Hourly | Freq::Minutely | Freq::Secondly => self.part_of_day(number, ahead),
        }
    }

    fn days(&self, number: i64, first: Date, days: i64) -> Option<Interval> {
        let begin = seconds(first.into());
        if begin > self.to {
            return None;
        }
        let mut bases = Vec::new();
        let mut date = first;
        for ahead in 0..days {
            if self.rule.has_day(date) {
                bases.push(begin + ahead * DAY);
            }
            // The calendar ends with the year 9999.
            let Ok(tomorrow) = date.tomorrow() else { break };
            date = tomorrow;
        }
        Some(Interval { bases, next: number + 1, steps: 1 + days.unsigned_abs() / 8 })
    }

    /// An hour, a minute or a second; the next one that may count lies behind what does not.
    fn part_of_day(&self, number: i64, ahead: i64) -> Option<Interval> {
        let base = ahead.checked_mul(self.unit())?.checked_add(self.origin())?;
        if base > self.to {
            return None;
        }
        let (at, rule) = (clock(base)?, &self.rule);
        let lacks = |list: &[i64], value: i8| !list.is_empty() && !list.contains(&value.into());
        let skipped = if !rule.has_day(at.date()) {
            DAY
        } else if lacks(&rule.hours, at.hour()) {
            3600
        } else if rule.freq > Freq::Hourly && lacks(&rule.minutes, at.minute()) {
            60
        } else if rule.freq > Freq::Minutely && lacks(&rule.seconds, at.second()) {
            1
        } else {
            return Some(Interval { bases: vec![base], next: number + 1, steps: 1 });
        };
        let behind = (base.div_euclid(skipped) + 1) * skipped - self.origin();
        let step = self.unit().checked_mul(rule.interval)?;
        let next = (behind.div_euclid(step) + i64::from(behind.rem_euclid(step) > 0)).max(number + 1);
        Some(Interval { bases: Vec::new(), next, steps: 1 })
    }

    /// Shows what an interval has, and tells whether to go on.
    fn show(
        &mut self,
        bases: &[i64],
        budget: &mut Budget,
        found: &mut dyn FnMut(DateTime) -> bool,
    ) -> Result<bool, Spent> {
        let each = self.times.len();
        if !self.rule.positions.is_empty() {
            for place in places(&self.rule.positions, bases.len() * each) {
                budget.spend(1)?;
                if !self.offer(bases[place / each] + self.times[place % each], found) {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        for base in bases {
            if base + DAY < self.from && self.begun && *base > self.start {
                // Nobody asks for these, but they count.
                budget.spend(1)?;
                let Some(left) = &mut self.left else { continue };
                *left = left.saturating_sub(each as u64);
                continue;
            }
            let least = if self.left.is_some() { self.start } else { self.from };
            let begin = self.times.partition_point(|time| base + time < least);
            for place in begin..each {
                budget.spend(1)?;
                if !self.offer(base + self.times[place], found) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Shows one time, if it is asked for, and tells whether to go on.
    fn offer(&mut self, at: i64, found: &mut dyn FnMut(DateTime) -> bool) -> bool {
        if at < self.start {
            return true;
        }
        if let Some(left) = &mut self.left {
            // The first time of the event is the first of the rule, whether it fits or not.
            let taken = if self.begun || at == self.start { 1 } else { 2 };
            match left.checked_sub(taken) {
                Some(rest) => *left = rest,
                None => return false,
            }
        }
        self.begun = true;
        if at > self.to {
            return false;
        }
        at < self.from || clock(at).is_some_and(found)
    }
}

/// The places of a list that positions mean, in order.
fn places(positions: &[i64], length: usize) -> Vec<usize> {
    let place = |position: &i64| {
        let from = usize::try_from(position.unsigned_abs()).ok()?;
        if *position > 0 { Some(from - 1).filter(|place| *place < length) } else { length.checked_sub(from) }
    };
    let mut places: Vec<usize> = positions.iter().filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}
