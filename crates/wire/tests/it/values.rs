//! Ids, header values and templates.

use proptest::{collection, prelude::*};
use toolgate_wire::{Template, headers};

use crate::json::text;

/// Matches as the definition says, by trying everything.
fn matches_slowly(template: &[&str], uri: &str) -> bool {
    let Some((part, rest)) = template.split_first() else { return uri.is_empty() };
    let ends = |slashes: bool| {
        let allowed = uri.char_indices().take_while(move |(_, c)| slashes || *c != '/');
        allowed.map(|(at, c)| at + c.len_utf8()).any(|end| matches_slowly(rest, &uri[end..]))
    };
    match *part {
        "{a}" => ends(false),
        "{+a}" => ends(true),
        literal => uri.strip_prefix(literal).is_some_and(|after| matches_slowly(rest, after)),
    }
}

proptest! {
    #[test]
    fn header_values_are_read_back(text in text()) {
        let value = headers::encode(&text);
        prop_assert!(value.bytes().all(|byte| matches!(byte, 0x20..=0x7E)));
        let padded = format!(" \t{value} ");
        let decoded = headers::decode(padded.as_bytes()).unwrap();
        prop_assert_eq!(&*decoded, text.as_str());
    }

    #[test]
    fn arbitrary_header_values_never_panic(value in collection::vec(any::<u8>(), 0..40)) {
        if let Ok(text) = headers::decode(&value) {
            let again = headers::encode(&text).into_owned();
            prop_assert_eq!(headers::decode(again.as_bytes()), Ok(text));
        }
    }

    #[test]
    fn templates_match_as_defined(
        parts in collection::vec(proptest::sample::select(vec!["{a}", "{+a}", "x", "/", "xy", "é"]), 0..6),
        uri in "[xy/é]{0,10}",
    ) {
        let template = Template::parse(&parts.concat()).unwrap();
        let found = template.matches(&uri);
        prop_assert_eq!(found.is_some(), matches_slowly(&parts, &uri), "{:?} {}", parts, uri);
        if let Some(values) = found {
            let mut values = values.into_iter().map(|(_, value)| value);
            let again: String =
                parts.iter().map(|part| if part.contains('{') { values.next().unwrap() } else { part }).collect();
            prop_assert_eq!(again, uri);
        }
    }
}
