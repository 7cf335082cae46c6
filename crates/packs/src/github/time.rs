//! Times as callers write them.

use toolgate_core::{Error, Kind, Result};

/// A time as GitHub takes it: `2026-07-28T09:30:00Z`, with an offset, or a day alone.
pub(super) fn parse(text: &str) -> Result<String> {
    let wrong = || {
        Error::new(Kind::InvalidInput, "`since` is no time")
            .hint("write a day such as `2026-07-28`, or a time such as `2026-07-28T09:30:00Z`")
    };
    let (day, rest) = text.split_at_checked(10).ok_or_else(wrong)?;
    if !matches(day, "dddd-dd-dd") {
        return Err(wrong());
    }
    if rest.is_empty() {
        return Ok(format!("{day}T00:00:00Z"));
    }
    let (clock, zone) = rest.split_at_checked(9).ok_or_else(wrong)?;
    let zoned = zone == "Z" || matches(zone, "+dd:dd") || matches(zone, "-dd:dd");
    if matches(clock, "Tdd:dd:dd") && zoned { Ok(text.to_owned()) } else { Err(wrong()) }
}

fn matches(text: &str, form: &str) -> bool {
    let same = |(c, form): (u8, u8)| if form == b'd' { c.is_ascii_digit() } else { c == form };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_times_are_taken_and_nothing_else() {
        #[track_caller]
        fn check(text: &str, expect: Option<&str>) {
            assert_eq!(parse(text).ok().as_deref(), expect, "{text}");
        }
        check("2026-07-28", Some("2026-07-28T00:00:00Z"));
        check("2026-07-28T09:30:00Z", Some("2026-07-28T09:30:00Z"));
        check("2026-07-28T09:30:00+02:00", Some("2026-07-28T09:30:00+02:00"));
        for text in [
            "",
            "yesterday",
            "2026-7-28",
            "2026-07-28T09:30",
            "2026-07-28T09:30:00",
            "2026-07-28 09:30:00Z",
            "20260728ää",
        ] {
            check(text, None);
        }
    }
}
