//! Which days a rule means.

use jiff::civil::Date;

use super::{Freq, Rule, WeekDay};

impl Rule {
    /// Whether a day is none that the rule leaves out.
    pub(super) fn has_day(&self, date: Date) -> bool {
        let month = i64::from(date.month());
        (self.months.is_empty() || self.months.contains(&month))
            && (self.week_days.is_empty() || self.week_days.iter().any(|day| self.is_week_day(*day, date)))
            && has(&self.month_days, i64::from(date.day()), i64::from(date.days_in_month()))
            && has(&self.year_days, i64::from(date.day_of_year()), i64::from(date.days_in_year()))
            && (self.weeks.is_empty() || self.has_week(date))
    }

    fn is_week_day(&self, wanted: WeekDay, date: Date) -> bool {
        if date.weekday().to_monday_zero_offset() != wanted.day {
            return false;
        }
        let (day, days) = match self.freq {
            _ if wanted.nth == 0 => return true,
            Freq::Yearly if self.months.is_empty() => (date.day_of_year(), date.days_in_year()),
            Freq::Yearly | Freq::Monthly => (i16::from(date.day()), i16::from(date.days_in_month())),
            // A number means nothing here.
            Freq::Weekly | Freq::Daily | Freq::Hourly | Freq::Minutely | Freq::Secondly => return true,
        };
        let nth = if wanted.nth > 0 { (day - 1) / 7 + 1 } else { -((days - day) / 7 + 1) };
        i64::from(nth) == wanted.nth
    }

    /// Whether the week that a day is in is one of those that the rule names. A week belongs to the year that most of
    /// its days are in.
    fn has_week(&self, date: Date) -> bool {
        let from_start = i64::from(date.weekday().since(self.week_start));
        let Ok(middle) = date.checked_add(jiff::Span::new().days(3 - from_start)) else { return false };
        let (day, days) = (i64::from(middle.day_of_year()), i64::from(middle.days_in_year()));
        let week = (day - 1) / 7 + 1;
        let last = week + (days - day) / 7;
        has(&self.weeks, week, last)
    }
}

/// Whether a list is empty, or holds a number counted from the beginning or from the end.
fn has(list: &[i64], number: i64, last: i64) -> bool {
    list.is_empty() || list.contains(&number) || list.contains(&(number - last - 1))
}
