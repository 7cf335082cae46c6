//! What clients put in the place of `${…}` and `{…}`, told in our own words.

use std::path::Path;

use serde_json::{Map, Value};

use super::entry::Scene;
use super::literal::reference;
use super::name::secret_name;

/// A text in our words.
#[derive(Debug, Default)]
pub(super) struct Referred {
    pub(super) text: String,
    /// Secrets that it refers to and that no file holds, with what each is.
    pub(super) missing: Vec<(String, String)>,
    pub(super) notes: Vec<String>,
}

/// Whether a text can refer to variables, or has to hold their values now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Refer,
    Fill,
}

/// Reads a text as its client would.
pub(super) fn read(text: &str, scene: &Scene<'_>, manner: Manner) -> Referred {
    let mut out = Referred::default();
    let mut rest = text;
    while let Some((before, form, behind)) = next(rest) {
        out.text += before;
        match meaning(form, scene, manner, &mut out) {
            Some(meant) => out.text += &meant,
            None => out.text += &rest[before.len()..rest.len() - behind.len()],
        }
        rest = behind;
    }
    out.text += rest;
    out
}

/// The next form: what stands before it, what is in its braces, and what stands behind it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let openings = ["${", "{env:", "{file:"];
    let (at, opening) = openings.into_iter().filter_map(|open| Some((text.find(open)?, open))).min()?;
    // The braces hold the word too, but for the dollar.
    let start = at + if opening == "${" { 2 } else { 1 };
    let end = start + text[start..].find('}')?;
    Some((&text[..at], &text[start..end], &text[end + 1..]))
}

/// What a form stands for; none if it is no form that we know.
fn meaning(form: &str, scene: &Scene<'_>, manner: Manner, out: &mut Referred) -> Option<String> {
    let folder = |path: &Path| path.to_string_lossy().into_owned();
    match form.split_once(':').unwrap_or((form, "")) {
        ("env", name) => Some(variable(name, None, scene, manner, out)),
        ("input", id) => Some(input(id, scene, out)),
        ("file", path) => {
            let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
            let name = secret_name(&[&stem]);
            out.missing.push((name.clone(), format!("the content of `{path}`")));
            Some(reference(&name))
        }
        ("userHome", "") => Some(folder(scene.look.folders.home())),
        ("pathSeparator" | "/", "") => Some(std::path::MAIN_SEPARATOR_STR.to_owned()),
        ("workspaceFolder" | "workspaceRoot", "") => scene.base.map(folder).or_else(|| {
            out.notes.push(format!("`${{{form}}}` is a folder that only the client knows; write it out"));
            None
        }),
        ("workspaceFolderBasename", "") => {
            scene.base.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned())
        }
        (name, default) if is_variable(name) && (default.is_empty() || default.starts_with('-')) => {
            Some(variable(name, default.strip_prefix('-'), scene, manner, out))
        }
        _ => {
            out.notes.push(format!("what `${{{form}}}` stands for is not known; write it out"));
            None
        }
    }
}

fn is_variable(name: &str) -> bool {
    let first = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    first && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn variable(
    name: &str,
    default: Option<&str>,
    scene: &Scene<'_>,
    manner: Manner,
    out: &mut Referred,
) -> String {
    let value = (scene.look.variable)(name);
    match (value, default, manner) {
        (Some(value), _, Manner::Fill) => value,
        (Some(_), _, Manner::Refer) => format!("{{env:{name}}}"),
        (None, Some(default), _) => {
            out.notes.push(format!("`{name}` is not set, so its default is written"));
            default.to_owned()
        }
        (None, None, _) => {
            out.notes.push(format!("`{name}` is not set here; set it before Toolgate starts"));
            format!("{{env:{name}}}")
        }
    }
}

/// VS Code asks for it and keeps it to itself.
fn input(id: &str, scene: &Scene<'_>, out: &mut Referred) -> String {
    let known = scene.inputs.iter().find(|input| input["id"] == id);
    let word = |key: &str| known.and_then(|input| input[key].as_str());
    if let (Some(default), false) = (word("default"), known.is_some_and(|input| input["password"] == true)) {
        out.notes.push(format!("the client asks for `{id}`; its default is written"));
        return default.to_owned();
    }
    let name = secret_name(&[id]);
    out.missing.push((name.clone(), word("description").unwrap_or(id).to_owned()));
    reference(&name)
}

/// Puts one text in the place of another in all texts of a table.
pub(super) fn replace(table: &mut Map<String, Value>, old: &str, new: &str) {
    table.values_mut().for_each(|value| replace_in(value, old, new));
}

fn replace_in(value: &mut Value, old: &str, new: &str) {
    match value {
        Value::String(text) => *text = text.replace(old, new),
        Value::Array(items) => items.iter_mut().for_each(|item| replace_in(item, old, new)),
        Value::Object(object) => replace(object, old, new),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
