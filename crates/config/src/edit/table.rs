//! Adding and removing a whole table, with every other byte kept.

use std::ops::Range;

use serde_json::Value as Json;
use toml_edit::{Array, InlineTable, Item, Key, Table, Value};

use super::{by_hand, dotted, expect, line_end, line_start, newline, parse, parse_key, problem, replace};
use super::{split_mark, unset};
use crate::error::ConfigError;

/// A value as it is written in TOML; null, which TOML has not, is an empty text.
#[must_use]
pub fn literal(value: &Json) -> String {
    fn toml(value: &Json) -> Value {
        match value {
            Json::Null => Value::from(""),
            Json::Bool(truth) => Value::from(*truth),
            Json::Number(number) => match number.as_i64() {
                Some(integer) => Value::from(integer),
                None => Value::from(number.as_f64().unwrap_or_default()),
            },
            Json::String(text) => Value::from(text.as_str()),
            Json::Array(items) => Value::Array(items.iter().map(toml).collect::<Array>()),
            Json::Object(object) => {
                let pairs = object.iter().map(|(key, value)| (Key::new(key), toml(value)));
                Value::InlineTable(pairs.collect::<InlineTable>())
            }
        }
    }
    toml(value).to_string().trim().to_owned()
}

/// The text with a table at its end that holds these keys, each with a value that is written in TOML.
///
/// # Errors
/// The text is not TOML, or something of that name is there.
pub fn add_table(text: &str, key: &str, entries: &[(String, String)]) -> Result<String, ConfigError> {
    let (mark, text) = split_mark(text);
    let path = parse_key(key)?;
    if find(parse(text)?.as_table(), &path).is_some() {
        let hint = format!("remove it first: `toolgate config unset {key}`");
        return Err(problem(format!("`{key}` is there already")).hint(hint).into());
    }
    let newline = newline(text);
    let mut added = format!("[{}]{newline}", dotted(&path));
    for (name, value) in entries {
        added += &format!("{} = {value}{newline}", dotted(&[Key::new(name)]));
    }
    let gap = match text {
        text if text.trim().is_empty() => "",
        text if text.ends_with('\n') => newline,
        _ => &newline.repeat(2),
    };
    let edited = format!("{text}{gap}{added}");
    let mut expected = expect::read(text);
    for (name, value) in entries {
        let parsed: Value = value.parse().map_err(|_| problem(format!("`{key}.{name}` is no TOML")))?;
        let path: Vec<Key> = path.iter().cloned().chain([Key::new(name)]).collect();
        expected = expected.and_then(|table| expect::with(&table.to_string(), &path, &parsed));
    }
    if expected.is_none() || expect::read(&edited).map(expect::pruned) != expected.map(expect::pruned) {
        return Err(by_hand(key));
    }
    Ok(format!("{mark}{edited}"))
}

/// The text without a table and all that is below it.
///
/// # Errors
/// The text is not TOML, or there is no such table.
pub fn remove_table(text: &str, key: &str) -> Result<String, ConfigError> {
    let (mark, bare) = split_mark(text);
    let path = parse_key(key)?;
    let document = parse(bare)?;
    let Some(item) = find(document.as_table(), &path) else {
        return Err(problem(format!("`{key}` is not set in this file")).into());
    };
    let Item::Table(table) = item else { return unset(text, key) };
    let mut regions = Vec::new();
    collect(bare, table, &mut regions);
    regions.sort_by_key(|region| region.start);
    let mut edited = bare.to_owned();
    for region in regions.into_iter().rev() {
        let start = region.start - gap_before(bare, region.start);
        edited = replace(&edited, start..region.end, "");
    }
    let mut edited = format!("{mark}{edited}");
    for leaf in dotted_leaves(table, key) {
        edited = unset(&edited, &leaf)?;
    }
    if expect::read(split_mark(&edited).1).map(expect::pruned)
        != expect::without(bare, &path).map(expect::pruned)
    {
        return Err(by_hand(key));
    }
    Ok(edited)
}

fn find<'t>(table: &'t Table, path: &[Key]) -> Option<&'t Item> {
    let (last, above) = path.split_last()?;
    let mut here: &dyn toml_edit::TableLike = table;
    for key in above {
        here = here.get(key.get())?.as_table_like()?;
    }
    here.get(last.get()).filter(|item| !item.is_none())
}

/// The lines of a table and of those below it, each from its header to its last value.
fn collect(text: &str, table: &Table, into: &mut Vec<Range<usize>>) {
    if !table.is_implicit()
        && !table.is_dotted()
        && let Some(header) = table.span()
    {
        let end = values_end(table).unwrap_or(0).max(header.end);
        into.push(line_start(text, header.start)..line_end(text, end));
    }
    for (_, item) in table {
        match item {
            Item::Table(inner) => collect(text, inner, into),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|inner| collect(text, inner, into)),
            Item::None | Item::Value(_) => {}
        }
    }
}

