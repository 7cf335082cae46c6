//! Time zones as calendars name them: of the tz database, of Windows, or by rules of their own.

mod ruled;
mod windows;

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::budget::Budget;
use super::ical::ZoneText;
use ruled::Ruled;

/// How many steps the rules of all time zones of a feed may take.
const STEPS: u64 = 200_000;

/// Where a clock hangs.
#[derive(Debug, Clone)]
pub(super) enum Zone {
    /// A time zone of the tz database.
    Known(TimeZone),
    /// One that the feed itself describes.
    Ruled(Arc<Ruled>),
    /// Nowhere: the same clock time wherever one is.
    Floating,
}

impl Zone {
    pub(super) const UTC: Self = Self::Known(TimeZone::UTC);

    /// The instant of a clock time. One that is skipped is as much later as the clock was moved; of two, it is the
    /// first. A floating one is in `here`.
    pub(super) fn instant(&self, at: DateTime, here: &TimeZone) -> Option<Timestamp> {
        match self {
            Self::Known(zone) => zone.to_timestamp(at).ok(),
            Self::Ruled(zone) => zone.instant(at),
            Self::Floating => here.to_timestamp(at).ok(),
        }
    }

    /// The clock time of an instant.
    pub(super) fn clock(&self, at: Timestamp, here: &TimeZone) -> DateTime {
        match self {
            Self::Known(zone) => zone.to_datetime(at),
            Self::Ruled(zone) => zone.clock(at),
            Self::Floating => here.to_datetime(at),
        }
    }

    pub(super) fn is_floating(&self) -> bool {
        matches!(self, Self::Floating)
    }

    /// The clock time here of one elsewhere. Without a time zone on one side, clocks show the same.
    pub(super) fn from(&self, at: DateTime, elsewhere: &Self) -> DateTime {
        if self.is_floating() || elsewhere.is_floating() {
            return at;
        }
        // Neither floats, so it does not matter where one is.
        elsewhere.instant(at, &TimeZone::UTC).map_or(at, |instant| self.clock(instant, &TimeZone::UTC))
    }
}

/// The time zones of a feed, by the names that it uses.
#[derive(Debug, Default)]
pub(super) struct Zones {
    found: HashMap<String, Zone>,
    /// Names that nobody knows.
    unknown: Vec<String>,
    own: Option<TimeZone>,
}

impl Zones {
    /// Those that a feed describes; `own` is that of the feed as a whole.
    pub(super) fn new(texts: &[ZoneText<'_>], own: Option<&str>) -> Self {
        let mut zones = Self { own: own.and_then(known), ..Self::default() };
        let mut budget = Budget::new(STEPS);
        for text in texts {
            let of = |name: &str| text.own.iter().find(|line| line.is(name)).map(|line| line.value.trim());
            let Some(name) = of("TZID") else { continue };
            // What everyone knows is better known than described: a description is often only true for this year.
            let known = known(name).or_else(|| of("X-LIC-LOCATION").and_then(known)).map(Zone::Known);
            let zone = known.or_else(|| Some(Zone::Ruled(Arc::new(Ruled::read(text, &mut budget)?))));
            if let Some(zone) = zone {
                zones.found.insert(name.to_owned(), zone);
            }
        }
        zones
    }

    /// A time zone by its name. One that nobody knows is the feed's own, if it has one, else none.
    pub(super) fn find(&mut self, name: &str) -> Zone {
        if let Some(zone) = self.found.get(name) {
            return zone.clone();
        }
        let zone = known(name).map(Zone::Known).unwrap_or_else(|| {
            self.unknown.push(name.to_owned());
            self.own.clone().map_or(Zone::Floating, Zone::Known)
        });
        self.found.insert(name.to_owned(), zone.clone());
        zone
    }

    /// Names that were asked for and nobody knows.
    pub(super) fn unknown(&self) -> &[String] {
        &self.unknown
    }
}

/// A time zone that is known by its name: that of the tz database, perhaps behind a path, or that of Windows.
pub(super) fn known(name: &str) -> Option<TimeZone> {
    let name = name.trim();
    let listed = |name: &str| TimeZone::get(name).ok().filter(|zone| !zone.is_unknown());
    if let Some(zone) = listed(name).or_else(|| windows::iana(name).and_then(listed)) {
        return Some(zone);
    }
    // Some programs write their own name and a date before it: `/example.org/20260101_1/Europe/Berlin`.
    if name.starts_with('/') {
        let segments: Vec<&str> = name.split('/').filter(|segment| !segment.is_empty()).collect();
        return (1..=3).rev().find_map(|last| {
            let begin = segments.len().checked_sub(last)?;
            listed(&segments[begin..].join("/"))
        });
    }
    name.to_ascii_lowercase().starts_with("tzone://microsoft/utc").then_some(TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_all_their_forms() {
        #[track_caller]
        fn check(name: &str, expect: Option<&str>) {
            let found = known(name);
            let found = found.as_ref().map(|zone| zone.iana_name().unwrap_or("?"));
            assert_eq!(found, expect, "{name}");
        }
        check("Europe/Berlin", Some("Europe/Berlin"));
        check("europe/berlin", Some("Europe/Berlin"));
        check("UTC", Some("UTC"));
        check("W. Europe Standard Time", Some("Europe/Berlin"));
        check("w. europe standard time", Some("Europe/Berlin"));
        check("/example.org/20260101_1/Europe/Berlin", Some("Europe/Berlin"));
        check("/x.org/Tzfile/America/Argentina/Buenos_Aires", Some("America/Argentina/Buenos_Aires"));
        check("tzone://Microsoft/Utc", Some("UTC"));
        for name in ["", "Nowhere/Land", "../../etc/passwd", "/etc/passwd", "/", "Customized Time Zone"] {
            check(name, None);
        }
    }
}
