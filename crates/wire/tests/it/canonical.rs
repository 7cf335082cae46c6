//! Canonical JSON is one text for all ways to write a value.

use bytes::Bytes;
use proptest::{collection, prelude::*};
use toolgate_wire::{Raw, canonical, digest};

use crate::json::{Choices, json};

proptest! {
    #[test]
    fn order_escapes_and_space_do_not_matter(
        value in json(),
        one in collection::vec(any::<u8>(), 1..40),
        other in collection::vec(any::<u8>(), 1..40),
    ) {
        let raw = |text: String| Raw::parse(Bytes::from(text)).unwrap();
        let left = raw(value.write(&mut Choices::new(one)));
        let right = raw(value.reversed().write(&mut Choices::new(other)));
        let (one, other) = (canonical(&left), canonical(&right));
        prop_assert_eq!(one.as_str(), other.as_str());
        prop_assert_eq!(digest(&left), digest(&right));
        prop_assert_eq!(canonical(&canonical(&left)), canonical(&left));
        prop_assert!(Raw::parse(canonical(&left).bytes()).is_ok());
    }

    #[test]
    fn the_value_stays(value in json()) {
        let text = value.write(&mut Choices::new(Vec::new())).replace("1e400", "1e40");
        let raw = Raw::parse(text.into()).unwrap();
        let (before, after): (serde_json::Value, serde_json::Value) = (raw.to().unwrap(), canonical(&raw).to().unwrap());
        prop_assert_eq!(before, after);
    }
}
