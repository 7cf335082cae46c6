//! Values as text, in the manner of the text around them.

use serde_json::Value;

/// How an object is laid out.
#[derive(Debug, Clone, Copy)]
pub(super) enum Layout<'a> {
    /// A property a line; lists stay on one.
    Lines {
        /// The blanks before the line that the object begins on.
        indent: &'a str,
        /// What each level adds.
        unit: &'a str,
        /// The line break.
        newline: &'a str,
    },
    /// All on one line.
    Line {
        /// Whether there are blanks after commas and colons.
        spaced: bool,
    },
}

/// A property.
pub(super) fn property(key: &str, content: &Value, layout: &Layout<'_>) -> String {
    let blank = if matches!(layout, Layout::Line { spaced: false }) { "" } else { " " };
    format!("{}:{blank}{}", Value::from(key), value(content, layout))
}

/// A value.
pub(super) fn value(value: &Value, layout: &Layout<'_>) -> String {
    match (value, layout) {
        (Value::Object(object), Layout::Lines { indent, unit, newline }) if !object.is_empty() => {
            let deeper = format!("{indent}{unit}");
            let inner = Layout::Lines { indent: &deeper, unit, newline };
            let lines = object.iter().map(|(key, value)| format!("{deeper}{}", property(key, value, &inner)));
            format!(
                "{{{newline}{}{newline}{indent}}}",
                lines.collect::<Vec<_>>().join(&format!(",{newline}"))
            )
        }
        (Value::Object(object), Layout::Line { spaced }) if !object.is_empty() => {
            let (comma, edge) = if *spaced { (", ", " ") } else { (",", "") };
            let pairs = object.iter().map(|(key, value)| property(key, value, layout));
            format!("{{{edge}{}{edge}}}", pairs.collect::<Vec<_>>().join(comma))
        }
        (Value::Array(items), _) => {
            let spaced = !matches!(layout, Layout::Line { spaced: false });
            let inner = Layout::Line { spaced };
            let items = items.iter().map(|item| self::value(item, &inner));
            format!("[{}]", items.collect::<Vec<_>>().join(if spaced { ", " } else { "," }))
        }
        (scalar, _) => scalar.to_string(),
    }
}
