//! Clock times as seconds, for sums that need no time zone.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};

pub(super) const DAY: i64 = 86_400;

const ZERO: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// How many seconds a clock time is away from the beginning of 1970.
pub(super) fn seconds(at: DateTime) -> i64 {
    at.duration_since(ZERO).as_secs()
}

/// The clock time that is this many seconds away; none, if no calendar reaches there.
pub(super) fn clock(seconds: i64) -> Option<DateTime> {
    ZERO.checked_add(SignedDuration::from_secs(seconds)).ok()
}

/// A day this many days later.
pub(super) fn later(date: Date, days: i64) -> Option<Date> {
    clock(seconds(date.into()).checked_add(days.checked_mul(DAY)?)?).map(DateTime::date)
}

/// A clock time that is moved, and stops at the ends of the calendar.
pub(super) fn moved(at: DateTime, by: i64) -> DateTime {
    let end = if by < 0 { DateTime::MIN } else { DateTime::MAX };
    seconds(at).checked_add(by).and_then(clock).unwrap_or(end)
}
