//! What a feed holds, read once: its events with their occurrences, and what could not be read.

use std::collections::HashMap;
use std::sync::Arc;

use super::budget::Budget;
use super::event::{Event, ReadEvent};
use super::ical::{NoCalendar, Parts, unfold};
use super::series::{Occurrence, Series, Window};
use super::words::line;
use super::zone::Zones;

/// How many steps every event may take, whatever the others take.
const OWN_STEPS: u64 = 200;

/// How many steps all those of a feed may take together that need more, in one call.
const FEED_STEPS: u64 = 2_000_000;

/// How many steps one of these may take.
const EVENT_STEPS: u64 = 200_000;

/// How many names a note gives.
const MOST_NAMES: usize = 3;

/// What a feed holds.
#[derive(Debug, Default)]
pub(super) struct Book {
    series: Vec<Series>,
    /// What the reader should know of it.
    notes: Vec<String>,
}

/// What a feed has in a window.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) occurrences: Vec<Occurrence>,
    /// Whether there are more than were asked for.
    pub(super) more: bool,
    pub(super) notes: Vec<String>,
}

impl Book {
    /// Reads a feed.
    pub(super) fn read(body: &[u8]) -> Result<Self, NoCalendar> {
        let text = unfold(body);
        let parts = Parts::read(&text)?;
        let mut zones = Zones::new(&parts.zones, parts.own_zone);
        let read: Vec<_> = parts.events.iter().map(|lines| Event::read(lines, &mut zones)).collect();
        let mut book = Self::default();
        book.note(read.iter().filter(|event| event.is_none()).count(), "could not be read and are left out");
        let read: Vec<ReadEvent> = read.into_iter().flatten().collect();
        let bad = read.iter().filter(|event| event.bad_rule).count();
        book.note(bad, "have rules that cannot be followed; only their other times are shown");
        if let Some(names) = named(zones.unknown().iter().map(String::as_str)) {
            book.notes
                .push(format!("unknown time zones: {names}; their times are shown as they are written"));
        }
        if parts.cut_off {
            book.notes.push("the feed ends too early; events may be missing".into());
        }
        if parts.too_many {
            book.notes.push("the feed has too many events; the last ones are left out".into());
        }
        book.series = assemble(read.into_iter().map(|read| read.event));
        Ok(book)
    }

    fn note(&mut self, count: usize, what: &str) {
        if count > 0 {
            self.notes.push(format!("events that {what}: {count}"));
        }
    }

    /// What is in a window, in order.
    pub(super) fn look(&self, window: &Window) -> Found {
        let mut found = Found { notes: self.notes.clone(), ..Found::default() };
        // Those that take long come last, so that they take nothing from the others.
        let mut long = Vec::new();
        for series in &self.series {
            found.make_room(window);
            let before = found.occurrences.len();
            if series.occurrences(window, &mut Budget::new(OWN_STEPS), &mut found.occurrences).is_err() {
                found.occurrences.truncate(before);
                long.push(series);
            }
        }
        let mut budget = Budget::new(FEED_STEPS);
        let mut endless = Vec::new();
        for series in long {
            found.make_room(window);
            let all = &mut found.occurrences;
            if budget.within(EVENT_STEPS, |budget| series.occurrences(window, budget, all)).is_err() {
                endless.push(series.name());
            }
        }
        found.trim(window.most);
        let count = endless.len();
        if let Some(names) = named(endless.into_iter()) {
            let what = "recur too often to be followed; times may be missing";
            found.notes.push(format!("events that {what}: {count} ({names})"));
        }
        found
    }
}

impl Found {
    fn make_room(&mut self, window: &Window) {
        if self.occurrences.len() > 4 * window.most {
            self.trim(window.most);
        }
    }

    fn trim(&mut self, most: usize) {
        self.occurrences.sort_by(|one, other| one.order().cmp(&other.order()));
        self.more |= self.occurrences.len() > most;
        self.occurrences.truncate(most);
    }
}

impl Occurrence {
    /// What occurrences are sorted by.
    pub(super) fn order(&self) -> impl Ord + '_ {
        (self.start, self.end, self.event.summary.as_str(), self.event.uid.as_deref())
    }
}

impl Series {
    fn name(&self) -> &str {
        self.main.as_ref().map_or("", |main| main.summary.as_str())
    }
}

/// The first few names.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let shown: Vec<String> = names.take(MOST_NAMES).map(|name| format!("`{}`", line(name))).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// All that is written of one event.
#[derive(Default)]
struct Group {
    mains: Vec<Event>,
    instead: Vec<Event>,
}

/// Puts together what belongs together.
fn assemble(events: impl Iterator<Item = Event>) -> Vec<Series> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for event in events {
        let place = match &event.uid {
            Some(uid) => *places.entry(uid.clone()).or_insert(groups.len()),
            // Without a name it belongs to nothing else.
            None => groups.len(),
        };
        if place == groups.len() {
            groups.push(Group::default());
        }
        let group = &mut groups[place];
        if event.instead.is_some() { group.instead.push(event) } else { group.mains.push(event) }
    }
    groups.into_iter().flat_map(Group::series).collect()
}

impl Group {
    fn series(mut self) -> Vec<Series> {
        let newest = self.mains.iter().map(|event| event.sequence).max();
        self.mains.retain(|event| Some(event.sequence) == newest);
        // The last of those that are otherwise alike stays. Some programs give one name to many events: those that begin
        // at different times are different.
        self.mains.sort_by(|one, other| (one.start.at, &one.changed).cmp(&(other.start.at, &other.changed)));
        self.mains.reverse();
        self.mains.dedup_by_key(|event| event.start.at);
        self.mains.reverse();
        let main = self.mains.iter().position(Event::recurs).unwrap_or(0);
        let mut all: Vec<Series> = self
            .mains
            .into_iter()
            .map(|event| Series { main: Some(Arc::new(event)), ..Series::default() })
            .collect();
        if all.is_empty() {
            all.push(Series::default());
        }
        // Of two that take the same place, the newer one is put there later.
        self.instead
            .sort_by(|one, other| (one.sequence, &one.changed).cmp(&(other.sequence, &other.changed)));
        for event in self.instead {
            all[main].put(event);
        }
        all
    }
}

impl Series {
    /// Puts an event where it takes the place of an occurrence.
    fn put(&mut self, event: Event) {
        let Some(instead) = event.instead.clone() else { return };
        let event = Arc::new(event);
        match &self.main {
            Some(main) => {
                let at = instead.when.by_clock_of(&main.start);
                let places = if instead.future { &mut self.future } else { &mut self.instead };
                places.insert(at, event);
            }
            // What it belongs to is not there, so it stands for itself.
            None => drop(self.instead.insert(instead.when.at, event)),
        }
    }
}
