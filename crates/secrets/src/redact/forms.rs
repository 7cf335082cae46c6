//! The forms in which a secret is looked for, byte for byte.
//!
//! Escapes and percent signs are not among them: where these occur, the text is decoded (`decode`), which knows all
//! of their spellings.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use toolgate_wire::Raw;
use zeroize::Zeroizing;

use crate::value::MIN_VALUE;

/// A form of a secret.
pub(crate) struct Form {
    pub(crate) bytes: Vec<u8>,
    /// Whether it is a part of a base64 text.
    pub(crate) base64: bool,
    /// So many characters that are not known belong to it too, as many of them as follow.
    pub(crate) rest: usize,
}

/// What a secret begins with of which no more is known than how many letters, digits, `-` and `_` follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// How it begins: of such characters too.
    pub text: String,
    /// How many follow.
    pub rest: usize,
}

impl Opening {
    /// All forms; none if it is too short to be looked for.
    pub(crate) fn forms(&self) -> Vec<Form> {
        let mut forms = Vec::new();
        if self.text.len() >= MIN_VALUE {
            push_forms(&self.text, self.rest, &mut forms);
        }
        forms
    }
}

/// Whether a byte may be one of those that are not known.
pub(crate) fn in_rest(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// All forms of a value; none if it is too short to be looked for.
pub(crate) fn forms(value: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    // White space around a value is often lost on its way.
    let value = value.trim();
    for value in [Some(value), without_scheme(value)].into_iter().flatten() {
        if value.len() >= MIN_VALUE {
            push_forms(value, 0, &mut forms);
        }
    }
    forms
}

/// The forms of a value behind which so many other bytes belong to it.
fn push_forms(value: &str, rest: usize, forms: &mut Vec<Form>) {
    let mut plain = |bytes: Vec<u8>, rest| forms.push(Form { bytes, base64: false, rest });
    plain(value.as_bytes().to_vec(), rest);
    plain(value.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect(), 2 * rest);
    plain(value.bytes().flat_map(|byte| format!("{byte:02X}").into_bytes()).collect(), 2 * rest);
    if value.contains(' ') {
        // As forms send it.
        plain(value.replace(' ', "+").into_bytes(), rest);
    }
    push_base64(value.as_bytes(), rest, forms);
    let escaped = Raw::string(value);
    let inside = &escaped.as_bytes()[1..escaped.as_bytes().len() - 1];
    if inside != value.as_bytes() {
        // A file of JSON that travels as base64.
        push_base64(inside, rest, forms);
    }
}

/// A header without the scheme in front: `Bearer …`.
fn without_scheme(value: &str) -> Option<&str> {
    let (scheme, rest) = value.split_once(' ')?;
    let rest = rest.trim_start();
    let fits = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (fits && !rest.contains(char::is_whitespace)).then_some(rest)
}

/// What base64 makes of the value behind 0, 1 and 2 other bytes: only the characters that do not depend on what
/// stands around it, so at least ten.
fn push_base64(value: &[u8], rest: usize, forms: &mut Vec<Form>) {
    for before in 0..3 {
        let padded = Zeroizing::new([&[0; 2][..before], value].concat());
        let own = (8 * before).div_ceil(6)..8 * padded.len() / 6;
        let rest = 8 * (padded.len() + rest) / 6 - own.end;
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let text = Zeroizing::new(engine.encode(&padded));
            forms.push(Form { bytes: text.as_bytes()[own.clone()].to_vec(), base64: true, rest });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, expect: &[&str]) {
        let forms: Vec<_> =
            forms(value).into_iter().map(|form| String::from_utf8(form.bytes).unwrap()).collect();
        assert_eq!(forms, expect);
    }

    #[test]
    fn forms_hold_only_what_the_secret_decides() {
        check(
            "abcdefg?",
            &[
                "abcdefg?",
                "616263646566673f",
                "616263646566673F",
                "YWJjZGVmZz",
                "YWJjZGVmZz",
                "FiY2RlZmc/",
                "FiY2RlZmc_",
                "hYmNkZWZnP",
                "hYmNkZWZnP",
            ],
        );
        check("1234567", &[]);
    }

    #[test]
    fn what_follows_an_opening_is_as_long_as_its_form_makes_it() {
        let opening = Opening { text: "tg_abcdefghij_".into(), rest: 43 };
        let whole: Vec<_> = opening.forms().iter().map(|form| form.bytes.len() + form.rest).collect();
        assert_eq!(whole, [57, 114, 114, 76, 76, 75, 75, 75, 75]);
    }

    #[test]
    fn white_space_around_and_a_scheme_in_front_do_not_matter() {
        let raw = |value: &str| -> Vec<String> {
            let plain = forms(value).into_iter().filter(|form| !form.base64);
            plain
                .map(|form| String::from_utf8(form.bytes).unwrap())
                .filter(|form| form.contains('t'))
                .collect()
        };
        assert_eq!(raw(" token-12\n"), ["token-12"]);
        assert_eq!(raw("Bearer token-12"), ["Bearer token-12", "Bearer+token-12", "token-12"]);
        assert_eq!(raw("Bearer token-1"), ["Bearer token-1", "Bearer+token-1"]);
        assert_eq!(raw("to be or not"), ["to be or not", "to+be+or+not"]);
    }
}
