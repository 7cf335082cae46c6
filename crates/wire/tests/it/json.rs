//! Makes JSON: as a value, and as text written in many ways.

use proptest::{collection, prelude::*, sample};

/// A JSON value whose numbers are text and whose objects are lists without duplicate keys.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Plain(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

pub(crate) fn json() -> impl Strategy<Value = Json> {
    let plain = sample::select(vec![
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1.0",
        "1e400",
        "9007199254740993",
        "-0.5E-3",
    ]);
    let leaf = prop_oneof![plain.prop_map(|text| Json::Plain(text.to_owned())), text().prop_map(Json::Text)];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            members(inner, 5).prop_map(Json::Object),
        ]
    })
}

pub(crate) fn object() -> impl Strategy<Value = Json> {
    // Past 16 keys the scanner compares them in another way.
    let many = (key(), text().prop_map(Json::Text));
    prop_oneof![members(json(), 6), unique(collection::vec(many, 0..30))].prop_map(Json::Object)
}

fn members(value: impl Strategy<Value = Json>, most: usize) -> impl Strategy<Value = Vec<(String, Json)>> {
    unique(collection::vec((key(), value), 0..most))
}

fn unique(members: impl Strategy<Value = Vec<(String, Json)>>) -> impl Strategy<Value = Vec<(String, Json)>> {
    members.prop_map(|mut members| {
        let mut seen = std::collections::HashSet::new();
        members.retain(|(key, _)| seen.insert(key.clone()));
        members
    })
}

/// Few different keys, so that they meet.
pub(crate) fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-e]", "[a-e\"\\\\\u{e9}\u{1f600}\n]{0,2}", "[a-z]{1,3}"]
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,6}", "[ -~]{0,30}", "[\"\\\\/\n\r\t\u{0}\u{7f}\u{e9}\u{2028}\u{1f600}]{0,6}"]
}

/// Choices of a writer, used up one by one and then again from the beginning.
pub(crate) struct Choices {
    bytes: Vec<u8>,
    next: usize,
}

impl Choices {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, next: 0 }
    }

    fn choose(&mut self, count: u8) -> u8 {
        let Some(byte) = self.bytes.get(self.next % self.bytes.len().max(1)) else { return 0 };
        self.next += 1;
        byte % count
    }
}

impl Json {
    /// Writes the value, with white space and escapes as chosen.
    pub(crate) fn write(&self, choices: &mut Choices) -> String {
        let mut out = String::new();
        self.write_to(choices, &mut out);
        out
    }

    /// The same value with the members of all its objects the other way round.
    pub(crate) fn reversed(&self) -> Self {
        match self {
            Self::Plain(_) | Self::Text(_) => self.clone(),
            Self::Array(items) => Self::Array(items.iter().map(Self::reversed).collect()),
            Self::Object(members) => Self::Object(
                members.iter().rev().map(|(key, value)| (key.clone(), value.reversed())).collect(),
            ),
        }
    }

    fn write_to(&self, choices: &mut Choices, out: &mut String) {
        space(choices, out);
        match self {
            Self::Plain(text) => out.push_str(text),
            Self::Text(text) => write_text(text, choices, out),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    item.write_to(choices, out);
                }
                space(choices, out);
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    space(choices, out);
                    write_text(key, choices, out);
                    space(choices, out);
                    out.push(':');
                    value.write_to(choices, out);
                }
                space(choices, out);
                out.push('}');
            }
        }
        space(choices, out);
    }
}

fn space(choices: &mut Choices, out: &mut String) {
    out.push_str(["", "", "", "", " ", "\n", "\r\n\t"][usize::from(choices.choose(7))]);
}

fn write_text(text: &str, choices: &mut Choices, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match (c, choices.choose(4)) {
            ('"' | '\\' | '\0'..='\u{1f}', _) | (_, 0) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            ('/', 1) => out.push_str("\\/"),
            (c, _) => out.push(c),
        }
    }
    out.push('"');
}

/// A value, and its text written in some way.
pub(crate) fn written(value: impl Strategy<Value = Json>) -> impl Strategy<Value = (Json, String)> {
    (value, collection::vec(any::<u8>(), 1..40)).prop_map(|(value, bytes)| {
        let text = value.write(&mut Choices::new(bytes));
        (value, text)
    })
}
