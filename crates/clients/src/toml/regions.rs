//! The lines that an entry is written on.

use std::ops::Range;

use toml_edit::{Item, Table};

use crate::format::Fault;

/// Where an entry is written.
pub(super) enum Written {
    /// Nowhere.
    Nowhere,
    /// As a key of the container: `name = { … }`.
    Inline {
        /// The table between its braces.
        value: Range<usize>,
        /// The whole line.
        line: Range<usize>,
    },
    /// As tables with headers.
    Tables {
        /// Header and keys of the entry itself.
        own: Option<Range<usize>>,
        /// Those of the tables below it, by the key in the entry.
        below: Vec<(String, Range<usize>)>,
    },
}

pub(super) fn of(text: &str, servers: Option<&Table>, container: &str, name: &str) -> Result<Written, Fault> {
    let Some((key, item)) = servers.and_then(|servers| servers.get_key_value(name)) else {
        return Ok(Written::Nowhere);
    };
    let start = key.span().map_or(0, |span| span.start);
    match item {
        Item::Value(value) if value.is_inline_table() => {
            let value = value.span().unwrap_or_default();
            Ok(Written::Inline { line: line_start(text, start)..line_end(text, value.end), value })
        }
        Item::Table(table) if !is_dotted(table) => {
            let own = region(text, table);
            let mut below = Vec::new();
            for (key, item) in table {
                collect(text, key, item, &mut below);
            }
            Ok(Written::Tables { own, below })
        }
        Item::None | Item::Value(_) | Item::Table(_) | Item::ArrayOfTables(_) => {
            let message = format!("`{container}.{name}` is not written as a table");
            Err(Fault::new(start, message, format!("write it as `[{container}.{name}]`, or remove it")))
        }
    }
}

/// The regions of the tables at and below an item.
fn collect(text: &str, key: &str, item: &Item, into: &mut Vec<(String, Range<usize>)>) {
    let tables: Vec<&Table> = match item {
        Item::None | Item::Value(_) => Vec::new(),
        Item::Table(table) => vec![table],
        Item::ArrayOfTables(tables) => tables.iter().collect(),
    };
    for table in tables {
        into.extend(region(text, table).map(|region| (key.to_owned(), region)));
        for (_, item) in table {
            collect(text, key, item, into);
        }
    }
}

/// The lines from a table's header to its last value; none for a table without a header.
fn region(text: &str, table: &Table) -> Option<Range<usize>> {
    if table.is_implicit() || table.is_dotted() {
        return None;
    }
    let header = table.span()?;
    Some(line_start(text, header.start)..line_end(text, values_end(table).unwrap_or(0).max(header.end)))
}

fn values_end(table: &Table) -> Option<usize> {
    let end = |item: &Item| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(table) if table.is_dotted() => values_end(table),
        Item::None | Item::Table(_) | Item::ArrayOfTables(_) => None,
    };
    table.iter().filter_map(|(_, item)| end(item)).max()
}

/// Whether a table is made by keys such as `name.command`, which stand among those of another.
fn is_dotted(table: &Table) -> bool {
    table.is_dotted()
        || table.iter().any(|(_, item)| table.is_implicit() && item.as_table().is_some_and(Table::is_dotted))
}

fn line_start(text: &str, offset: usize) -> usize {
    crate::text::line_start(text, offset)
}

/// The end of the line of an offset, with its break.
fn line_end(text: &str, offset: usize) -> usize {
    text[offset..].find('\n').map_or(text.len(), |at| offset + at + 1)
}

/// The length of the empty line before an offset.
pub(super) fn gap_before(text: &str, offset: usize) -> usize {
    let before = &text[..offset];
    ["\r\n", "\n"]
        .into_iter()
        .find(|newline| before.strip_suffix(newline).is_some_and(|rest| rest.ends_with('\n')))
        .map_or(0, str::len)
}
