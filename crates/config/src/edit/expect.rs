//! What a text must mean after an edit.

use toml::{Table, Value};
use toml_edit::Key;

/// What a text means, if it is TOML.
pub(super) fn read(text: &str) -> Option<Table> {
    text.parse().ok()
}

/// What a text must mean once a key is set.
pub(super) fn with(text: &str, path: &[Key], value: &toml_edit::Value) -> Option<Table> {
    let mut root = read(text)?;
    let mut table = &mut root;
    let (last, above) = path.split_last()?;
    for key in above {
        let entry = table.entry(key.get()).or_insert_with(|| Value::Table(Table::new()));
        table = entry.as_table_mut()?;
    }
    let value = read(&format!("value = {}", value.to_string().trim()))?.remove("value")?;
    table.insert(last.get().to_owned(), value);
    Some(root)
}

/// What a text must mean once a key is removed.
pub(super) fn without(text: &str, path: &[Key]) -> Option<Table> {
    let mut root = read(text)?;
    let mut table = &mut root;
    let (last, above) = path.split_last()?;
    for key in above {
        table = table.get_mut(key.get())?.as_table_mut()?;
    }
    table.remove(last.get())?;
    Some(root)
}

/// A table without the tables in it that are empty: a dotted key takes its table along.
pub(super) fn pruned(table: Table) -> Table {
    let smaller = |value: Value| match value.as_table().cloned() {
        Some(inner) => Value::Table(pruned(inner)),
        None => value,
    };
    let entries = table.into_iter().map(|(key, value)| (key, smaller(value)));
    entries.filter(|(_, value)| value.as_table().is_none_or(|table| !table.is_empty())).collect()
}
