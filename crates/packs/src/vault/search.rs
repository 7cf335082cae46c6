//! `vault_search`: find notes by words, tags, front matter and links.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec, iso8601};
use toolgate_host::files::FileContent;
use toolgate_host::{FileError, RelPath};

use super::excerpt::{self, excerpts};
use super::index::words::{self, Asked};
use super::index::{Index, Known, Stamp, Wanted};
use super::{Vault, note};
use crate::failure::failure;

/// How often it is looked again, where notes change all the while.
const ROUNDS: usize = 4;
/// The most links that are shown of one note, in each direction.
const MOST_LINKS: usize = 50;

pub(super) struct VaultSearch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Words to look for, in any order; notes with more of them come first. May be empty if something else narrows it.
    #[serde(default)]
    query: String,
    /// Path of the folder to search, from the root of the vault; everything if left out.
    #[serde(default)]
    path: String,
    /// Only notes with all these tags, or tags below them.
    #[serde(default)]
    tags: Vec<String>,
    /// Only notes with all these properties in their front matter, each `key` or `key=value`.
    #[serde(default)]
    properties: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "Only notes that link to the note at this path.")]
    links_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "Only notes that the note at this path links to.")]
    linked_from: Option<String>,
    /// Whether to show what each note links to, and what links to it.
    #[serde(default)]
    links: bool,
    /// The most notes to return.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// How many of the notes to leave out at the beginning.
    #[serde(default)]
    offset: usize,
}

const fn default_limit() -> usize {
    10
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The notes that were found, best first; without words the one that was changed last comes first.
    items: Vec<Item>,
    /// How many notes were found in all.
    total: usize,
    /// How many notes the vault has.
    notes: usize,
    /// How many of them are too large or cannot be read, so that only their names were searched.
    unread: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "usize",
        description = "What to give as `offset` for the next notes; there are none if it is left out."
    )]
    next_offset: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "Why what is elsewhere could not be brought in before.")]
    not_pulled: Option<String>,
}

#[derive(Clone, Serialize, JsonSchema)]
struct Item {
    /// Path of the note, from the root of the vault.
    path: String,
    /// Its title: what its front matter says, else its first heading, else its name.
    title: String,
    /// When it was last changed, in UTC.
    modified: String,
    /// The tags of the note.
    tags: Vec<String>,
    /// Its front matter, lists as texts with commas.
    properties: BTreeMap<String, String>,
    /// The lines that say most about the query.
    excerpts: Vec<Excerpt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "Vec<String>",
        description = "Paths of the notes that it links to, where that was asked for."
    )]
    links: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "Vec<String>",
        description = "Paths of the notes that link to it, where that was asked for."
    )]
    backlinks: Option<Vec<String>>,
}

#[derive(Clone, Serialize, JsonSchema)]
struct Excerpt {
    /// The number of the line, from 1.
    line: usize,
    /// The line, or a piece of it.
    text: String,
}

impl Tool<Vault> for VaultSearch {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "vault_search",
        title: "Search notes",
        description: "Find notes of the vault by words, tags, front matter and links.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &Vault, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        input.wanted()?;
        let not_pulled = pack.pulled().await;
        let asked = words::of_query(&input.query);
        let input = std::sync::Arc::new(input);
        let mut rounds = 0;
        loop {
            rounds += 1;
            pack.0.keeper.refresh().await?;
            let input = input.clone();
            let mut page = pack.0.keeper.ask(move |index| Page::find(index, &input)).await??;
            let changed = page.excerpt(pack, &asked).await?;
            // A note that is not what was indexed may not belong here, or others may belong before it. One that changes
            // all the time is shown as it was found: better than no answer at all.
            if changed.is_empty() || rounds == ROUNDS {
                return Ok(Json(Output { not_pulled, ..page.output }));
            }
            pack.0.keeper.touch(changed);
        }
    }
}

