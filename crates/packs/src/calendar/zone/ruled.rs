//! A time zone by the rules that a feed gives for it (`VTIMEZONE`).

use jiff::Timestamp;
use jiff::civil::DateTime;

use crate::calendar::budget::Budget;
use crate::calendar::civil::{DAY, clock, moved, seconds};
use crate::calendar::ical::{Property, Written, ZoneText, offset};
use crate::calendar::rule::{Range, Rule};

/// How often one observance begins, at most.
const MOST_ONSETS: usize = 1_000;

/// How many observances are read.
const MOST_OBSERVANCES: usize = 500;

/// Rules are followed up to here; then the clocks stay as they are.
const END: DateTime = DateTime::constant(2150, 1, 1, 0, 0, 0, 0);

/// When clocks are moved, and by how much they then differ from UTC.
#[derive(Debug)]
pub(crate) struct Ruled {
    /// In order. All are seconds since 1970, in UTC.
    onsets: Vec<Onset>,
    /// What holds before the first of them.
    before: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Onset {
    at: i64,
    before: i64,
    behind: i64,
}

impl Ruled {
    /// Reads the rules; nothing, if there are none.
    pub(crate) fn read(text: &ZoneText<'_>, budget: &mut Budget) -> Option<Self> {
        let mut onsets = Vec::new();
        for lines in text.observances.iter().take(MOST_OBSERVANCES) {
            observance(lines, budget, &mut onsets);
        }
        onsets.sort_unstable();
        onsets.dedup_by_key(|onset| onset.at);
        let before = onsets.first()?.before;
        Some(Self { onsets, before })
    }

    /// How far clocks are ahead of UTC at an instant.
    fn offset(&self, at: i64) -> i64 {
        let behind = self.onsets.partition_point(|onset| onset.at <= at);
        behind.checked_sub(1).map_or(self.before, |place| self.onsets[place].behind)
    }

    pub(crate) fn instant(&self, at: DateTime) -> Option<Timestamp> {
        let at = seconds(at);
        let (earlier, later) = (self.offset(at - DAY), self.offset(at + DAY));
        let is = |offset: i64| self.offset(at - offset) == offset;
        // A clock time that is there twice, or never, is read as before the change.
        let offset = if is(earlier) || !is(later) { earlier } else { later };
        Timestamp::from_second(at - offset).ok()
    }

    pub(crate) fn clock(&self, at: Timestamp) -> DateTime {
        let at = at.as_second();
        clock(at + self.offset(at)).unwrap_or(DateTime::MAX)
    }
}

/// Adds all times at which an observance begins.
fn observance(lines: &[Property<'_>], budget: &mut Budget, onsets: &mut Vec<Onset>) -> Option<()> {
    let value = |name: &str| lines.iter().find(|line| line.is(name)).map(|line| line.value);
    let (before, behind) = (offset(value("TZOFFSETFROM")?)?, offset(value("TZOFFSETTO")?)?);
    let start = match Written::parse(value("DTSTART")?)? {
        Written::Local(at) | Written::Utc(at) => at,
        Written::Day(day) => day.into(),
    };
    let mut left = MOST_ONSETS;
    let mut add = |at: DateTime| {
        onsets.push(Onset { at: seconds(at) - before, before, behind });
        left -= 1;
        left > 0
    };
    add(start);
    for line in lines.iter().filter(|line| line.is("RDATE")) {
        let dates = line.value.split(',').filter_map(Written::parse);
        for date in dates.take(MOST_ONSETS / 2) {
            let (Written::Local(at) | Written::Utc(at)) = date else { continue };
            if budget.spend(1).is_err() || !add(at) {
                return None;
            }
        }
    }
    let rule = Rule::parse(value("RRULE")?)?;
    let until = match rule.until {
        Some(Written::Utc(at)) => moved(at, before),
        Some(Written::Local(at)) => at,
        Some(Written::Day(day)) => moved(day.into(), DAY - 1),
        None => END,
    };
    let range = Range { start, from: start, to: until.min(END) };
    // Onsets that are too many to follow are none that anyone lives by.
    rule.walk(&range, budget, &mut add).ok()
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::calendar::ical::{Parts, unfold};

    fn zone(observances: &str) -> Option<Ruled> {
        let text =
            format!("BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:x\n{observances}END:VTIMEZONE\nEND:VCALENDAR");
        let text = unfold(text.as_bytes());
        Ruled::read(&Parts::read(&text).unwrap().zones[0], &mut Budget::new(100_000))
    }

    const BERLIN: &str = "BEGIN:DAYLIGHT\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nDTSTART:19810329T020000\n\
        RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\nEND:DAYLIGHT\n\
        BEGIN:STANDARD\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nDTSTART:19961027T030000\n\
        RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\n";

    #[test]
    fn rules_say_the_same_as_the_tz_database() {
        let (ruled, known) = (zone(BERLIN).unwrap(), TimeZone::get("Europe/Berlin").unwrap());
        let begin = seconds("2024-01-01T00:30".parse().unwrap());
        // Every hour of three years, those that are skipped and those that are there twice included.
        for hour in 0..3 * 366 * 24 {
            let at = clock(begin + hour * 3600).unwrap();
            let instant = known.to_timestamp(at).unwrap();
            assert_eq!(ruled.instant(at), Some(instant), "{at}");
            assert_eq!(ruled.clock(instant), known.to_datetime(instant), "{instant}");
        }
    }

    #[test]
    fn a_zone_without_changes_and_one_that_is_nonsense() {
        let fixed =
            "BEGIN:STANDARD\nTZOFFSETFROM:+0545\nTZOFFSETTO:+0545\nDTSTART:19700101T000000\nEND:STANDARD\n";
        let at = "2026-07-28T05:45".parse().unwrap();
        assert_eq!(zone(fixed).unwrap().instant(at).unwrap().to_string(), "2026-07-28T00:00:00Z");
        assert!(zone("").is_none());
        assert!(zone("BEGIN:STANDARD\nTZOFFSETFROM:x\nEND:STANDARD\n").is_none());
        let mad = BERLIN.replace("FREQ=YEARLY", "FREQ=SECONDLY");
        assert!(zone(&mad).unwrap().onsets.len() <= 2 * MOST_ONSETS);
    }
}
