//! JSON and JSONC files: found by their syntax tree, changed by splices, so that no other byte moves.

mod fault;
mod insert;
mod remove;
mod render;
mod shadow;
mod trivia;

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, JsonObject, JsonValue, ParseOptions, parse_to_ast, parse_to_value};
use serde_json::{Map, Value};

use crate::format::Fault;
use crate::splice::{self, Splice};
use crate::text;
use insert::Style;
use render::Layout;

/// Comments and trailing commas are what clients allow; anything looser they refuse themselves.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(crate) fn entries(text: &str, path: &[&str]) -> Result<Vec<(String, Value)>, Fault> {
    let shadow = shadow::of(text);
    let Some(root) = root(&shadow)? else { return Ok(Vec::new()) };
    let Some(servers) = within(root, path)? else { return Ok(Vec::new()) };
    Ok(servers.properties.into_iter().map(|prop| (prop.name.into_string(), prop.value.into())).collect())
}

pub(crate) fn has(text: &str, path: &[&str]) -> bool {
    root(&shadow::of(text))
        .is_ok_and(|root| root.is_some_and(|root| within(root, path).is_ok_and(|found| found.is_some())))
}

pub(crate) fn set(text: &str, path: &[&str], name: &str, entry: &Value) -> Result<String, Fault> {
    let shadow = shadow::of(text);
    let Some(mut here) = root(&shadow)? else {
        return Ok(begin(text, &nested(path, name, entry)));
    };
    let style = Style::of(text, &here);
    for (depth, key) in path.iter().enumerate() {
        let Some(next) = child(&here, key)? else {
            let value = nested(&path[depth + 1..], name, entry);
            return Ok(splice::apply(text, &insert::property(text, &here, key, &value, &style)));
        };
        here = object(&next.value, key)?.clone();
    }
    let splices = match child(&here, name)? {
        None => insert::property(text, &here, name, entry, &style),
        Some(old) if Value::from(old.value.clone()) == *entry => return Ok(text.to_owned()),
        Some(old) => vec![replace(text, old, entry, &style)],
    };
    Ok(splice::apply(text, &splices))
}

pub(crate) fn remove(text: &str, path: &[&str], name: &str, prune: bool) -> Result<String, Fault> {
    let Some(after) = without(text, path, name)? else { return Ok(text.to_owned()) };
    let shadow = shadow::of(&after).into_owned();
    let Some(root) = root(&shadow)? else { return Ok(after) };
    let Some(servers) = within(root, path)? else { return Ok(after) };
    let inner = servers.start() + 1..servers.end() - 1;
    if !after[inner.clone()].trim().is_empty() {
        return Ok(after);
    }
    match path.split_last() {
        Some((last, above)) if prune => Ok(without(&after, above, last)?.unwrap_or(after)),
        _ => Ok(splice::apply(&after, &[Splice::cut(inner)])),
    }
}

/// Whether two texts mean the same, apart from one entry.
pub(crate) fn same_but(before: &str, after: &str, path: &[&str], name: &str) -> bool {
    let (before, after) = (shadow::of(before), shadow::of(after));
    let (Ok(before), Ok(after)) = (parse_to_value(&before, &OPTIONS), parse_to_value(&after, &OPTIONS))
    else {
        return false;
    };
    reduced(before, path, name) == reduced(after, path, name)
}

/// A document without its container, and the container without an entry; what is empty counts as not there.
fn reduced<'a>(
    value: Option<JsonValue<'a>>,
    path: &[&str],
    name: &str,
) -> (Option<JsonValue<'a>>, Vec<Option<JsonObject<'a>>>) {
    let Some(JsonValue::Object(mut root)) = value else { return (value, vec![None; path.len()]) };
    let mut below = Vec::new();
    let mut taken = path.first().and_then(|key| root.take_object(key));
    for key in path.iter().skip(1) {
        let next = taken.as_mut().and_then(|object| object.take_object(key));
        below.push(taken.filter(|object| !object.is_empty()));
        taken = next;
    }
    if let Some(servers) = &mut taken {
        servers.take(name);
    }
    below.push(taken.filter(|servers| !servers.is_empty()));
    ((!root.is_empty()).then_some(JsonValue::Object(root)), below)
}

