//! Values: dates, times, lengths, offsets.

use jiff::civil::{Date, DateTime, Time};

/// The longest that anything lasts. What says more is cut, not refused.
const MOST_DAYS: i64 = 36_525;

/// A day or a time as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Day(Date),
    /// In the time zone that is named beside it, or in none.
    Local(DateTime),
    Utc(DateTime),
}

impl Written {
    /// Reads `20260728`, `20260728T093000` or `20260728T093000Z`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (text, utc) = match text.strip_suffix(['Z', 'z']) {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let Some((day, time)) = text.split_once(['T', 't']) else {
            return date(text).filter(|_| !utc).map(Self::Day);
        };
        let [hour, minute, second] = [digits(time, 0..2)?, digits(time, 2..4)?, digits(time, 4..6)?];
        let whole = |number: i16| i8::try_from(number).ok();
        // A leap second is the one before.
        let time = (time.len() == 6)
            .then(|| Time::new(whole(hour)?, whole(minute)?, whole(second.min(59))?, 0).ok());
        let at = DateTime::from_parts(date(day)?, time??);
        Some(if utc { Self::Utc(at) } else { Self::Local(at) })
    }
}

fn date(text: &str) -> Option<Date> {
    let [year, month, day] = [digits(text, 0..4)?, digits(text, 4..6)?, digits(text, 6..8)?];
    let whole = |number: i16| i8::try_from(number).ok();
    Date::new(year, whole(month)?, whole(day)?).ok().filter(|_| text.len() == 8)
}

fn digits(text: &str, range: std::ops::Range<usize>) -> Option<i16> {
    let digits = text.get(range)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// How long something lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Length {
    /// Days of the calendar, which may be longer or shorter than 24 hours.
    pub(crate) days: i64,
    pub(crate) seconds: i64,
}

impl Length {
    /// Reads `P1W`, `P1DT2H30M`, `PT15M`; what is negative is nothing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_uppercase();
        let negative = text.starts_with('-');
        let text = text.trim_start_matches(['+', '-']).strip_prefix('P')?;
        let (mut length, mut number, mut in_day) = (Self::default(), String::new(), false);
        for letter in text.chars() {
            let value = |number: &str| number.parse::<i64>().ok().map(|value| value.min(MOST_DAYS * 86_400));
            match (letter, in_day) {
                ('0'..='9', _) => {
                    number.push(letter);
                    continue;
                }
                ('T', false) if number.is_empty() => {
                    in_day = true;
                    continue;
                }
                ('W', false) => length.add(value(&number)?.saturating_mul(7), 0),
                ('D', false) => length.add(value(&number)?, 0),
                ('H', true) => length.add(0, value(&number)?.saturating_mul(3600)),
                ('M', true) => length.add(0, value(&number)?.saturating_mul(60)),
                ('S', true) => length.add(0, value(&number)?),
                _ => return None,
            }
            number.clear();
        }
        let whole = if negative { Self::default() } else { length.bounded() };
        number.is_empty().then_some(whole)
    }

    fn add(&mut self, days: i64, seconds: i64) {
        self.days = self.days.saturating_add(days);
        self.seconds = self.seconds.saturating_add(seconds);
    }

    /// Whole days.
    pub(crate) fn days(days: i64) -> Self {
        Self { days, seconds: 0 }.bounded()
    }

    /// Seconds, however the clock moves.
    pub(crate) fn seconds(seconds: i64) -> Self {
        Self { days: 0, seconds }.bounded()
    }

    /// About how many seconds that is, and never less.
    pub(crate) fn at_most(self) -> i64 {
        (self.days + i64::from(self.days > 0)) * 86_400 + self.seconds
    }

    fn bounded(self) -> Self {
        let days = self.days.clamp(0, MOST_DAYS);
        Self { days, seconds: self.seconds.clamp(0, (MOST_DAYS - days) * 86_400) }
    }
}

/// Reads a distance from UTC, such as `+0100` or `-033000`, in seconds.
pub(crate) fn offset(text: &str) -> Option<i64> {
    let text = text.trim();
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => (1, text),
    };
    let (hours, minutes) = (digits(rest, 0..2)?, digits(rest, 2..4)?);
    let seconds = if rest.len() > 4 { digits(rest, 4..6)? } else { 0 };
    let total = i64::from(hours) * 3600 + i64::from(minutes) * 60 + i64::from(seconds);
    // Beyond this a clock would be days ahead of the sun.
    (total < 86_400 && matches!(rest.len(), 4 | 6)).then_some(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_times_are_read_and_nothing_else() {
        let at = |text: &str| text.parse::<DateTime>().unwrap();
        #[track_caller]
        fn check(text: &str, expect: Option<Written>) {
            assert_eq!(Written::parse(text), expect, "{text}");
        }
        check("20260728", Some(Written::Day(Date::constant(2026, 7, 28))));
        check("20260728T093000", Some(Written::Local(at("2026-07-28T09:30"))));
        check(" 20260728T235960Z ", Some(Written::Utc(at("2026-07-28T23:59:59"))));
        for bad in [
            "",
            "2026",
            "20260230",
            "20260728T",
            "20260728T2460",
            "20260728T246000",
            "20260728T0930",
            "+2026728",
            "20260728Z",
            "20260728T0930000",
            "2026072\u{e9}",
            "T093000",
            "99999999999999",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn lengths_are_read_and_bounded() {
        #[track_caller]
        fn check(text: &str, expect: Option<(i64, i64)>) {
            assert_eq!(Length::parse(text).map(|length| (length.days, length.seconds)), expect, "{text}");
        }
        check("P1W", Some((7, 0)));
        check("P1DT2H30M5S", Some((1, 9005)));
        check("+PT15M", Some((0, 900)));
        check("-PT15M", Some((0, 0)));
        check("P99999999999D", Some((MOST_DAYS, 0)));
        check("PT999999999999999999S", Some((0, MOST_DAYS * 86_400)));
        for bad in ["", "P1", "PT", "1D", "P1H", "PT1D", "P-1D", "PT99999999999999999999S"] {
            check(bad, if bad == "PT" { Some((0, 0)) } else { None });
        }
    }

    #[test]
    fn offsets_are_read() {
        for (text, expect) in [
            ("+0100", Some(3600)),
            ("-0330", Some(-12_600)),
            ("+013015", Some(5415)),
            ("0000", Some(0)),
            ("+9900", None),
            ("+1", None),
            ("", None),
            ("+01:00", None),
        ] {
            assert_eq!(offset(text), expect, "{text}");
        }
    }
}
