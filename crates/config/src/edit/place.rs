//! Where a key stands in the text, or would stand.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Key, Table, TableLike, Value};

use crate::error::{ConfigError, Problem};

/// Where a key stands.
pub(super) enum Spot<'a> {
    /// It has a value; `inline` is the inline table around it, and the way from there.
    Value { name: Range<usize>, value: Range<usize>, inline: Option<(Range<usize>, &'a [Key])> },
    /// It is not there.
    Missing(Missing<'a>),
}

/// Where a key could stand.
pub(super) enum Missing<'a> {
    /// In an inline table that stands there, after the value that ends there.
    InInline { table: Range<usize>, after: Option<usize>, rest: &'a [Key] },
    /// Beside keys that are written with dots, after the value that ends there.
    InDotted { after: usize, rest: &'a [Key] },
    /// In a table whose lines begin and end there, after the value that ends there. `top` has no header.
    InTable { region: Range<usize>, top: bool, after: Option<usize>, key: &'a Key },
    /// In a table that is not there yet.
    NewTable,
}

/// Why a key can have no value.
pub(super) enum Refusal {
    /// It is a table itself.
    IsTable(Vec<String>),
    /// What stands before one of its dots is no table.
    NoTable(String),
    /// What stands before one of its dots is a list of tables.
    IsList(String),
}

impl Refusal {
    pub(super) fn explain(self, key: &str) -> ConfigError {
        let (message, hint) = match self {
            Self::IsTable(keys) => (
                format!("`{key}` is a table, not a value"),
                keys.first().map(|first| format!("name one of its keys, such as `{key}.{first}`")),
            ),
            Self::NoTable(above) => (
                format!("`{above}` is not a table, so there is no `{key}`"),
                Some(format!("remove it first: `toolgate config unset {above}`")),
            ),
            Self::IsList(list) => (
                format!("`{list}` is a list of tables, and `{key}` does not say in which"),
                Some("open the file in an editor".to_owned()),
            ),
        };
        Problem::new(None, message).hint(hint).into()
    }
}

/// Finds the place of a key.
pub(super) fn find<'a>(root: &Table, path: &'a [Key]) -> Result<Spot<'a>, Refusal> {
    let mut table = root;
    // How many keys the last header names; what follows it is written with dots.
    let mut named = 0;
    for (depth, key) in path.iter().enumerate() {
        let last = depth + 1 == path.len();
        match table.get(key.get()) {
            None | Some(Item::None) => {
                return Ok(Spot::Missing(missing(root, table, &path[named..], depth - named)));
            }
            Some(Item::Value(value)) if last => return Ok(here(table, key, value, None)),
            Some(Item::Value(Value::InlineTable(inline))) => {
                let span = inline.span().unwrap_or_default();
                return within(inline, &path[depth + 1..], &span, &path[depth + 1..]);
            }
            Some(Item::Table(inner)) if last => return Err(Refusal::IsTable(keys_of(inner))),
            Some(Item::Table(inner)) => {
                if !inner.is_dotted() {
                    named = depth + 1;
                }
                table = inner;
            }
            Some(Item::ArrayOfTables(_)) if last => return Err(Refusal::IsTable(Vec::new())),
            Some(Item::ArrayOfTables(_)) => return Err(Refusal::IsList(shown(&path[..=depth]))),
            Some(Item::Value(_)) => return Err(Refusal::NoTable(shown(&path[..=depth]))),
        }
    }
    Err(Refusal::IsTable(keys_of(root)))
}

fn here<'a>(
    table: &dyn TableLike,
    key: &Key,
    value: &Value,
    inline: Option<(Range<usize>, &'a [Key])>,
) -> Spot<'a> {
    let name = table.key(key.get()).and_then(Key::span).unwrap_or_default();
    Spot::Value { name, value: value.span().unwrap_or_default(), inline }
}

/// Goes on in an inline table; `outer` is where the outermost one stands, and `from` the way from there.
fn within<'a>(
    table: &InlineTable,
    rest: &'a [Key],
    outer: &Range<usize>,
    from: &'a [Key],
) -> Result<Spot<'a>, Refusal> {
    let [key, below @ ..] = rest else { return Err(Refusal::IsTable(keys_of(table))) };
    match table.get(key.get()) {
        None => {
            let (span, after) = (table.span().unwrap_or_default(), end_of(table));
            Ok(Spot::Missing(Missing::InInline { table: span, after, rest }))
        }
        Some(value) if below.is_empty() => Ok(here(table, key, value, Some((outer.clone(), from)))),
        Some(Value::InlineTable(inner)) => within(inner, below, outer, from),
        Some(_) => Err(Refusal::NoTable(key.get().to_owned())),
    }
}

