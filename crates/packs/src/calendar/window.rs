//! Which times a caller asks for.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use toolgate_core::{Error, Kind, Result};

use super::zone::known;

/// How many days can be asked for at once.
pub(super) const MOST_DAYS: i64 = 1_000;

/// How many days are meant if nothing is said.
const DAYS: i64 = 7;

/// What a caller says of it.
#[derive(Debug, Default)]
pub(super) struct Asked<'a> {
    pub(super) from: Option<&'a str>,
    pub(super) to: Option<&'a str>,
    pub(super) days: Option<i64>,
}

/// From when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl Asked<'_> {
    /// What that means now, in a time zone.
    pub(super) fn period(&self, now: Timestamp, zone: &TimeZone) -> Result<Period> {
        if self.to.is_some() && self.days.is_some() {
            return Err(wrong("`to` and `days` are both given").hint("give one of them"));
        }
        let from = self.from.map_or(Ok(now), |text| read("from", text, zone, false))?;
        let to = match self.to {
            Some(text) => read("to", text, zone, true)?,
            None => ahead(from, self.days.unwrap_or(DAYS), zone)?,
        };
        if to <= from {
            return Err(wrong("`to` is not later than `from`").hint("give a later `to`, or `days`"));
        }
        if to > ahead(from, MOST_DAYS, zone)? {
            return Err(wrong(format!("from `from` to `to` are more than {MOST_DAYS} days"))
                .hint("ask for a part of them at a time"));
        }
        Ok(Period { from, to })
    }
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(Kind::InvalidInput, message.into())
}

/// The same clock time days later.
fn ahead(from: Timestamp, days: i64, zone: &TimeZone) -> Result<Timestamp> {
    let outside = || wrong("`days` is out of range").hint(format!("give 1 to {MOST_DAYS}"));
    if !(1..=MOST_DAYS).contains(&days) {
        return Err(outside());
    }
    let later = from.to_zoned(zone.clone()).checked_add(Span::new().days(days));
    later.map(|later| later.timestamp()).map_err(|_| outside())
}

/// A time as callers write it. A day is meant from its beginning or, as the end, up to its end.
fn read(name: &str, text: &str, zone: &TimeZone, as_end: bool) -> Result<Timestamp> {
    let no_time = || {
        wrong(format!("`{name}` is no time"))
            .hint("write a day such as `2026-07-28`, or a time such as `2026-07-28T09:30`, with an offset or without")
    };
    let text = text.trim();
    let at = if text.len() == 10 {
        let day: Date = text.parse().map_err(|_| no_time())?;
        let day = if as_end { day.tomorrow().map_err(|_| no_time())? } else { day };
        zone.to_timestamp(day.into()).map_err(|_| no_time())?
    } else if let Ok(at) = text.parse::<Timestamp>() {
        at
    } else {
        let clock: DateTime = text.parse().map_err(|_| no_time())?;
        zone.to_timestamp(clock).map_err(|_| no_time())?
    };
    let year = zone.to_datetime(at).year();
    if (1900..=2200).contains(&year) { Ok(at) } else { Err(no_time()) }
}

/// A time zone as callers write it.
pub(super) fn zone(name: &str) -> Result<TimeZone> {
    known(name).ok_or_else(|| {
        wrong("`time_zone` is not known")
            .hint("give a name of the tz database, such as `Europe/Berlin` or `UTC`")
    })
}

/// What a time zone is called.
pub(super) fn name(zone: &TimeZone) -> String {
    let offset =
        || zone.to_fixed_offset().map_or_else(|_| "the machine's".to_owned(), |offset| offset.to_string());
    zone.iana_name().map_or_else(offset, str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-03-27T08:15:00Z";

    fn asked(from: &str, to: &str, days: i64) -> Result<(String, String)> {
        let given = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        let (from, to) = (from.to_owned().leak(), to.to_owned().leak());
        let asked = Asked { from: given(from), to: given(to), days: Some(days).filter(|days| *days != 0) };
        let period = asked.period(NOW.parse().unwrap(), &TimeZone::get("Europe/Berlin").unwrap())?;
        Ok((period.from.to_string(), period.to.to_string()))
    }

    #[test]
    fn what_is_asked_for_is_understood() {
        #[track_caller]
        fn check(from: &str, to: &str, days: i64, expect: (&str, &str)) {
            let (begin, end) = asked(from, to, days).unwrap();
            assert_eq!((begin.as_str(), end.as_str()), expect);
        }
        // The clocks are moved on the 29th; a day is as long as that day is.
        check("", "", 0, (NOW, "2026-04-03T07:15:00Z"));
        check("", "", 1, (NOW, "2026-03-28T08:15:00Z"));
        check("2026-03-29", "2026-03-29", 0, ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"));
        check("2026-03-29", "", 1, ("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"));
        check(
            "2026-05-01T09:30",
            "2026-05-01T10:30:00Z",
            0,
            ("2026-05-01T07:30:00Z", "2026-05-01T10:30:00Z"),
        );
        check("2026-05-01T09:30+05:30", "", 1, ("2026-05-01T04:00:00Z", "2026-05-02T04:00:00Z"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        #[track_caller]
        fn check(from: &str, to: &str, days: i64, expect: &str) {
            let error = asked(from, to, days).unwrap_err();
            assert_eq!((error.kind(), error.message()), (Kind::InvalidInput, expect));
        }
        check("", "2026-05-01", 3, "`to` and `days` are both given");
        check("", "2026-03-01", 0, "`to` is not later than `from`");
        check("", "", -1, "`days` is out of range");
        check("", "", 1_001, "`days` is out of range");
        check("", "2099-01-01", 0, "from `from` to `to` are more than 1000 days");
        for bad in ["tomorrow", "2026-02-30", "2026-13-01T00:00", "-009999-01-01", "9999-12-31", "+"] {
            check(bad, "", 1, "`from` is no time");
        }
        check("", "9999-12-31", 0, "`to` is no time");
    }
}
