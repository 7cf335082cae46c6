//! `opencode_find_symbols`: where things are defined in the project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::search::{Found, none, search};
use crate::pack::Opencode;

pub(super) struct FindSymbols;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// A part of the name of what is looked for.
    query: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// What was found.
    items: Vec<Item>,
    /// Whether there are more.
    truncated: bool,
    /// How many files were not searched because they are larger than 2 MiB.
    #[serde(default, skip_serializing_if = "none")]
    too_large: usize,
}

#[derive(Serialize, JsonSchema)]
struct Item {
    /// The name of what is defined.
    name: String,
    /// What it is, in the word of its language, such as fn or class.
    kind: String,
    /// The path of the file, from the root of the project.
    path: String,
    /// The number of the line.
    line: u64,
}

impl Tool<Opencode> for FindSymbols {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_find_symbols",
        title: "Find symbols",
        description: "Find where functions, types and the like are defined in the project.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: Input) -> Result<Json<Output>> {
        let project = pack.project(None)?;
        let query = regex::escape(&input.query);
        let pattern = format!(r"(?i)\b(?:{KINDS})\s+(?:\([^()]*\)\s*)?\w*{query}\w*");
        let Found { hits, truncated, too_large } =
            search(&project.path, None, ("query", &pattern), MOST).await?;
        let mut items = Vec::new();
        for hit in hits {
            let Some((kind, name)) = definition(&hit.text, &input.query) else { continue };
            items.push(Item { name, kind, path: hit.path, line: hit.line });
        }
        Ok(Json(Output { items, truncated, too_large }))
    }
}

/// How many are found at most.
const MOST: usize = 500;

/// The words that begin a definition in the languages that people use most.
const KINDS: &str =
    "fn|struct|enum|trait|union|mod|type|const|static|class|interface|def|func|function|module|namespace";

/// The definition on a line: its kind and its name. Comments and prose define nothing.
fn definition(line: &str, query: &str) -> Option<(String, String)> {
    let line = line.trim_start();
    if ["//", "#", "*", "/*", "--"].iter().any(|mark| line.starts_with(mark)) {
        return None;
    }
    let mut rest = line;
    loop {
        let (word, behind) = first_word(&rest[rest.find(is_letter)?..]);
        rest = behind;
        // Where a kind follows a kind, as in `const fn`, the last one tells what it is.
        if let Some(name) = name(word, behind).filter(|name| is_kind(word) && !is_kind(name)) {
            let fits = name.to_lowercase().contains(&query.to_lowercase());
            return fits.then(|| (word.to_owned(), name.to_owned()));
        }
    }
}

/// What stands behind the word for a kind, as a name does. In Go the receiver of a method comes first.
fn name<'l>(kind: &str, behind: &'l str) -> Option<&'l str> {
    let behind = behind.strip_prefix(char::is_whitespace)?.trim_start();
    let behind = match behind.strip_prefix('(').filter(|_| kind == "func") {
        Some(receiver) => receiver.split_once(')')?.1.trim_start(),
        None => behind,
    };
    Some(first_word(behind).0).filter(|name| !name.is_empty())
}

fn first_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|letter| !is_letter(letter)).unwrap_or(text.len()))
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_kind(word: &str) -> bool {
    KINDS.split('|').any(|kind| kind == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_told_from_prose() {
        #[track_caller]
        fn check(line: &str, expect: Option<(&str, &str)>) {
            let found = definition(line, "Par");
            assert_eq!(found.as_ref().map(|(kind, name)| (kind.as_str(), name.as_str())), expect, "{line}");
        }
        check("pub(crate) async fn parse(text: &str) {", Some(("fn", "parse")));
        check("export class Parser extends Base {", Some(("class", "Parser")));
        check("    def _parse(self):", Some(("def", "_parse")));
        check("func Parse() {}", Some(("func", "Parse")));
        check("pub const fn parse() {", Some(("fn", "parse")));
        check("const enum Parts {", Some(("enum", "Parts")));
        check("enum class Parity : int {", Some(("class", "Parity")));
        check("func (p *P[T]) Parse() {}", Some(("func", "Parse")));
        check("fn (parse) {", None);
        check("const type = parse();", None);
        check("const", None);
        check("// the fn parse is gone", None);
        check("let parse = 1;", None);
        check("fn other() { parse() }", None);
    }
}
