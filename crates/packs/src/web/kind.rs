//! What kind of content an answer has: from its header, else from how it begins.

use toolgate_core::{Error, Kind, Result};

/// What can be done with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// It is a page.
    Html,
    /// It is read as it is.
    Text,
}

/// A header `Content-Type`, taken apart.
#[derive(Debug, Clone, Default)]
pub(super) struct ContentType {
    /// Type and subtype in lower case; empty if there is none.
    pub(super) essence: String,
    /// The character set it names.
    pub(super) charset: Option<String>,
}

impl ContentType {
    pub(super) fn parse(header: &str) -> Self {
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("charset")
                .then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        });
        Self { essence, charset }
    }

    /// What the header says of the body; nothing if it says nothing.
    ///
    /// # Errors
    /// It is nothing to read.
    pub(super) fn content(&self) -> Result<Option<Content>> {
        let (group, name) = self.essence.split_once('/').unwrap_or((&self.essence, ""));
        let is_text = |name: &str| {
            TEXTS.contains(&name) || ["+json", "+xml", "+yaml"].iter().any(|end| name.ends_with(end))
        };
        match (group, name) {
            ("text", "html") | ("application", "xhtml+xml") => Ok(Some(Content::Html)),
            ("text", _) => Ok(Some(Content::Text)),
            ("application" | "model" | "image" | "message", name) if is_text(name) => Ok(Some(Content::Text)),
            ("", _) => Ok(None),
            _ => Err(unreadable(&self.essence)),
        }
    }
}

/// Types that are text though they are not called so.
const TEXTS: [&str; 14] = [
    "json",
    "ld+json",
    "x-ndjson",
    "ndjson",
    "jsonl",
    "xml",
    "javascript",
    "x-javascript",
    "ecmascript",
    "yaml",
    "x-yaml",
    "toml",
    "x-sh",
    "sql",
];

/// What a body is of which the header says nothing, or only that it is text.
///
/// # Errors
/// It is nothing to read.
pub(super) fn sniff(said: Option<Content>, body: &[u8]) -> Result<Content> {
    let begins = |with: &[u8]| body.starts_with(with);
    if begins(b"%PDF-") {
        return Err(unreadable("application/pdf"));
    }
    // Text in UTF-16 is full of zeros, but begins with a mark.
    let is_marked = begins(b"\xFF\xFE") || begins(b"\xFE\xFF");
    if !is_marked && body.iter().take(1024).any(|byte| *byte == 0) {
        return Err(unreadable("binary data"));
    }
    let start: Vec<u8> = body.trim_ascii_start().iter().take(15).map(u8::to_ascii_lowercase).collect();
    let is_page = || start.starts_with(b"<!doctype html") || start.starts_with(b"<html");
    Ok(said.unwrap_or_else(|| if is_page() { Content::Html } else { Content::Text }))
}

fn unreadable(what: &str) -> Error {
    let hint = if what == "application/pdf" {
        "this tool reads pages and text; look for the same as a web page, or download it with another tool"
    } else {
        "this tool reads pages and text, such as HTML, JSON or plain text"
    };
    Error::new(Kind::InvalidInput, format!("the address holds `{what}`, which is no text")).hint(hint)
}