impl Input {
    fn wanted(&self) -> Result<Wanted> {
        let wrong =
            |message: String, hint: &'static str| Err(Error::new(Kind::InvalidInput, message).hint(hint));
        let words = words::of_query(&self.query);
        let narrowed = !self.tags.is_empty()
            || !self.properties.is_empty()
            || self.links_to.is_some()
            || self.linked_from.is_some();
        if words.is_empty() && (!narrowed || !self.query.trim().is_empty()) {
            let hint =
                "give words in `query`, or narrow it by `tags`, `properties`, `links_to` or `linked_from`";
            return wrong("`query` has no words to look for".into(), hint);
        }
        let mut tags = Vec::new();
        for text in &self.tags {
            match note::tag(text) {
                Some(tag) => tags.push(tag),
                None => {
                    return wrong(
                        format!("`tags` holds `{text}`, which is no tag"),
                        "write tags as `project/alpha`",
                    );
                }
            }
        }
        let mut properties = Vec::new();
        for text in &self.properties {
            let (key, value) =
                text.split_once('=').map_or((text.as_str(), None), |(key, value)| (key, Some(value)));
            if key.trim().is_empty() {
                return wrong(
                    format!("`properties` holds `{text}`, which has no key"),
                    "write properties as `key` or `key=value`",
                );
            }
            properties.push((key.trim().to_lowercase(), value.map(|value| value.trim().to_lowercase())));
        }
        Ok(Wanted {
            words,
            folder: super::path(&self.path)?.to_string(),
            tags,
            properties,
            links_to: None,
            linked_from: None,
        })
    }
}

/// One page of what was found.
struct Page {
    output: Output,
    /// What each note was when it was indexed; nothing for one whose text is not searched.
    stamps: Vec<Option<Stamp>>,
}

impl Page {
    fn find(index: &Index, input: &Input) -> Result<Self> {
        let wanted = Wanted {
            links_to: input.links_to.as_deref().map(|path| named(index, path, "links_to")).transpose()?,
            linked_from: input
                .linked_from
                .as_deref()
                .map(|path| named(index, path, "linked_from"))
                .transpose()?,
            ..input.wanted()?
        };
        let found = index.find(&wanted);
        let here = found.iter().skip(input.offset).take(input.limit).map(|found| found.known);
        let (items, stamps): (Vec<_>, Vec<_>) = here
            .map(|known| (Item::new(index, known, input.links), known.read.then_some(known.stamp)))
            .unzip();
        let end = input.offset.saturating_add(items.len());
        let output = Output {
            items,
            total: found.len(),
            notes: index.len(),
            unread: index.unread(),
            next_offset: (end < found.len()).then_some(end),
            not_pulled: None,
        };
        Ok(Self { output, stamps })
    }

    /// Adds excerpts, and says which notes are not what was indexed.
    async fn excerpt(&mut self, pack: &Vault, asked: &[Asked]) -> Result<Vec<RelPath>> {
        let paths = self.output.items.iter().filter_map(|item| RelPath::parse(&item.path, "").ok()).collect();
        let asked = asked.to_vec();
        let visit =
            move |path: RelPath, content: Result<FileContent, FileError>| (path, read(content, &asked));
        let read = pack.root().read_each(paths, pack.0.max_read_bytes, visit).await;
        let read = read.map_err(|error| failure(error, super::ADVICE))?;
        let mut changed = Vec::new();
        for ((item, stamp), (path, (now, found))) in self.output.items.iter_mut().zip(&self.stamps).zip(read)
        {
            if *stamp != now {
                changed.push(path);
            }
            item.excerpts =
                found.into_iter().map(|found| Excerpt { line: found.line, text: found.text }).collect();
        }
        Ok(changed)
    }
}

/// What a note is now, and what it says about the question.
fn read(content: Result<FileContent, FileError>, asked: &[Asked]) -> (Option<Stamp>, Vec<excerpt::Excerpt>) {
    let Ok(content) = content else { return (None, Vec::new()) };
    let stamp = Stamp { size: content.total_size, modified_unix_ms: content.modified_unix_ms };
    (Some(stamp), excerpts(&String::from_utf8_lossy(&content.bytes), asked))
}

/// The path of a note that has to be there.
fn named(index: &Index, text: &str, field: &str) -> Result<String> {
    let path = super::path(text)?;
    let endings = ["", ".md", ".markdown"];
    let there = endings.iter().map(|end| format!("{path}{end}")).find(|path| index.at(path).is_some());
    there.ok_or_else(|| {
        Error::new(Kind::FileNotFound, format!("there is no note `{path}`, which `{field}` names"))
            .hint("call `vault_list` or `vault_search` to see what exists")
    })
}

impl Item {
    fn new(index: &Index, known: &Known, links: bool) -> Self {
        let owned = |paths: Vec<&str>| paths.into_iter().take(MOST_LINKS).map(ToOwned::to_owned).collect();
        Self {
            path: known.path.to_string(),
            title: known.title.to_string(),
            modified: iso8601(known.stamp.modified_unix_ms),
            tags: known.tags.iter().map(ToString::to_string).collect(),
            properties: known
                .properties
                .iter()
                .map(|(key, value)| (key.to_string(), value.to_string()))
                .collect(),
            excerpts: Vec::new(),
            links: links.then(|| owned(index.links_of(&known.path))),
            backlinks: links.then(|| owned(index.links_to(&known.path))),
        }
    }
}
