//! Reading a rule.

use std::ops::RangeInclusive;

use jiff::civil::Weekday;

use super::{Freq, Rule, WeekDay};
use crate::calendar::ical::Written;

impl Rule {
    /// Reads the value of an `RRULE`; nothing, if it cannot be followed as it is meant.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rule = Self {
            freq: Freq::Yearly,
            interval: 1,
            count: None,
            until: None,
            months: Vec::new(),
            weeks: Vec::new(),
            year_days: Vec::new(),
            month_days: Vec::new(),
            week_days: Vec::new(),
            hours: Vec::new(),
            minutes: Vec::new(),
            seconds: Vec::new(),
            positions: Vec::new(),
            week_start: Weekday::Monday,
        };
        let mut freq = None;
        for part in text.split(';').filter(|part| !part.trim().is_empty()) {
            let (name, value) = part.split_once('=')?;
            let (name, value) = (name.trim().to_ascii_uppercase(), value.trim());
            match name.as_str() {
                "FREQ" => freq = Some(frequency(value)?),
                _ => rule.part(&name, value)?,
            }
        }
        rule.freq = freq?;
        Some(rule)
    }

    fn part(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "INTERVAL" => self.interval = value.parse().ok().filter(|number| *number >= 1)?,
            "COUNT" => self.count = Some(value.parse().ok().filter(|number| *number >= 1)?),
            "UNTIL" => self.until = Some(Written::parse(value)?),
            "BYMONTH" => self.months = numbers(value, 1..=12)?,
            "BYWEEKNO" => self.weeks = signed(value, 53)?,
            "BYYEARDAY" => self.year_days = signed(value, 366)?,
            "BYMONTHDAY" => self.month_days = signed(value, 31)?,
            "BYSETPOS" => self.positions = signed(value, 366)?,
            "BYHOUR" => self.hours = numbers(value, 0..=23)?,
            "BYMINUTE" => self.minutes = numbers(value, 0..=59)?,
            "BYSECOND" => {
                // A leap second is there too seldom to be waited for.
                self.seconds = numbers(value, 0..=60)?.into_iter().map(|second| second.min(59)).collect();
                self.seconds.dedup();
            }
            "BYDAY" => self.week_days = sorted(value.split(',').map(week_day))?,
            "WKST" => self.week_start = Weekday::from_monday_zero_offset(day(value.trim())?).ok()?,
            // A rule in another calendar means other days.
            "RSCALE" => return value.eq_ignore_ascii_case("GREGORIAN").then_some(()),
            "SKIP" => return value.eq_ignore_ascii_case("OMIT").then_some(()),
            // What is not known is not a rule's business to fail over.
            _ => {}
        }
        Some(())
    }
}

fn frequency(word: &str) -> Option<Freq> {
    Some(match word.to_ascii_uppercase().as_str() {
        "YEARLY" => Freq::Yearly,
        "MONTHLY" => Freq::Monthly,
        "WEEKLY" => Freq::Weekly,
        "DAILY" => Freq::Daily,
        "HOURLY" => Freq::Hourly,
        "MINUTELY" => Freq::Minutely,
        "SECONDLY" => Freq::Secondly,
        _ => return None,
    })
}

fn numbers(list: &str, range: RangeInclusive<i64>) -> Option<Vec<i64>> {
    sorted(list.split(',').map(|text| text.trim().parse().ok().filter(|number| range.contains(number))))
}

/// Numbers that count from the beginning or, if they are negative, from the end.
fn signed(list: &str, most: i64) -> Option<Vec<i64>> {
    numbers(list, -most..=most).filter(|list| !list.contains(&0))
}

fn sorted<T: Ord>(values: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let mut values = values.collect::<Option<Vec<T>>>()?;
    values.sort();
    values.dedup();
    Some(values)
}

/// A day of the week with or without a number, such as `MO` or `-1FR`.
fn week_day(text: &str) -> Option<WeekDay> {
    let text = text.trim();
    let (number, name) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let nth = if number.is_empty() { 0 } else { number.parse().ok().filter(|nth| *nth != 0)? };
    (-53..=53).contains(&nth).then_some(WeekDay { nth, day: day(name)? })
}

fn day(name: &str) -> Option<i8> {
    let names = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
    let place = names.iter().position(|known| known.eq_ignore_ascii_case(name))?;
    i8::try_from(place).ok()
}
