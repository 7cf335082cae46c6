//! Screenshots, PDFs and downloads, kept for who took them: within a quota, and for a time.

mod prune;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use toolgate_core::{Error, Kind, Listing, PrincipalId, Result, TemplateItem, resource_not_found};
use toolgate_host::files::ReadOptions;
use toolgate_host::{Clock, FileError, RelPath, Root};
use toolgate_wire::{Raw, Template};

use crate::BrowserConfig;

const URI: &str = "browser://captures/";
const TEMPLATE: &str = "browser://captures/{name}";

/// The largest file.
const MOST: u64 = 48 * 1024 * 1024;

/// How many files are kept of one caller.
const FILES: usize = 2_000;

/// How many files of a caller are looked at: those with the smallest names, which are the oldest.
const LISTED: usize = FILES + 200;

const TYPES: [(&str, &str); 4] =
    [("png", "image/png"), ("jpeg", "image/jpeg"), ("webp", "image/webp"), ("pdf", "application/pdf")];

/// What a download is, by its end; what is none of these is only bytes.
const DOWNLOADS: [(&str, &str); 6] = [
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("json", "application/json"),
    ("txt", "text/plain"),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

/// The files of all callers.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    root: OnceLock<Root>,
    quota: u64,
    keep: Duration,
}

/// A file that is kept. Its name says all about it: when, which, under what tag, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Capture {
    pub(crate) name: String,
    pub(crate) unix_ms: u64,
    pub(crate) tag: Option<String>,
    /// What a download was called.
    pub(crate) file: Option<String>,
    pub(crate) bytes: u64,
    pub(crate) mime: &'static str,
}

impl Capture {
    fn parse(name: &str, bytes: u64) -> Option<Self> {
        let (unix_ms, rest) = name.split_once('-')?;
        let unix_ms = unix_ms.parse().ok()?;
        let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default();
        let known = |types: &[(&str, &'static str)]| {
            types.iter().find(|(known, _)| *known == end).map(|(_, mime)| *mime)
        };
        let noise = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let name = name.to_owned();
        if let Some(file) = rest[noise..].strip_prefix('_') {
            let mime = known(&TYPES).or_else(|| known(&DOWNLOADS)).unwrap_or("application/octet-stream");
            return Some(Self { name, unix_ms, tag: None, file: Some(file.to_owned()), bytes, mime });
        }
        let mime = known(&TYPES)?;
        let (stem, _) = rest[noise..].rsplit_once('.')?;
        let tag = stem.strip_prefix('-').map(Into::into);
        Some(Self { name, unix_ms, tag, file: None, bytes, mime })
    }

    pub(crate) fn uri(&self) -> String {
        format!("{URI}{}", self.name)
    }
}

impl Store {
    pub(crate) fn new(folder: PathBuf, config: &BrowserConfig) -> Self {
        let keep = Duration::from_secs(config.keep_days.saturating_mul(24 * 60 * 60));
        Self { folder, root: OnceLock::new(), quota: config.keep_megabytes.saturating_mul(1 << 20), keep }
    }

    /// How many bytes of downloads are taken at once: pages cannot drive out all that is kept.
    pub(crate) fn room(&self) -> u64 {
        MOST.min(self.quota / 4)
    }

    /// Keeps a picture or a PDF for a caller.
    pub(crate) async fn put(
        &self,
        who: &PrincipalId,
        (end, tag): (&str, Option<&str>),
        bytes: Vec<u8>,
    ) -> Result<Capture> {
        let tag = tag.map(|tag| format!("-{tag}")).unwrap_or_default();
        self.keep(who, &format!("{tag}.{end}"), bytes).await
    }

    /// Keeps a file of a page for a caller, by a name that is only a name.
    pub(crate) async fn put_file(&self, who: &PrincipalId, name: &str, bytes: Vec<u8>) -> Result<Capture> {
        self.keep(who, &format!("_{name}"), bytes).await
    }

    /// Keeps a file for a caller; what is too old or too much goes.
    async fn keep(&self, who: &PrincipalId, end: &str, bytes: Vec<u8>) -> Result<Capture> {
        if bytes.len() as u64 > MOST.min(self.quota) {
            return Err(Error::new(
                Kind::InvalidInput,
                format!("it has {} bytes, which is too much to keep", bytes.len()),
            )
            .hint("take a part of the page, or raise `browser.keep_megabytes`"));
        }
        let mut noise = [0_u8; 4];
        getrandom::fill(&mut noise).map_err(|error| failed("no name can be made").because(error))?;
        let noise: String = noise.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{}-{noise}{end}", Clock::system().unix_ms());
        let size = bytes.len() as u64;
        let path = place(who, &name)?;
        let written = self.root()?.write(&path, bytes, crate::tools::new_file(MOST)).await;
        written.map_err(|error| failed("it cannot be kept").because(error))?;
        self.prune(&place(who, "")?).await?;
        Capture::parse(&name, size).ok_or_else(|| failed("it cannot be found again"))
    }

