//! Rules of recurrence (`RRULE`), bounded by construction: what they say, and which times that means.
//!
//! A rule is followed in the clock time of its event; what that is elsewhere is up to `zone`.

mod days;
mod parse;
#[cfg(test)]
mod tests;
mod walk;

use jiff::civil::{DateTime, Weekday};

use super::ical::Written;

pub(super) use walk::Range;

/// How often a rule looks for times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Freq {
    Yearly,
    Monthly,
    Weekly,
    Daily,
    Hourly,
    Minutely,
    Secondly,
}

/// A rule of recurrence. Its lists are sorted and hold nothing twice, so none is longer than there are values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    freq: Freq,
    interval: i64,
    count: Option<u64>,
    /// The last time, as it is written.
    pub(super) until: Option<Written>,
    months: Vec<i64>,
    weeks: Vec<i64>,
    year_days: Vec<i64>,
    month_days: Vec<i64>,
    week_days: Vec<WeekDay>,
    hours: Vec<i64>,
    minutes: Vec<i64>,
    seconds: Vec<i64>,
    positions: Vec<i64>,
    week_start: Weekday,
}

/// A day of the week: all of them, or the nth of a month or a year, from its end if it is negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WeekDay {
    nth: i64,
    /// Monday is 0.
    day: i8,
}

impl Rule {
    /// Fills in what the rule leaves to the first time.
    fn completed(&self, start: DateTime) -> Self {
        let mut rule = self.clone();
        let whole = |value: i8| vec![i64::from(value)];
        let no_day = rule.month_days.is_empty() && rule.week_days.is_empty() && rule.year_days.is_empty();
        let week_day = || vec![WeekDay { nth: 0, day: start.weekday().to_monday_zero_offset() }];
        match rule.freq {
            Freq::Yearly if no_day && !rule.weeks.is_empty() => rule.week_days = week_day(),
            Freq::Yearly if no_day => {
                rule.month_days = whole(start.day());
                if rule.months.is_empty() {
                    rule.months = whole(start.month());
                }
            }
            Freq::Monthly if no_day => rule.month_days = whole(start.day()),
            Freq::Weekly if no_day => rule.week_days = week_day(),
            Freq::Yearly | Freq::Monthly | Freq::Weekly => {}
            Freq::Daily | Freq::Hourly | Freq::Minutely | Freq::Secondly => {}
        }
        if rule.hours.is_empty() && rule.freq <= Freq::Daily {
            rule.hours = whole(start.hour());
        }
        if rule.minutes.is_empty() && rule.freq <= Freq::Hourly {
            rule.minutes = whole(start.minute());
        }
        if rule.seconds.is_empty() && rule.freq <= Freq::Minutely {
            rule.seconds = whole(start.second());
        }
        rule
    }

    /// Whether every interval has exactly one time, so that the nth one can be told without the others.
    fn is_plain(&self) -> bool {
        let lists =
            [&self.months, &self.weeks, &self.year_days, &self.month_days, &self.hours, &self.minutes];
        self.freq >= Freq::Weekly
            && self.week_days.is_empty()
            && lists.iter().all(|list| list.is_empty())
            && self.seconds.is_empty()
            && self.positions.is_empty()
    }
}
