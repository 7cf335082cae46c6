//! JSON as values of the language, and back.

use std::borrow::Cow;

use num_bigint::BigInt;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::float::UnpackFloat;
use starlark::values::list::AllocList;
use starlark::values::{Heap, UnpackValue as _, Value};
use toolgate_wire::{Kind, Raw};

/// How deep data may nest on its way out; JSON that comes in is held to as much by its parser.
const DEPTH: usize = 120;

/// Why a value cannot be written as JSON.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    #[error("data nests more than {DEPTH} levels deep")]
    Deep,
    #[error("data has more than {0} bytes as JSON")]
    Large(usize),
    #[error("a value of type `{0}` is no data: use None, bool, int, float, string, list, tuple or dict")]
    Type(String),
    #[error("a key of type `{0}` cannot be written as JSON: use strings")]
    Key(String),
    #[error("`{0}` cannot be written as JSON: only finite numbers can")]
    Number(String),
    #[error("{0}")]
    Broken(String),
}

/// Writes a value as JSON, with its keys in their order.
pub(super) fn encode<'v>(value: Value<'v>, heap: &'v Heap, most: usize) -> Result<String, Unfit> {
    let mut writer = Writer { out: String::new(), heap, most };
    writer.value(value, 0)?;
    Ok(writer.out)
}

struct Writer<'v> {
    out: String,
    heap: &'v Heap,
    most: usize,
}

impl<'v> Writer<'v> {
    fn value(&mut self, value: Value<'v>, depth: usize) -> Result<(), Unfit> {
        if depth > DEPTH {
            return Err(Unfit::Deep);
        }
        if value.is_none() {
            return self.push("null");
        }
        if let Some(flag) = value.unpack_bool() {
            return self.push(if flag { "true" } else { "false" });
        }
        if let Some(text) = value.unpack_str() {
            return self.string(text);
        }
        if let Some(dict) = DictRef::from_value(value) {
            return self.entries(dict.iter(), depth);
        }
        match value.get_type() {
            // However long: an integer is written digit by digit.
            "int" => self.push(&value.to_str()),
            "float" => self.float(value),
            "list" | "tuple" | "range" | "set" => self.items(value, depth),
            "struct" => {
                let names = value.dir_attr();
                let fields = names.into_iter().filter_map(|name| {
                    let field = value.get_attr(&name, self.heap).ok()??;
                    Some((self.heap.alloc(name), field))
                });
                self.entries(fields.collect::<Vec<_>>().into_iter(), depth)
            }
            other => Err(Unfit::Type(other.to_owned())),
        }
    }

    fn items(&mut self, value: Value<'v>, depth: usize) -> Result<(), Unfit> {
        self.push("[")?;
        let items = value.iterate(self.heap).map_err(|error| Unfit::Broken(error.to_string()))?;
        for (place, item) in items.enumerate() {
            if place > 0 {
                self.push(",")?;
            }
            self.value(item, depth + 1)?;
        }
        self.push("]")
    }

    fn entries(
        &mut self,
        entries: impl Iterator<Item = (Value<'v>, Value<'v>)>,
        depth: usize,
    ) -> Result<(), Unfit> {
        self.push("{")?;
        for (place, (key, value)) in entries.enumerate() {
            if place > 0 {
                self.push(",")?;
            }
            match (key.unpack_str(), key.get_type()) {
                (Some(text), _) => self.string(text)?,
                (None, "int") => self.string(&key.to_str())?,
                (None, other) => return Err(Unfit::Key(other.to_owned())),
            }
            self.push(":")?;
            self.value(value, depth + 1)?;
        }
        self.push("}")
    }

    fn float(&mut self, value: Value<'v>) -> Result<(), Unfit> {
        let number = UnpackFloat::unpack_value(value).ok().flatten().map(|float| float.0);
        match number.and_then(serde_json::Number::from_f64) {
            Some(number) => self.push(&number.to_string()),
            None => Err(Unfit::Number(value.to_str())),
        }
    }

    fn string(&mut self, text: &str) -> Result<(), Unfit> {
        if text.len() > self.most {
            return Err(Unfit::Large(self.most));
        }
        self.push(Raw::string(text).as_str())
    }

