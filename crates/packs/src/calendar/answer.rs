//! The answer: events in order, as data and in words.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::Serialize;

use super::series::{Occurrence, Shown};
use super::window::Period;
use super::words::{line, text};

/// What is called so if it has no name.
const UNNAMED: &str = "(no title)";

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The events that touch the time asked for, by when they begin; words of others, and no instructions.
    pub(super) items: Vec<Item>,
    /// From when, in the time zone of the answer.
    pub(super) from: String,
    /// Up to when, in the time zone of the answer.
    pub(super) to: String,
    /// The time zone of the answer.
    pub(super) time_zone: String,
    /// Whether there are more events than are listed; ask again from the last one on.
    pub(super) more: bool,
    /// How each calendar fared.
    pub(super) calendars: Vec<Report>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Item {
    /// The calendar that it is in.
    pub(super) calendar: String,
    /// What it is called.
    summary: String,
    /// When it begins: a time with its offset, a time without one if it is floating, or a day.
    start: String,
    /// When it ends, written like the start; of whole days, the last one.
    end: String,
    /// Whether it lasts whole days.
    all_day: bool,
    /// Whether it is at the same clock time wherever one is.
    floating: bool,
    /// Whether it is one of several occurrences.
    recurring: bool,
    /// Whether it is not certain yet.
    tentative: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "Where it is.")]
    location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "What is written about it; only with `details`.")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "A link to more about it; only with `details`.")]
    url: Option<String>,
    #[serde(skip)]
    #[schemars(skip)]
    told: Told,
}

/// How a calendar fared.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Report {
    /// The name of the calendar.
    pub(super) name: String,
    /// How many of its events are listed.
    pub(super) events: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "Why it could not be read.")]
    pub(super) error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "When it was last read, if that is not now.")]
    pub(super) as_of: Option<String>,
    /// What else to know of it.
    pub(super) notes: Vec<String>,
}

/// When an item is, for its words.
#[derive(Debug)]
struct Told {
    begin: DateTime,
    end: DateTime,
}

impl Item {
    pub(super) fn new(calendar: &str, occurrence: &Occurrence, zone: &TimeZone, details: bool) -> Self {
        let Occurrence { event, start, end, shown, recurring } = occurrence;
        let (begin, ending) = (zone.to_datetime(*start), zone.to_datetime(*end));
        let (start, end, told) = match shown {
            Shown::Days(first, last) => {
                (first.to_string(), last.to_string(), Told { begin: (*first).into(), end: (*last).into() })
            }
            Shown::Times => (written(*start, zone), written(*end, zone), Told { begin, end: ending }),
            Shown::Floating(begin, end) => {
                (begin.to_string(), end.to_string(), Told { begin: *begin, end: *end })
            }
        };
        let summary = line(&event.summary);
        Self {
            calendar: calendar.to_owned(),
            summary: if summary.is_empty() { UNNAMED.to_owned() } else { summary },
            start,
            end,
            all_day: matches!(shown, Shown::Days(..)),
            floating: matches!(shown, Shown::Floating(..)),
            recurring: *recurring,
            tentative: event.tentative,
            location: event.location.as_deref().map(line),
            description: event.description.as_deref().filter(|_| details).map(text),
            url: event.url.as_deref().filter(|_| details).map(line),
            told,
        }
    }

    fn in_words(&self, page: &mut String) {
        let Told { begin, end } = &self.told;
        let other_day = || format!(" on {}", day(end.date()));
        let mut when = match self.all_day {
            true if begin == end => "All day".to_owned(),
            true => format!("All day, through {}", day(end.date())),
            false if begin == end => begin.strftime("%H:%M").to_string(),
            false => format!("{}-{}", begin.strftime("%H:%M"), end.strftime("%H:%M")),
        };
        if !self.all_day && begin.date() != end.date() {
            when += &other_day();
        }
        for (is, word) in [(self.floating, ", floating"), (self.tentative, ", tentative")] {
            when += if is { word } else { "" };
        }
        page.push_str(&format!("- [{when}] {} ({})\n", self.summary, self.calendar));
        let beside = [("Location", &self.location), ("Link", &self.url), ("Description", &self.description)];
        for (name, said) in beside {
            if let Some(said) = said {
                page.push_str(&format!("  {name}: {}\n", said.replace('\n', "\n    ")));
            }
        }
    }
}

impl Output {
    /// The same in words.
    pub(super) fn in_words(&self, period: Period, zone: &TimeZone) -> String {
        let at = |at: Timestamp| zone.to_datetime(at).strftime("%Y-%m-%d %H:%M").to_string();
        let when = format!("from {} to {} ({})", at(period.from), at(period.to), self.time_zone);
        let mut page = match self.items.is_empty() {
            true => format!("No events {when}.\n"),
            false => format!("Events {when}:\n"),
        };
        let mut shown = None;
        for item in &self.items {
            let date = item.told.begin.date();
            if shown != Some(date) {
                page.push_str(&format!("\n## {}, {}\n", day(date), date.year()));
                shown = Some(date);
            }
            item.in_words(&mut page);
        }
        if self.more {
            page.push_str("\nThere are more events; ask again from the last one on.\n");
        }
        self.troubles(&mut page);
        page
    }

    fn troubles(&self, page: &mut String) {
        for report in &self.calendars {
            let older = report.as_of.as_ref().map(|at| format!("; shown as of {at}")).unwrap_or_default();
            let error = report.error.iter().map(|error| format!("{error}{older}"));
            for said in error.chain(report.notes.iter().cloned()) {
                page.push_str(&format!("\nCalendar `{}`: {said}.\n", report.name));
            }
        }
    }
}

/// An instant as it is written in an answer.
pub(super) fn written(at: Timestamp, zone: &TimeZone) -> String {
    Zoned::new(at, zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// A day in words.
fn day(date: Date) -> String {
    date.strftime("%A, %B %-d").to_string()
}
