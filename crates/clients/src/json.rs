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

pub(crate) fn entries(text: &str, container: &str) -> Result<Vec<(String, Value)>, Fault> {
    let shadow = shadow::of(text);
    let Some(root) = root(&shadow)? else { return Ok(Vec::new()) };
    let Some(servers) = child(&root, container)? else { return Ok(Vec::new()) };
    let servers = object(&servers.value, container)?.clone();
    Ok(servers.properties.into_iter().map(|prop| (prop.name.into_string(), prop.value.into())).collect())
}

pub(crate) fn has(text: &str, container: &str) -> bool {
    root(&shadow::of(text))
        .is_ok_and(|root| root.is_some_and(|root| child(&root, container).is_ok_and(|found| found.is_some())))
}

pub(crate) fn set(text: &str, container: &str, name: &str, entry: &Value) -> Result<String, Fault> {
    let shadow = shadow::of(text);
    let Some(root) = root(&shadow)? else {
        return Ok(begin(text, &nested(container, nested(name, entry.clone()))));
    };
    let style = Style::of(text, &root);
    let splices = match child(&root, container)? {
        None => insert::property(text, &root, container, &nested(name, entry.clone()), &style),
        Some(servers) => {
            let servers = object(&servers.value, container)?;
            match child(servers, name)? {
                None => insert::property(text, servers, name, entry, &style),
                Some(old) if Value::from(old.value.clone()) == *entry => return Ok(text.to_owned()),
                Some(old) => vec![replace(text, old, entry, &style)],
            }
        }
    };
    Ok(splice::apply(text, &splices))
}

pub(crate) fn remove(text: &str, container: &str, name: &str, prune: bool) -> Result<String, Fault> {
    let Some(after) = without(text, &[container], name)? else { return Ok(text.to_owned()) };
    let shadow = shadow::of(&after).into_owned();
    let Some(root) = root(&shadow)? else { return Ok(after) };
    let Some(servers) = child(&root, container)? else { return Ok(after) };
    let servers = object(&servers.value, container)?;
    let inner = servers.start() + 1..servers.end() - 1;
    if !after[inner.clone()].trim().is_empty() {
        return Ok(after);
    }
    if prune {
        return Ok(without(&after, &[], container)?.unwrap_or(after));
    }
    Ok(splice::apply(&after, &[Splice::cut(inner)]))
}

/// Whether two texts mean the same, apart from one entry.
pub(crate) fn same_but(before: &str, after: &str, container: &str, name: &str) -> bool {
    let (before, after) = (shadow::of(before), shadow::of(after));
    let (Ok(before), Ok(after)) = (parse_to_value(&before, &OPTIONS), parse_to_value(&after, &OPTIONS))
    else {
        return false;
    };
    reduced(before, container, name) == reduced(after, container, name)
}

/// A document without its container, and the container without an entry; what is empty counts as not there.
fn reduced<'a>(
    value: Option<JsonValue<'a>>,
    container: &str,
    name: &str,
) -> (Option<JsonValue<'a>>, Option<JsonObject<'a>>) {
    let Some(JsonValue::Object(mut root)) = value else { return (value, None) };
    let mut servers = root.take_object(container);
    if let Some(servers) = &mut servers {
        servers.take(name);
    }
    ((!root.is_empty()).then_some(JsonValue::Object(root)), servers.filter(|servers| !servers.is_empty()))
}

/// The text without a property of the object at this path, if it is there.
fn without(text: &str, path: &[&str], name: &str) -> Result<Option<String>, Fault> {
    let shadow = shadow::of(text);
    let Some(mut object_here) = root(&shadow)? else { return Ok(None) };
    for key in path {
        let Some(next) = child(&object_here, key)? else { return Ok(None) };
        object_here = object(&next.value, key)?.clone();
    }
    child(&object_here, name)?;
    let place = object_here.properties.iter().position(|prop| prop.name.as_str() == name);
    Ok(place.map(|place| splice::apply(text, &remove::property(text, &object_here.properties, place))))
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

fn nested(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}
