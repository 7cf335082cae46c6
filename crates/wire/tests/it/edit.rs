//! Edits change what they name, and not one byte more.

use proptest::{collection, prelude::*};
use serde_json::Value;
use toolgate_wire::{Edit, Raw};

use crate::json::{key, object, written};

#[derive(Clone, Debug)]
enum Step {
    Set(String, u32),
    Append(String, u32),
    Remove(String),
    SetIn(String, String, u32),
    RemoveIn(String, String),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (key(), any::<u32>()).prop_map(|(key, value)| Step::Set(key, value)),
        (key(), any::<u32>()).prop_map(|(key, value)| Step::Append(key, value)),
        key().prop_map(Step::Remove),
        (key(), key(), any::<u32>()).prop_map(|(outer, key, value)| Step::SetIn(outer, key, value)),
        (key(), key()).prop_map(|(outer, key)| Step::RemoveIn(outer, key)),
    ]
}

fn edit<'a>(edit: Edit<'a>, step: &Step) -> Edit<'a> {
    match step {
        Step::Set(key, value) => edit.set(key, Raw::of(value)),
        Step::Append(key, value) => edit.append(key, Raw::of(value)),
        Step::Remove(key) => edit.remove(key),
        Step::SetIn(outer, key, value) => edit.set_in(outer, key, Raw::of(value)),
        Step::RemoveIn(outer, key) => edit.remove_in(outer, key),
    }
}

fn model(members: &mut serde_json::Map<String, Value>, step: &Step) {
    match step {
        Step::Set(key, value) => drop(members.insert(key.clone(), (*value).into())),
        Step::Append(key, value) => {
            members.shift_remove(key);
            members.insert(key.clone(), (*value).into());
        }
        Step::Remove(key) => drop(members.shift_remove(key)),
        Step::SetIn(outer, key, value) => {
            let inner = members.entry(outer.clone()).or_insert(Value::Null);
            if !inner.is_object() {
                *inner = Value::Object(serde_json::Map::new());
            }
            inner[key] = (*value).into();
        }
        Step::RemoveIn(outer, key) => {
            if let Some(inner) = members.get_mut(outer).and_then(Value::as_object_mut) {
                inner.shift_remove(key);
            }
        }
    }
}

proptest! {
    #[test]
    fn edits_are_those_of_a_map((_, text) in written(object()), steps in collection::vec(step(), 0..6)) {
        // The model cannot hold what does not fit a float.
        let text = text.replace("1e400", "1e40");
        let raw = Raw::parse(text.into()).unwrap();
        let mut members: serde_json::Map<String, Value> = raw.to().unwrap();
        steps.iter().for_each(|step| model(&mut members, step));
        let edited = steps.iter().fold(Edit::new(&raw), edit).finish();
        prop_assert!(Raw::parse(edited.bytes()).is_ok());
        let found: serde_json::Map<String, Value> = edited.to().unwrap();
        prop_assert_eq!(found.iter().collect::<Vec<_>>(), members.iter().collect::<Vec<_>>());
    }

    #[test]
    fn untouched_bytes_stay((_, text) in written(object()), key in key(), value in any::<u32>()) {
        let raw = Raw::parse(text.into()).unwrap();
        let edited = Edit::new(&raw).set(&key, Raw::of(&value)).finish();
        let expected = match raw.get(&key) {
            Some(old) => {
                let start = old.as_bytes().as_ptr() as usize - raw.as_bytes().as_ptr() as usize;
                let (before, after) = (&raw.as_str()[..start], &raw.as_str()[start + old.as_str().len()..]);
                format!("{before}{value}{after}")
            }
            None if raw.entries().count() == 0 => format!("{{{}:{value}}}", Raw::string(&key).as_str()),
            None => format!("{},{}:{value}}}", &raw.as_str()[..raw.as_str().len() - 1], Raw::string(&key).as_str()),
        };
        prop_assert_eq!(edited.as_str(), expected);
        let back = Edit::new(&raw).append("a key of its own", Raw::NULL).remove("a key of its own").finish();
        let unspaced = raw.entries().count() == 0;
        prop_assert!(unspaced || back == raw);
        let same = Edit::new(&raw).remove("a key of its own").finish();
        prop_assert_eq!(same.as_bytes().as_ptr(), raw.as_bytes().as_ptr());
    }
}
