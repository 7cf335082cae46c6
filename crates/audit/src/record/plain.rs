//! Reads the lines that we write ourselves, most of which are plain, faster than any JSON.

use std::borrow::Cow;

use super::Record;

/// The record of a line whose members are all texts without escapes, or numbers without signs; none of any other,
/// be it a record or not.
pub(super) fn record(line: &str) -> Option<Record<'_>> {
    let mut rest = line.strip_prefix("{\"v\":1")?;
    let mut texts: [Option<&str>; TEXTS.len()] = [None; TEXTS.len()];
    let (mut seq, mut time_ms) = (None, None);
    while let Some(member) = rest.strip_prefix(",\"") {
        let (key, value) = member.split_once("\":")?;
        match value.strip_prefix('"') {
            Some(text) => {
                let (text, behind) = text.split_once('"')?;
                if !is_plain(text) {
                    return None;
                }
                if let Some(place) = TEXTS.iter().position(|known| *known == key) {
                    once(&mut texts[place], text)?;
                } else if !OTHERS.contains(&key) {
                    return None;
                }
                rest = behind;
            }
            None => {
                let (number, behind) = digits(value)?;
                match key {
                    "seq" => once(&mut seq, number)?,
                    "time_ms" => once(&mut time_ms, number)?,
                    "took_us" => {}
                    _ => return None,
                }
                rest = behind;
            }
        }
    }
    if rest != "}" {
        return None;
    }
    let [writer, principal, target, outcome, prev, hash] = texts.map(|text| text.map(Cow::Borrowed));
    Record::sound(Record {
        writer: writer?,
        seq: seq?,
        time_ms: time_ms?,
        principal: principal?,
        target: target?,
        outcome: outcome?,
        prev: prev?,
        hash: hash?,
        heads: Vec::new(),
        chains: Vec::new(),
        before_ms: 0,
        calls: 0,
    })
}

/// The texts that are looked at, and those that records of calls may have besides.
const TEXTS: [&str; 6] = ["writer", "principal", "target", "outcome", "prev", "hash"];
const OTHERS: [&str; 6] = ["transport", "source", "digest", "client", "rule", "approver"];

fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |all, byte| all & (byte >= b' ' && byte != b'\\'))
}

/// A member that is there twice is read in no way.
fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

/// A number as JSON has it, and what is behind it.
fn digits(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit())?;
    let (number, behind) = text.split_at(end);
    let odd = number.len() > 1 && number.starts_with('0');
    number.parse().ok().filter(|_| !odd).map(|number| (number, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"v":1,"writer":"ab","seq":7,"time_ms":9,"principal":"local","client":"x 1","transport":"http","target":"tool:ü","source":"s","digest":"d","outcome":"complete","took_us":0,"rule":"default","approver":"me","prev":"P","hash":"H"}"#;

    fn line() -> String {
        LINE.replace('P', &"0".repeat(64)).replace('H', &"f".repeat(64))
    }

    #[test]
    fn a_plain_line_is_read_as_json_reads_it() {
        let line = line();
        let record = record(&line);
        assert!(record.is_some());
        assert_eq!(record, Record::read(line.as_bytes()));
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