fn values_end(table: &Table) -> Option<usize> {
    let end = |item: &Item| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(inner) if inner.is_dotted() => values_end(inner),
        Item::None | Item::Table(_) | Item::ArrayOfTables(_) => None,
    };
    table.iter().filter_map(|(_, item)| end(item)).max()
}

/// The keys of a table that has no header of its own: they stand among those of another.
fn dotted_leaves(table: &Table, key: &str) -> Vec<String> {
    if !table.is_dotted() {
        return Vec::new();
    }
    let leaves = |(name, item): (&str, &Item)| {
        let name = format!("{key}.{}", dotted(&[Key::new(name)]));
        match item {
            Item::Table(inner) => dotted_leaves(inner, &name),
            Item::None | Item::Value(_) | Item::ArrayOfTables(_) => vec![name],
        }
    };
    table.iter().flat_map(leaves).collect()
}

/// The length of the empty line before an offset.
fn gap_before(text: &str, offset: usize) -> usize {
    let before = &text[..offset];
    ["\r\n", "\n"]
        .into_iter()
        .find(|newline| before.strip_suffix(newline).is_some_and(|rest| rest.ends_with('\n')))
        .map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<(String, String)> {
        vec![("command".into(), "\"npx\"".into()), ("env".into(), "{ A = \"b\" }".into())]
    }

    /// What is added is removed again, and the text is what it was.
    #[track_caller]
    fn check(before: &str, expect: &str) {
        let added = add_table(before, "mcp.new", &entries()).unwrap();
        assert_eq!(added, expect);
        assert_eq!(remove_table(&added, "mcp.new").unwrap(), before);
    }

    const NEW: &str = "[mcp.new]\ncommand = \"npx\"\nenv = { A = \"b\" }\n";

    #[test]
    fn a_table_comes_at_the_end_and_goes_without_a_trace() {
        check("", NEW);
        check("# mine\nx = 1 # one\n", &format!("# mine\nx = 1 # one\n\n{NEW}"));
        check("[mcp.old]\nurl = \"u\"\n# last\n", &format!("[mcp.old]\nurl = \"u\"\n# last\n\n{NEW}"));
        check("\u{feff}x = 1\r\n", &format!("\u{feff}x = 1\r\n\r\n{}", NEW.replace('\n', "\r\n")));
        let added = add_table("x = 1", "mcp.new", &entries()).unwrap();
        assert_eq!(added, format!("x = 1\n\n{NEW}"));
    }

    #[test]
    fn values_are_written_in_toml() {
        let value = serde_json::json!({"a b": ["x\"y", 1, 1.5, true, null], "c": {"d": "\u{7f}"}});
        let written = literal(&value);
        assert_eq!(written, r#"{ "a b" = ['x"y', 1, 1.5, true, ""], c = { d = "\u007F" } }"#);
        let added = add_table("", "t", &[("v".into(), written)]).unwrap();
        assert!(added.starts_with("[t]\nv = { "), "{added}");
    }

    #[test]
    fn a_table_goes_from_wherever_it_stands() {
        #[track_caller]
        fn check(before: &str, expect: &str) {
            assert_eq!(remove_table(before, "mcp.a").unwrap(), expect);
        }
        check("[mcp.a]\nx = 1\n\n[mcp.b]\ny = 2\n", "\n[mcp.b]\ny = 2\n");
        check(
            "z = 0\n\n[mcp.a]\nx = [\n  1,\n]\n[mcp.a.env]\nA = \"b\"\n\n# b\n[mcp.b]\ny = 2\n",
            "z = 0\n\n# b\n[mcp.b]\ny = 2\n",
        );
        check("[mcp]\na = { x = 1 }\nb = { y = 2 }\n", "[mcp]\nb = { y = 2 }\n");
        check("[mcp]\na.x = 1\na.env.A = 'b'\nb.y = 2\n", "[mcp]\nb.y = 2\n");
        check("mcp.a.x = 1\nz = 1\n", "z = 1\n");
        check("mcp = { a = { x = 1 }, b = { y = 2 } }\n", "mcp = { b = { y = 2 } }\n");
    }

    #[test]
    fn what_is_there_is_not_added_and_what_is_not_there_does_not_go() {
        for text in ["[mcp.new]\n", "mcp.new.x = 1\n", "[mcp]\nnew = {}\n", "mcp = 1\n", "[["] {
            assert!(add_table(text, "mcp.new", &entries()).is_err(), "{text}");
        }
        for text in ["", "[mcp.b]\n", "mcp = 1\n"] {
            assert!(remove_table(text, "mcp.new").is_err(), "{text}");
        }
    }
}
