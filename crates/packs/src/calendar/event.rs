//! One event as it is written: when it begins, how long it lasts, how it recurs, and what it says.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::civil::{DAY, later, moved, seconds};
use super::ical::{Length, Property, Written};
use super::rule::Rule;
use super::zone::{Zone, Zones};

/// How many rules one event may have. One is what the standard wants.
const MOST_RULES: usize = 8;

/// How much of a text is kept; the longest that anyone shows is shorter.
const MOST_TEXT: usize = 8_000;

/// A clock time and where the clock hangs, or a whole day.
#[derive(Debug, Clone)]
pub(super) struct When {
    /// Of a day, its beginning.
    pub(super) at: DateTime,
    pub(super) zone: Zone,
    pub(super) whole_day: bool,
}

/// An event, or one occurrence of an event that differs from the others.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) uid: Option<String>,
    pub(super) sequence: i64,
    /// When it was last written, in digits that can be compared.
    pub(super) changed: String,
    pub(super) start: When,
    pub(super) length: Length,
    pub(super) rules: Vec<Rule>,
    pub(super) without: Vec<Rule>,
    /// Times that are added, by the clock of the start, some with a length of their own.
    pub(super) added: BTreeMap<DateTime, Option<Length>>,
    pub(super) left_out: BTreeSet<DateTime>,
    pub(super) days_left_out: BTreeSet<Date>,
    /// Which occurrence it takes the place of.
    pub(super) instead: Option<Instead>,
    pub(super) cancelled: bool,
    pub(super) summary: String,
    pub(super) location: Option<String>,
    pub(super) description: Option<String>,
    pub(super) url: Option<String>,
    pub(super) tentative: bool,
}

/// Which occurrence an event takes the place of.
#[derive(Debug, Clone)]
pub(super) struct Instead {
    pub(super) when: When,
    /// Also of all that follow.
    pub(super) future: bool,
}

/// What came of an event.
#[derive(Debug)]
pub(super) struct ReadEvent {
    pub(super) event: Event,
    /// Whether it has a rule that cannot be followed.
    pub(super) bad_rule: bool,
}

impl When {
    fn read(property: &Property<'_>, zones: &mut Zones) -> Option<Self> {
        Self::of(Written::parse(property.value)?, property, zones)
    }

    fn of(written: Written, property: &Property<'_>, zones: &mut Zones) -> Option<Self> {
        let (at, zone, whole_day) = match written {
            Written::Day(day) => (day.into(), Zone::Floating, true),
            Written::Utc(at) => (at, Zone::UTC, false),
            Written::Local(at) => {
                let zone = property.param("TZID").map_or(Zone::Floating, |name| zones.find(name));
                (at, zone, false)
            }
        };
        // Sums with times at the very ends of the calendar would leave it.
        (1..=9990).contains(&at.year()).then_some(Self { at, zone, whole_day })
    }

    /// The same by the clock of another; of a whole day, only the day counts.
    pub(super) fn by_clock_of(&self, other: &Self) -> DateTime {
        match (self.whole_day, other.whole_day) {
            (true, true) => self.at,
            (true, false) => DateTime::from_parts(self.at.date(), other.at.time()),
            (false, true) => self.at.date().into(),
            (false, false) => other.zone.from(self.at, &self.zone),
        }
    }
}