/// `rest` counts from the last header; `known` of its keys are there.
fn missing<'a>(root: &Table, table: &Table, rest: &'a [Key], known: usize) -> Missing<'a> {
    if table.is_dotted()
        && let Some(after) = end_of(table)
    {
        return Missing::InDotted { after, rest };
    }
    let is_root = std::ptr::eq(root, table);
    match &rest[known..] {
        [key] if is_root || !table.is_implicit() => {
            let start = if is_root { 0 } else { table.span().unwrap_or_default().start };
            Missing::InTable {
                region: start..region_end(root, start, is_root),
                top: is_root,
                after: end_of(table),
                key,
            }
        }
        _ => Missing::NewTable,
    }
}

/// Where the last value of a table ends, those with dots included.
fn end_of(table: &dyn TableLike) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Table(inner) if inner.is_dotted() => end_of(inner),
        Item::Value(Value::InlineTable(inner)) if inner.is_dotted() => end_of(inner),
        Item::Value(value) => value.span().map(|span| span.end),
        Item::None | Item::Table(_) | Item::ArrayOfTables(_) => None,
    });
    ends.max()
}

/// Where the next header after `start` begins, or the end of the text, which is as far as anything.
fn region_end(root: &Table, start: usize, is_root: bool) -> usize {
    let mut headers = Vec::new();
    collect_headers(root, &mut headers);
    headers.into_iter().filter(|at| is_root || *at > start).min().unwrap_or(usize::MAX)
}

fn collect_headers(table: &Table, found: &mut Vec<usize>) {
    for (_, item) in table.iter() {
        match item {
            Item::Table(inner) => {
                if !inner.is_dotted() && !inner.is_implicit() {
                    found.extend(inner.span().map(|span| span.start));
                }
                collect_headers(inner, found);
            }
            Item::ArrayOfTables(tables) => {
                for inner in tables {
                    found.extend(inner.span().map(|span| span.start));
                    collect_headers(inner, found);
                }
            }
            Item::None | Item::Value(_) => {}
        }
    }
}

/// A line that sets a key, but as a comment.
pub(super) struct Placeholder {
    /// Where it stands.
    pub(super) at: Range<usize>,
    /// Its text without the `#`.
    pub(super) code: String,
    /// Where the value is in that.
    pub(super) value: Range<usize>,
}

/// The line of a region that sets the key as a comment.
pub(super) fn placeholder(text: &str, region: Range<usize>, key: &Key) -> Option<Placeholder> {
    let mut start = region.start;
    for line in text[region].split_inclusive('\n') {
        let bare = line.trim_end();
        let at = start..start + bare.len();
        start += line.len();
        let Some(code) = bare.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        let Ok(document) = Document::parse(code) else { continue };
        let mut entries = document.as_table().iter();
        let (Some((name, Item::Value(value))), None) = (entries.next(), entries.next()) else { continue };
        if let (true, Some(value)) = (name == key.get(), value.span()) {
            return Some(Placeholder { at, code: code.to_owned(), value });
        }
    }
    None
}

/// Where the comments begin that stand right above an offset.
pub(super) fn comment_above(text: &str, offset: usize) -> usize {
    let mut start = offset;
    for line in text[..offset].split_inclusive('\n').rev() {
        if !line.trim_start().starts_with('#') {
            break;
        }
        start -= line.len();
    }
    start
}

/// The text of an inline table without one of its keys.
pub(super) fn without(text: &str, path: &[Key]) -> Option<String> {
    let mut outer: Value = text.parse().ok()?;
    let (key, above) = path.split_last()?;
    let mut table = outer.as_inline_table_mut()?;
    for step in above {
        table = table.get_mut(step.get())?.as_inline_table_mut()?;
    }
    table.remove(key.get())?;
    // On several lines there may be comments, which tidying would lose.
    if !text.contains('\n') {
        table.fmt();
    }
    Some(outer.to_string().trim().to_owned())
}

fn keys_of(table: &dyn TableLike) -> Vec<String> {
    table.iter().map(|(key, _)| key.to_owned()).collect()
}

fn shown(path: &[Key]) -> String {
    path.iter().map(Key::get).collect::<Vec<_>>().join(".")
}
