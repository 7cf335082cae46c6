//! Compares numbers exactly as they are written, without a float in between.

use bytes::Bytes;

use crate::raw::{Kind, Raw};

/// Whether both texts are JSON numbers of the same value: `42`, `42.0` and `4.2e1` are.
pub(super) fn equal(left: &str, right: &str) -> bool {
    match (Decimal::read(left), Decimal::read(right)) {
        (Some(left), Some(right)) => left == right,
        (None, _) | (_, None) => false,
    }
}

/// A number as ± digits × 10^exponent, with neither leading nor trailing zeros; zero has no digits.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn read(text: &str) -> Option<Self> {
        let raw = Raw::parse(Bytes::copy_from_slice(text.as_bytes())).ok()?;
        if raw.kind() != Kind::Number || raw.as_bytes().len() != text.len() {
            return None;
        }
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0').trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { negative: false, digits, exponent: 0 });
        }
        let zeros = all.len() - all.trim_end_matches('0').len();
        let shift = i64::try_from(zeros).ok()? - i64::try_from(fraction.len()).ok()?;
        let exponent = exponent.parse::<i64>().ok()?.checked_add(shift)?;
        Some(Self { negative, digits, exponent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_equal_by_value() {
        #[track_caller]
        fn check(left: &str, right: &str, expect: bool) {
            assert_eq!(equal(left, right), expect);
            assert_eq!(equal(right, left), expect);
        }
        check("42", "42.0", true);
        check("42", "4.2e1", true);
        check("42", "4.2E+1", true);
        check("420", "42e1", true);
        check("0.5", "5e-1", true);
        check("0", "-0.00e9", true);
        check("-7", "7", false);
        check("42", "43", false);
        check("9007199254740993", "9007199254740992", false);
        check("9007199254740993", "9007199254740993.0", true);
        check("1e400", "1e401", false);
        check("1e99999999999999999999", "1e99999999999999999999", false);
        for text in ["+42", "042", "0x2a", "", " 42", "42 ", "NaN", "\"42\"", "4_2", "٤٢"] {
            check(text, "42", false);
        }
    }
}