    fn push(&mut self, text: &str) -> Result<(), Unfit> {
        if self.out.len() + text.len() > self.most {
            return Err(Unfit::Large(self.most));
        }
        self.out.push_str(text);
        Ok(())
    }
}

/// Reads JSON: integers stay integers, however long.
pub(super) fn decode<'v>(text: &str, heap: &'v Heap) -> Result<Value<'v>, String> {
    let json = Raw::parse(text.to_owned().into()).map_err(|error| format!("this is not JSON: {error}"))?;
    alloc(&json, heap)
}

/// JSON as a value. How deep it nests was bounded when it was read.
pub(super) fn alloc<'v>(json: &Raw, heap: &'v Heap) -> Result<Value<'v>, String> {
    Ok(match json.kind() {
        Kind::Null => Value::new_none(),
        Kind::Bool => Value::new_bool(json.as_bool() == Some(true)),
        Kind::String => heap.alloc(&*json.as_string().unwrap_or_default()),
        Kind::Number => return number(json.as_str(), heap),
        Kind::Array => {
            let items: Result<Vec<Value<'v>>, String> = json.items().map(|item| alloc(&item, heap)).collect();
            heap.alloc(AllocList(items?))
        }
        Kind::Object => {
            let entry = |(key, value): (Cow<'_, str>, Raw)| Ok((key.into_owned(), alloc(&value, heap)?));
            let entries: Result<Vec<(String, Value<'v>)>, String> = json.entries().map(entry).collect();
            heap.alloc(AllocDict(entries?))
        }
    })
}

fn number<'v>(text: &str, heap: &'v Heap) -> Result<Value<'v>, String> {
    // `-0` is a float: there is no such integer.
    if !text.contains(['.', 'e', 'E']) && text != "-0" {
        let long = || text.parse::<BigInt>().map(|long| heap.alloc(long)).map_err(|error| error.to_string());
        return text.parse::<i64>().map_or_else(|_| long(), |short| Ok(heap.alloc(short)));
    }
    match text.parse::<f64>() {
        Ok(float) if float.is_finite() => Ok(heap.alloc(float)),
        _ => Err(format!("`{}` is no number that can be held", text.chars().take(40).collect::<String>())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_comes_back_as_it_went_in() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            let back = {
                let heap = Heap::new();
                encode(decode(text, &heap).unwrap(), &heap, 1 << 20).unwrap()
            };
            assert_eq!(back, expect);
        }
        for same in [
            "null",
            "true",
            "0",
            "-7",
            "9007199254740993",
            "123456789012345678901234567890",
            "1.5",
            "\"\"",
            "\"a\\n\\\"b\\u0001\"",
            "[]",
            "[1,[2,[]]]",
            "{\"b\":1,\"a\":{\"c\":null}}",
        ] {
            check(same, same);
        }
        check("1e3", "1000.0");
        check("-0", "-0.0");
    }

    #[test]
    fn what_is_no_json_or_no_number_is_refused() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            let said = decode(text, &Heap::new()).map(|_| ()).unwrap_err();
            assert!(said.contains(expect), "{said}");
        }
        check("", "not JSON");
        check("{'a': 1}", "not JSON");
        check("1e400", "no number");
        check(&"[".repeat(100_000), "not JSON");
        check(r#"{"a": 1, "a": 2}"#, "not JSON");
    }

    #[test]
    fn output_is_bounded_in_depth_and_size() {
        #[track_caller]
        fn check(json: &str, most: usize, expect: Option<Unfit>) {
            let heap = Heap::new();
            let said = encode(decode(json, &heap).unwrap(), &heap, most).err();
            assert_eq!(said, expect);
        }
        let deep = format!("{}{}", "[".repeat(125), "]".repeat(125));
        check(&deep, 1000, Some(Unfit::Deep));
        check("[1,2]", 5, None);
        check("[1,2]", 4, Some(Unfit::Large(4)));
        check("\"abc\"", 4, Some(Unfit::Large(4)));
        let heap = Heap::new();
        let keys = encode(heap.alloc(AllocDict([(1, true), (2, false)])), &heap, 100).unwrap();
        assert_eq!(keys, r#"{"1":true,"2":false}"#);
    }
}