impl Event {
    /// Reads the lines of an event; nothing, if it does not say when it is.
    pub(super) fn read(lines: &[Property<'_>], zones: &mut Zones) -> Option<ReadEvent> {
        let line = |name: &str| lines.iter().find(|line| line.is(name));
        let text = |name: &str| line(name).map(|line| cut(&line.text())).filter(|text| !text.is_empty());
        let word = |name: &str, word: &str| {
            line(name).is_some_and(|line| line.value.trim().eq_ignore_ascii_case(word))
        };
        let start = When::read(line("DTSTART")?, zones)?;
        let instead = line("RECURRENCE-ID").and_then(|line| {
            let future = line.param("RANGE").is_some_and(|range| range.eq_ignore_ascii_case("THISANDFUTURE"));
            Some(Instead { when: When::read(line, zones)?, future })
        });
        let (rules, bad) = rules(lines, "RRULE");
        let (without, bad_without) = self::rules(lines, "EXRULE");
        let mut event = Self {
            uid: text("UID"),
            sequence: line("SEQUENCE").and_then(|line| line.value.trim().parse().ok()).unwrap_or(0),
            changed: line("LAST-MODIFIED")
                .or(line("DTSTAMP"))
                .map(|line| cut(line.value))
                .unwrap_or_default(),
            length: length(lines, &start, zones),
            start,
            rules,
            without,
            added: BTreeMap::new(),
            left_out: BTreeSet::new(),
            days_left_out: BTreeSet::new(),
            instead,
            cancelled: word("STATUS", "CANCELLED"),
            summary: text("SUMMARY").unwrap_or_default(),
            location: text("LOCATION"),
            description: text("DESCRIPTION"),
            url: text("URL"),
            tentative: word("STATUS", "TENTATIVE"),
        };
        event.read_dates(lines, zones);
        Some(ReadEvent { event, bad_rule: bad || bad_without })
    }

    fn read_dates(&mut self, lines: &[Property<'_>], zones: &mut Zones) {
        for line in lines.iter().filter(|line| line.is("RDATE") || line.is("EXDATE")) {
            for text in line.value.split(',') {
                let (begin, end) =
                    text.split_once('/').map_or((text, None), |(begin, end)| (begin, Some(end)));
                let Some(when) = Written::parse(begin).and_then(|written| When::of(written, line, zones))
                else {
                    continue;
                };
                let at = when.by_clock_of(&self.start);
                if line.is("RDATE") {
                    let length = end.and_then(|end| period(&when, end, line, zones));
                    self.added.insert(at, length);
                } else if when.whole_day {
                    self.days_left_out.insert(at.date());
                } else {
                    self.left_out.insert(at);
                }
            }
        }
    }

    /// Whether it has more than one time.
    pub(super) fn recurs(&self) -> bool {
        !self.rules.is_empty() || !self.added.is_empty()
    }

    /// The last time that a rule may have, by the clock of the start.
    pub(super) fn until(&self, rule: &Rule) -> Option<DateTime> {
        let day_end = |day: Date| moved(day.into(), DAY - 1);
        Some(match rule.until? {
            Written::Day(day) => day_end(day),
            Written::Local(at) | Written::Utc(at) if self.start.whole_day => day_end(at.date()),
            Written::Local(at) => at,
            Written::Utc(at) => self.start.zone.from(at, &Zone::UTC),
        })
    }
}

/// The rules of an event, and whether there are some that cannot be followed.
fn rules(lines: &[Property<'_>], name: &str) -> (Vec<Rule>, bool) {
    let read: Vec<Option<Rule>> = lines
        .iter()
        .filter(|line| line.is(name))
        .take(MOST_RULES)
        .map(|line| Rule::parse(line.value))
        .collect();
    let bad = read.iter().any(Option::is_none);
    (read.into_iter().flatten().collect(), bad)
}

/// How long an event lasts: up to its end, or as it says; else a day for a whole day, and nothing for a time.
fn length(lines: &[Property<'_>], start: &When, zones: &mut Zones) -> Length {
    let line = |name: &str| lines.iter().find(|line| line.is(name));
    let end = line("DTEND").and_then(|line| When::read(line, zones));
    let said = || line("DURATION").and_then(|line| Length::parse(line.value));
    if start.whole_day {
        let days = match end {
            Some(end) => (seconds(end.at) - seconds(start.at) + DAY - 1) / DAY,
            None => said().map_or(1, |length| length.days + (length.seconds + DAY - 1) / DAY),
        };
        return Length::days(days.max(1));
    }
    match end {
        Some(end) => between(start, &end),
        None => said().unwrap_or_default(),
    }
}

/// How long it is from a time to another, however the clocks move in between.
fn between(start: &When, end: &When) -> Length {
    // Without a time zone on one side, clocks show the same; in which one is all the same then.
    let zone = if start.zone.is_floating() { &end.zone } else { &start.zone };
    let other = if end.zone.is_floating() { zone } else { &end.zone };
    let instants = (zone.instant(start.at, &TimeZone::UTC), other.instant(end.at, &TimeZone::UTC));
    let (Some(start), Some(end)) = instants else { return Length::default() };
    Length::seconds(end.as_second() - start.as_second())
}

/// The length of a period, by its end or as it says.
fn period(start: &When, end: &str, line: &Property<'_>, zones: &mut Zones) -> Option<Length> {
    if let Some(length) = Length::parse(end) {
        return Some(length);
    }
    let end = When::of(Written::parse(end)?, line, zones)?;
    Some(between(start, &end))
}

/// A day behind a number of days, that the calendar still has.
pub(super) fn day_later(day: Date, days: i64) -> Date {
    later(day, days).unwrap_or(Date::MAX)
}

fn cut(text: &str) -> String {
    let text = text.trim();
    text.char_indices().nth(MOST_TEXT).map_or(text, |(end, _)| &text[..end]).to_owned()
}