/// The text without a property of the object at this path, if it is there.
fn without(text: &str, path: &[&str], name: &str) -> Result<Option<String>, Fault> {
    let shadow = shadow::of(text);
    let Some(root) = root(&shadow)? else { return Ok(None) };
    let Some(here) = within(root, path)? else { return Ok(None) };
    child(&here, name)?;
    let place = here.properties.iter().position(|prop| prop.name.as_str() == name);
    Ok(place.map(|place| splice::apply(text, &remove::property(text, &here.properties, place))))
}

/// The object at a path below another one, if it is there.
fn within<'a>(mut here: Object<'a>, path: &[&str]) -> Result<Option<Object<'a>>, Fault> {
    for key in path {
        let Some(next) = child(&here, key)? else { return Ok(None) };
        here = object(&next.value, key)?.clone();
    }
    Ok(Some(here))
}

/// The object that a text is, or rather its shadow; none for one without any value.
fn root(text: &str) -> Result<Option<Object<'_>>, Fault> {
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| fault::syntax(&error))?;
    match parsed.value {
        None => Ok(None),
        Some(Node::Object(object)) => Ok(Some(object)),
        Some(other) => {
            let message = format!("the file must hold an object, not {}", kind(&other));
            Err(Fault::new(other.start(), message, "let it begin with `{` and end with `}`"))
        }
    }
}

/// The property of an object, if it is there once.
fn child<'o, 'a>(object: &'o Object<'a>, name: &str) -> Result<Option<&'o ObjectProp<'a>>, Fault> {
    let mut found = object.properties.iter().filter(|prop| prop.name.as_str() == name);
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(second) => {
            let message = format!("`{name}` is there twice, and it is not clear which one counts");
            Err(Fault::new(second.start(), message, "remove one of the two"))
        }
    }
}

fn object<'o, 'a>(value: &'o Node<'a>, name: &str) -> Result<&'o Object<'a>, Fault> {
    value.as_object().ok_or_else(|| {
        let message = format!("`{name}` must be an object, not {}", kind(value));
        Fault::new(value.start(), message, format!("write `\"{name}\": {{}}`"))
    })
}

fn kind(value: &Node<'_>) -> &'static str {
    match value {
        Node::StringLit(_) => "a string",
        Node::NumberLit(_) => "a number",
        Node::BooleanLit(_) => "a boolean",
        Node::Object(_) => "an object",
        Node::Array(_) => "a list",
        Node::NullKeyword(_) => "null",
    }
}

/// The first value of a text that has none: it is empty, or holds comments only.
fn begin(text: &str, value: &Value) -> String {
    let newline = text::newline(text);
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let layout = Layout::Lines { indent: "", unit: insert::UNIT, newline };
    format!("{text}{gap}{}{newline}", render::value(value, &layout))
}

fn replace(text: &str, old: &ObjectProp<'_>, entry: &Value, style: &Style<'_>) -> Splice {
    let at = old.value.start()..old.value.end();
    let lines = text::begins_line(text, old.start()) || text[at.clone()].contains('\n');
    let layout = if lines {
        style.lines(text::indent(text, old.start()))
    } else {
        Layout::Line { spaced: insert::is_spaced(text, old) }
    };
    Splice { at, with: render::value(entry, &layout) }
}

/// An entry below these keys.
fn nested(path: &[&str], name: &str, entry: &Value) -> Value {
    let below = |value, key: &&str| Value::Object(Map::from_iter([((*key).to_owned(), value)]));
    path.iter().rev().fold(below(entry.clone(), &name), below)
}