    /// The files of a caller, the newest first.
    pub(crate) async fn of(&self, who: &PrincipalId) -> Result<Vec<Capture>> {
        let (mut all, _) = self.listed(&place(who, "")?).await?;
        all.retain(|capture| capture.unix_ms >= self.oldest());
        Ok(all)
    }

    /// The files in a folder, the newest first, and whether there are more, which are newer than all of these.
    async fn listed(&self, folder: &RelPath) -> Result<(Vec<Capture>, bool)> {
        let listing = match self.root()?.list(folder, LISTED).await {
            Ok(listing) => listing,
            // Who has none has no folder.
            Err(FileError::NotFound { .. }) => return Ok((Vec::new(), false)),
            Err(error) => return Err(failed("what is kept cannot be listed").because(error)),
        };
        let entries = listing.entries.iter();
        let mut all: Vec<Capture> =
            entries.filter_map(|entry| Capture::parse(&entry.name, entry.size)).collect();
        all.sort_by(|one, other| (other.unix_ms, &other.name).cmp(&(one.unix_ms, &one.name)));
        Ok((all, listing.truncated))
    }

    /// When the oldest file was taken that is kept.
    fn oldest(&self) -> u64 {
        let keep = u64::try_from(self.keep.as_millis()).unwrap_or(u64::MAX);
        Clock::system().unix_ms().saturating_sub(keep)
    }

    /// Answers `resources/read`: only for who took it.
    pub(crate) async fn read(&self, who: &PrincipalId, uri: &str) -> Result<Raw> {
        let name =
            uri.strip_prefix(URI).filter(|name| is_name(name)).ok_or_else(|| resource_not_found(uri))?;
        let capture = Capture::parse(name, 0).filter(|capture| capture.unix_ms >= self.oldest());
        let capture = capture.ok_or_else(|| resource_not_found(uri))?;
        let read = self.root()?.read(&place(who, name)?, ReadOptions::whole(MOST)).await;
        let content = read.map_err(|error| resource_not_found(uri).because(error))?;
        let blob = STANDARD.encode(content.bytes);
        Ok(Raw::of(&json!({"contents": [{"uri": uri, "mimeType": capture.mime, "blob": blob}]})))
    }

    fn root(&self) -> Result<Root> {
        if let Some(root) = self.root.get() {
            return Ok(root.clone());
        }
        let root = Root::create(&self.folder)
            .map_err(|error| failed("the folder cannot be opened").because(error))?;
        Ok(self.root.get_or_init(|| root).clone())
    }
}

/// Puts them on the shelf: what there is differs from one caller to the next, so only its form is listed.
pub(crate) fn list(listing: &mut Listing) {
    let raw = json!({
        "uriTemplate": TEMPLATE,
        "name": "Screenshot, PDF or download of a page",
        "description": "What `take_screenshot`, `save_pdf` and downloads kept; `list_screenshots` tells the names.",
    });
    if let Ok(template) = Template::parse(TEMPLATE) {
        listing.templates.push(Arc::new(TemplateItem {
            template,
            text: TEMPLATE.into(),
            raw: Raw::of(&raw),
        }));
    }
}

/// A tag as part of a name.
pub(crate) fn tag(text: &str) -> Result<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=40).contains(&text.len()) && text.chars().all(fits) {
        return Ok(text.to_owned());
    }
    Err(Error::new(Kind::InvalidInput, "`tag` is no tag").hint("use 1 to 40 letters, digits, `-` and `_`"))
}

fn is_name(name: &str) -> bool {
    name.len() <= 120
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c))
        && !name.starts_with('.')
}

/// Where a file of a caller is. Nobody's name leads to another's folder.
fn place(who: &PrincipalId, name: &str) -> Result<RelPath> {
    let digest = Sha256::digest(who.as_str().as_bytes());
    let folder: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    RelPath::parse(&format!("{folder}/{name}"), "browser")
        .map_err(|error| failed("it has no place").because(error))
}

fn failed(words: &'static str) -> Error {
    Error::new(Kind::Internal, words)
}

#[cfg(test)]
mod tests;
