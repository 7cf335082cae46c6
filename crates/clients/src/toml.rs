//! TOML files: found by their spans, changed by splices, so that no other byte moves.
//!
//! Writing the whole document back is no way: it would turn CRLF into LF.

mod regions;
mod value;

use serde_json::Value;
use toml_edit::{Document, DocumentMut, Item, Table};

use crate::format::Fault;
use crate::splice::{self, Splice};
use crate::text;
use regions::Written;

pub(crate) fn entries(text: &str, container: &str) -> Result<Vec<(String, Value)>, Fault> {
    let document = parse(text)?;
    let Some(servers) = servers(&document, container)? else { return Ok(Vec::new()) };
    Ok(servers.iter().map(|(name, item)| (name.to_owned(), value::to_json(item))).collect())
}

pub(crate) fn has(text: &str, container: &str) -> bool {
    parse(text).is_ok_and(|document| document.contains_key(container))
}

pub(crate) fn set(text: &str, container: &str, name: &str, entry: &Value) -> Result<String, Fault> {
    let document = parse(text)?;
    let servers = servers(&document, container)?;
    if let Some(old) = servers.and_then(|servers| servers.get(name))
        && value::to_json(old) == *entry
    {
        return Ok(text.to_owned());
    }
    match regions::of(text, servers, container, name)? {
        Written::Nowhere => Ok(append(text, container, name, entry)),
        Written::Inline { value, .. } => {
            let with = value::to_toml(entry).to_string().trim().to_owned();
            Ok(splice::apply(text, &[Splice { at: value, with }]))
        }
        Written::Tables { own: None, below } => {
            let cuts: Vec<Splice> = below.into_iter().map(|(_, at)| Splice::cut(at)).collect();
            Ok(append(&splice::apply(text, &cuts), container, name, entry))
        }
        Written::Tables { own: Some(own), below } => {
            let old = servers.and_then(|servers| servers.get(name)).and_then(Item::as_table);
            let changed =
                |key: &str| old.and_then(|old| old.get(key)).map(value::to_json).as_ref() != entry.get(key);
            let (cut, kept): (Vec<_>, Vec<_>) = below.into_iter().partition(|(key, _)| changed(key));
            let kept: Vec<&str> = kept.iter().map(|(key, _)| key.as_str()).collect();
            let with = edited(&text[own.clone()], (container, name), entry, &kept)?;
            let mut splices = vec![Splice { at: own, with: with.replace('\n', text::newline(text)) }];
            splices.extend(cut.into_iter().map(|(_, at)| Splice::cut(at)));
            splices.sort_by_key(|splice| splice.at.start);
            Ok(splice::apply(text, &splices))
        }
    }
}

pub(crate) fn remove(text: &str, container: &str, name: &str) -> Result<String, Fault> {
    let document = parse(text)?;
    let servers = servers(&document, container)?;
    let cuts = match regions::of(text, servers, container, name)? {
        Written::Nowhere => Vec::new(),
        Written::Inline { line, .. } => vec![Splice::cut(line)],
        Written::Tables { own, below } => {
            let mut regions: Vec<_> = own.into_iter().chain(below.into_iter().map(|(_, at)| at)).collect();
            regions.sort_by_key(|region| region.start);
            let cut = |region: std::ops::Range<usize>| {
                let gap = regions::gap_before(text, region.start);
                Splice::cut(region.start - gap..region.end)
            };
            regions.into_iter().map(cut).collect()
        }
    };
    Ok(splice::apply(text, &cuts))
}

/// Whether two texts mean the same, apart from one entry.
pub(crate) fn same_but(before: &str, after: &str, container: &str, name: &str) -> bool {
    let (Ok(before), Ok(after)) = (before.parse::<DocumentMut>(), after.parse::<DocumentMut>()) else {
        return false;
    };
    reduced(before, container, name) == reduced(after, container, name)
}

/// A document without an entry, and without a container that holds nothing.
fn reduced(mut document: DocumentMut, container: &str, name: &str) -> Value {
    if let Some(servers) = document.get_mut(container).and_then(Item::as_table_like_mut) {
        servers.remove(name);
        if servers.is_empty() {
            document.remove(container);
        }
    }
    value::to_json(document.as_item())
}

fn parse(text: &str) -> Result<Document<&str>, Fault> {
    Document::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Fault::new(offset, error.message().to_owned(), "correct it, and run this again; nothing was written")
    })
}

fn servers<'d>(document: &'d Document<&str>, container: &str) -> Result<Option<&'d Table>, Fault> {
    let Some(item) = document.get(container) else { return Ok(None) };
    item.as_table().map(Some).ok_or_else(|| {
        let what = if item.is_inline_table() { "be written as tables, not inline" } else { "be a table" };
        let offset = item.span().map_or(0, |span| span.start);
        let hint = format!("write each server as a table of its own: `[{container}.NAME]`");
        Fault::new(offset, format!("`{container}` must {what}"), hint)
    })
}

/// The entry as a table at the end, where it belongs to no other.
fn append(text: &str, container: &str, name: &str, entry: &Value) -> String {
    let newline = text::newline(text);
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => newline,
        _ => &newline.repeat(2),
    };
    let mut table = format!("[{container}.{name}]\n");
    for (key, value) in entry.as_object().into_iter().flatten() {
        let key = toml_edit::Key::new(key);
        table += &format!("{} = {}\n", key.display_repr(), value::to_toml(value).to_string().trim());
    }
    format!("{text}{gap}{}", table.replace('\n', newline))
}

/// The text of an entry's own table after the change; `kept` are those of its keys that are tables elsewhere.
fn edited(own: &str, (container, name): (&str, &str), entry: &Value, kept: &[&str]) -> Result<String, Fault> {
    let broken =
        || Fault::new(0, format!("`{container}.{name}` cannot be read alone"), "make the change by hand");
    let mut document: DocumentMut = own.parse().map_err(|_| broken())?;
    let table = document.get_mut(container).and_then(|servers| servers.get_mut(name));
    let table = table.and_then(Item::as_table_mut).ok_or_else(broken)?;
    let wanted = entry.as_object().ok_or_else(broken)?;
    table.retain(|key, _| wanted.contains_key(key));
    for (key, value) in wanted.iter().filter(|(key, _)| !kept.contains(&key.as_str())) {
        match table.get_mut(key) {
            Some(item) if value::to_json(item) == *value => {}
            Some(item) => value::replace(item, value),
            None => {
                table.insert(key, Item::Value(value::to_toml(value)));
            }
        }
    }
    let edited = document.to_string();
    let ends = own.ends_with('\n');
    Ok(if ends { edited } else { edited.trim_end_matches('\n').to_owned() })
}
