//! Spans of time as people type them.

use std::time::Duration;

/// A span of time; `None` is without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(super) Option<Duration>);

/// Reads `90s`, `15min`, `12h`, `30d` or `never`.
pub(crate) fn read(text: &str) -> Result<Span, String> {
    if text == "never" {
        return Ok(Span(None));
    }
    let wrong = || "write a number and `s`, `min`, `h` or `d`, such as `12h`, or `never`".to_owned();
    let unit = text.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(wrong)?;
    let (count, unit) = text.split_at(unit);
    let seconds: u64 = match unit {
        "s" => 1,
        "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let count: u64 = count.parse().map_err(|_| wrong())?;
    let seconds = count.checked_mul(seconds).filter(|seconds| *seconds > 0 && *seconds < 1 << 36);
    Ok(Span(Some(Duration::from_secs(seconds.ok_or("that is no time that can be waited for")?))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_number_and_a_unit_or_never() {
        #[track_caller]
        fn check(text: &str, expect: Option<Option<u64>>) {
            assert_eq!(
                read(text).ok(),
                expect.map(|seconds| Span(seconds.map(Duration::from_secs))),
                "{text}"
            );
        }
        check("never", Some(None));
        check("1s", Some(Some(1)));
        check("15min", Some(Some(900)));
        check("12h", Some(Some(43_200)));
        check("30d", Some(Some(2_592_000)));
        for wrong in ["", "0s", "12", "h", "-1h", "1.5h", "1m", "1 h", "99999999999999999999d", "9999999999d"]
        {
            check(wrong, None);
        }
    }
}
