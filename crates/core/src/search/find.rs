//! `tools_search`: find tools by what they do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Finder;
use crate::catalog::Entry;
use crate::{Hints, Json, Result, RunHandle, Tool, ToolItem, ToolSpec};

/// The most letters of a description.
const LETTERS: usize = 200;

pub(super) struct ToolsSearch;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// What the tool should do, in a few words; empty for all tools in order.
    query: String,
    /// The most tools to return.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
    /// Only tools of this source; of all sources if left out.
    #[serde(default)]
    source: String,
}

fn ten() -> usize {
    10
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Found {
    /// The tools that fit, best first.
    items: Vec<Hit>,
    /// How many fit, those left out by `limit` too.
    total: usize,
    /// Where tools come from, if none was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Hit {
    /// Its name, for `tools_describe` and `tools_call`.
    name: String,
    /// What it does, in one line.
    description: String,
    /// Where it comes from.
    source: String,
    /// What it says of itself: `readOnly`, `destructive`, `idempotent`, `openWorld`.
    hints: Vec<String>,
}

impl Tool<Finder> for ToolsSearch {
    type Input = Input;
    type Output = Json<Found>;
    const SPEC: ToolSpec = ToolSpec {
        name: "tools_search",
        title: "Search tools",
        description: "Find tools by what they do, to call them with `tools_call`.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, finder: &Finder, _: &RunHandle, input: Input) -> Result<Json<Found>> {
        let wanted =
            |entry: &&Entry<ToolItem>| input.source.is_empty() || entry.source.id().as_str() == input.source;
        let fitting: Vec<&Entry<ToolItem>> = if input.query.trim().is_empty() {
            finder.tools.entries.iter().filter(wanted).collect()
        } else {
            finder.found(&input.query).filter(wanted).collect()
        };
        let items: Vec<Hit> = fitting.iter().take(input.limit).map(|entry| hit(entry)).collect();
        let mut sources = Vec::new();
        if items.is_empty() {
            sources.extend(finder.tools.entries.iter().map(|entry| entry.source.id().to_string()));
            sources.dedup();
        }
        Ok(Json(Found { items, total: fitting.len(), sources }))
    }
}

fn hit(entry: &Entry<ToolItem>) -> Hit {
    let tool = &entry.item;
    let description = tool.raw.get("description");
    let description = description.as_ref().and_then(|text| text.as_string()).unwrap_or_default();
    let line = line(if description.trim().is_empty() {
        tool.title.as_deref().unwrap_or_default()
    } else {
        &description
    });
    let Hints { read_only, destructive, idempotent, open_world } = tool.hints;
    let said = [
        ("readOnly", read_only),
        ("destructive", destructive),
        ("idempotent", idempotent),
        ("openWorld", open_world),
    ];
    Hit {
        name: tool.name.to_string(),
        description: line,
        source: entry.source.id().to_string(),
        hints: said.iter().filter(|(_, holds)| *holds).map(|(word, _)| (*word).to_owned()).collect(),
    }
}

/// The first sentence, in one line.
fn line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text.find(". ").map(|at| at + 1);
    let end = end.into_iter().chain(text.find('。').map(|at| at + '。'.len_utf8())).min();
    let sentence = &text[..end.unwrap_or(text.len())];
    match sentence.char_indices().nth(LETTERS) {
        Some((at, _)) => format!("{}…", &sentence[..at]),
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_one_short_line() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(line(text), expect);
        }
        check("", "");
        check("Reads a file.", "Reads a file.");
        check("Reads a file. Then more.", "Reads a file.");
        check("Reads\n  a\tfile\n\nArgs: path", "Reads a file Args: path");
        check("Version 1.5 of it. More", "Version 1.5 of it.");
        check("读取文件。然后", "读取文件。");
        check(&"é".repeat(300), &format!("{}…", "é".repeat(200)));
    }
}
