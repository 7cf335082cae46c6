//! A new property at the end of an object, written as its neighbours are.

use jsonc_parser::ast::{Object, ObjectProp};
use jsonc_parser::common::Ranged as _;
use serde_json::Value;

use super::render::{self, Layout};
use super::trivia;
use crate::splice::Splice;
use crate::text;

/// The indentation of a text that shows none.
pub(super) const UNIT: &str = "  ";

/// How a text is written.
pub(super) struct Style<'a> {
    unit: &'a str,
    newline: &'static str,
    /// The whole text is one line, as programs write it that do not expect readers.
    one_line: bool,
}

impl<'a> Style<'a> {
    pub(super) fn of(text: &'a str, root: &Object<'_>) -> Self {
        let first = root.properties.first().filter(|first| text::begins_line(text, first.start()));
        let outer = text::indent(text, root.start());
        let unit = first.and_then(|first| text::indent(text, first.start()).strip_prefix(outer));
        let unit = unit.filter(|unit| !unit.is_empty());
        let one_line = !root.properties.is_empty() && !text[root.start()..root.end()].contains('\n');
        Self { unit: unit.unwrap_or(UNIT), newline: text::newline(text), one_line }
    }

    pub(super) fn lines<'s>(&'s self, indent: &'s str) -> Layout<'s> {
        Layout::Lines { indent, unit: self.unit, newline: self.newline }
    }
}

/// The edits that add a property.
pub(super) fn property(
    text: &str,
    object: &Object<'_>,
    key: &str,
    value: &Value,
    style: &Style<'_>,
) -> Vec<Splice> {
    match object.properties.last() {
        Some(last) => after(text, last, object, (key, value), style),
        None => vec![into_empty(text, object, (key, value), style)],
    }
}

fn after(
    text: &str,
    last: &ObjectProp<'_>,
    object: &Object<'_>,
    (key, value): (&str, &Value),
    style: &Style<'_>,
) -> Vec<Splice> {
    let next = trivia::skip(text, last.end());
    let has_comma = text[next..].starts_with(',');
    let from = if has_comma { next + 1 } else { last.end() };
    let rest = trivia::rest_of_line(text, from);
    let on_line = text::begins_line(text, last.start());
    let property = if on_line || rest.to_end {
        let indent =
            if on_line { text::indent(text, last.start()).to_owned() } else { deeper(text, object, style) };
        format!("{}{indent}{}", style.newline, render::property(key, value, &style.lines(&indent)))
    } else {
        let spaced = is_spaced(text, last);
        let blank = if spaced { " " } else { "" };
        format!("{blank}{}", render::property(key, value, &Layout::Line { spaced }))
    };
    if has_comma {
        // Where the last one has a comma, its owner wants one there.
        return vec![Splice::insert(rest.end, property + ",")];
    }
    vec![Splice::insert(last.end(), ","), Splice::insert(rest.end, property)]
}

fn into_empty(text: &str, object: &Object<'_>, (key, value): (&str, &Value), style: &Style<'_>) -> Splice {
    let close = object.end() - 1;
    let inner = &text[object.start() + 1..close];
    if style.one_line && inner.trim().is_empty() {
        return Splice::insert(close, render::property(key, value, &Layout::Line { spaced: false }));
    }
    // Behind the last comment, if there is one; else before the line break that is there, if there is one.
    let comments = inner.trim_end();
    let blank = comments.is_empty();
    let at = if blank && !inner.contains('\n') { close } else { object.start() + 1 + comments.len() };
    let own_line = !blank && text::begins_line(text, comment_start(text, object.start() + 1, at));
    let indent = if own_line { text::indent(text, at).to_owned() } else { deeper(text, object, style) };
    let property = render::property(key, value, &style.lines(&indent));
    let tail = if text[at..close].contains('\n') {
        String::new()
    } else {
        format!("{}{}", style.newline, text::indent(text, object.start()))
    };
    Splice::insert(at, format!("{}{indent}{property}{tail}", style.newline))
}

/// Where the last line of what stands in an object begins to say something.
fn comment_start(text: &str, from: usize, to: usize) -> usize {
    let start = text::line_start(text, to).max(from);
    start + text[start..to].len() - text[start..to].trim_start().len()
}

/// The indentation of what stands in an object.
fn deeper(text: &str, object: &Object<'_>, style: &Style<'_>) -> String {
    format!("{}{}", text::indent(text, object.start()), style.unit)
}

/// Whether there is a blank between a property's name and its value.
pub(super) fn is_spaced(text: &str, property: &ObjectProp<'_>) -> bool {
    text[property.name.end()..property.value.start()].contains([' ', '\t', '\n'])
}
