//! Reads the lines that we write ourselves, most of which are plain, faster than any JSON.

use std::borrow::Cow;

use super::Record;
use crate::chain::Hex;

/// The record of a call as we write it, whose texts are without escapes; none of any other line, be it a record or
/// not.
pub(super) fn record(line: &str) -> Option<Record<'_>> {
    if !is_plain(line) {
        return None;
    }
    let mut line = Line(line);
    let writer = line.text("{\"v\":1,\"writer\":\"")?;
    let seq = line.number(",\"seq\":")?;
    let time_ms = line.number(",\"time_ms\":")?;
    let principal = line.text(",\"principal\":\"")?;
    line.may_have(",\"client\":\"")?;
    line.text(",\"transport\":\"")?;
    let target = line.text(",\"target\":\"")?;
    line.may_have(",\"source\":\"")?;
    line.text(",\"digest\":\"")?;
    line.may_have(",\"code\":\"")?;
    let outcome = line.text(",\"outcome\":\"")?;
    line.number(",\"took_us\":")?;
    line.may_have(",\"rule\":\"")?;
    line.may_have(",\"approver\":\"")?;
    let prev = line.hash(",\"prev\":\"")?;
    let hash = line.hash(",\"hash\":\"")?;
    if line.0 != "}" {
        return None;
    }
    let [writer, principal, target, outcome, prev, hash] =
        [writer, principal, target, outcome, prev, hash].map(Cow::Borrowed);
    let (heads, chains) = (Vec::new(), Vec::new());
    let (before_ms, calls) = (0, 0);
    Record::sound(Record {
        writer,
        seq,
        time_ms,
        principal,
        target,
        outcome,
        prev,
        hash,
        heads,
        chains,
        before_ms,
        calls,
    })
}

/// What is left of a line.
struct Line<'a>(&'a str);

impl<'a> Line<'a> {
    /// A text behind this lead, which holds its opening quote.
    fn text(&mut self, lead: &str) -> Option<&'a str> {
        let text = self.0.strip_prefix(lead)?;
        // Most are short, and beginning a faster search would take longer.
        let end = text.bytes().position(|byte| byte == b'"')?;
        self.0 = &text[end + 1..];
        Some(&text[..end])
    }

    /// A hash behind this lead, which holds its opening quote.
    fn hash(&mut self, lead: &str) -> Option<&'a str> {
        let (hash, rest) = self.0.strip_prefix(lead)?.split_at_checked(size_of::<Hex>())?;
        self.0 = rest.strip_prefix('"')?;
        Some(hash)
    }

    /// A text that may be missing.
    fn may_have(&mut self, lead: &str) -> Option<()> {
        if self.0.starts_with(lead) { self.text(lead).map(drop) } else { Some(()) }
    }

    /// A number behind this lead, as JSON has it.
    fn number(&mut self, lead: &str) -> Option<u64> {
        let text = self.0.strip_prefix(lead)?;
        let (number, rest) = text.split_at(text.bytes().position(|byte| !byte.is_ascii_digit())?);
        self.0 = rest;
        let odd = number.len() > 1 && number.starts_with('0');
        number.parse().ok().filter(|_| !odd)
    }
}

/// Whether a line has no escapes, and nothing that JSON would not take.
fn is_plain(line: &str) -> bool {
    line.bytes().fold(true, |all, byte| all & (byte >= b' ' && byte != b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"v":1,"writer":"ab","seq":7,"time_ms":9,"principal":"local","client":"x 1","transport":"http","target":"tool:ü","source":"s","digest":"d","code":"c","outcome":"complete","took_us":0,"rule":"default","approver":"me","prev":"P","hash":"H"}"#;

    fn line() -> String {
        LINE.replace('P', &"0".repeat(64)).replace('H', &"f".repeat(64))
    }

    #[test]
    fn a_plain_line_is_read_as_json_reads_it() {
        let parts = [
            ",\"client\":\"x 1\"",
            ",\"source\":\"s\"",
            ",\"code\":\"c\"",
            ",\"rule\":\"default\"",
            ",\"approver\":\"me\"",
        ];
        for left_out in 0..1 << parts.len() {
            let mut line = line();
            for (place, part) in parts.iter().enumerate().filter(|(place, _)| left_out & 1 << place != 0) {
                assert!(line.contains(part), "{place}");
                line = line.replace(part, "");
            }
            let record = record(&line);
            assert!(record.is_some(), "{line}");
            assert_eq!(record, Record::read(line.as_bytes()));
        }
    }

    #[test]
    fn any_other_line_is_left_to_json() {
        let changes = [
            ("\"v\":1", "\"v\":2"),
            ("ab", "a\\u0062"),
            ("\"seq\":7", "\"seq\":0"),
            ("\"seq\":7", "\"seq\":07"),
            ("\"seq\":7", "\"seq\":-7"),
            ("\"seq\":7", "\"seq\":7.0"),
            ("\"seq\":7", "\"seq\": 7"),
            ("\"seq\":7", "\"seq\":18446744073709551616"),
            ("\"seq\":7", "\"seq\":7,\"seq\":7"),
            ("\"seq\":7,", ""),
            ("\"principal\"", "\"outcome\""),
            ("\"rule\"", "\"heads\""),
            ("\"rule\":\"default\"", "\"arguments\":{}"),
            ("00\"", "0G\""),
            ("}", "} "),
            ("}", ""),
            ("\"me\"", "\"m\te\""),
        ];
        for (from, to) in changes {
            let line = line().replacen(from, to, 1);
            assert_eq!(record(&line), None, "{line}");
        }
    }

    proptest::proptest! {
        /// Whatever is done to a line: where both read it, they read the same.
        #[test]
        fn no_line_is_read_in_another_way_than_json(
            edits in proptest::collection::vec((0..400_usize, "[\\\\\"{}:,a0 ü\n]{0,2}"), 0..4)
        ) {
            let mut line = line();
            for (at, text) in edits {
                let at = line.floor_char_boundary(at.min(line.len()));
                let end = line.ceil_char_boundary((at + text.len()).min(line.len()));
                line.replace_range(at..end, &text);
            }
            if let Some(plain) = record(&line) {
                proptest::prop_assert_eq!(Some(plain), Record::read(line.as_bytes()), "{}", line);
            }
        }
    }
}
