//! An index over tools: which words stand where, and how much they say.

use std::collections::BTreeMap;

use toolgate_wire::Raw;

use super::words;
use crate::ToolItem;

/// How much a word counts by where it stands.
const NAME: f32 = 5.0;
const TITLE: f32 = 3.0;
const SOURCE: f32 = 2.0;
const DESCRIPTION: f32 = 1.5;
const PARAMETER: f32 = 1.0;
const ABOUT_PARAMETER: f32 = 0.5;

/// How fast a repeated word ceases to count (BM25's `k1`), and how much long texts count less (its `b`).
const REPEATED: f32 = 1.2;
const LENGTH: f32 = 0.3;

/// Of how many words a question may consist, and how many words one unfinished word may stand for.
const MOST_WORDS: usize = 24;
const MOST_ENDINGS: usize = 64;

/// How deep parameters are looked for in a schema, and how many are.
const DEEP: usize = 3;
const MOST_PARAMETERS: usize = 200;

/// An index over tools, which are numbered in the order they were given.
pub(super) struct Index {
    /// Every word with the tools that have it, by word.
    words: Vec<(Box<str>, Vec<Posting>)>,
    tools: Vec<Indexed>,
    /// The mean of their lengths.
    mean: f32,
}

struct Posting {
    tool: u32,
    weight: f32,
}

struct Indexed {
    /// How long its texts are, weighed.
    length: f32,
    /// Its name in letters and digits.
    name: Box<str>,
}

impl Index {
    pub(super) fn new<'a>(tools: impl Iterator<Item = (&'a str, &'a ToolItem)>) -> Self {
        let mut all: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        let mut indexed = Vec::new();
        for (number, (source, tool)) in tools.enumerate() {
            let mut length = 0.0;
            for (word, weight) in weighed(source, tool) {
                length += weight;
                let postings = all.entry(word).or_default();
                #[expect(clippy::cast_possible_truncation, reason = "there are not that many tools")]
                let number = number as u32;
                match postings.last_mut().filter(|last| last.tool == number) {
                    Some(last) => last.weight += weight,
                    None => postings.push(Posting { tool: number, weight }),
                }
            }
            indexed.push(Indexed { length, name: words::squashed(tool.name.as_str()).into() });
        }
        #[expect(clippy::cast_precision_loss, reason = "a mean need not be exact")]
        let mean = indexed.iter().map(|tool| tool.length).sum::<f32>() / indexed.len().max(1) as f32;
        let words = all.into_iter().map(|(word, postings)| (word.into(), postings)).collect();
        Self { words, tools: indexed, mean: mean.max(1.0) }
    }

    /// The numbers of the tools that fit, best first; of equals the earlier one.
    pub(super) fn find(&self, query: &str) -> Vec<usize> {
        let asked = words::of_query(query, MOST_WORDS);
        let mut scores = vec![0.0_f32; self.tools.len()];
        let mut matched = vec![0_u16; self.tools.len()];
        let mut best = vec![0.0_f32; self.tools.len()];
        for word in &asked {
            best.fill(0.0);
            self.weigh(word, &mut best);
            for (tool, score) in best.iter().enumerate().filter(|(_, score)| **score > 0.0) {
                scores[tool] += score;
                matched[tool] += 1;
            }
        }
        let whole = words::squashed(query);
        let mut found: Vec<(f32, usize)> = Vec::new();
        for (tool, indexed) in self.tools.iter().enumerate() {
            let is_named = !whole.is_empty() && *indexed.name == *whole;
            if scores[tool] > 0.0 || is_named {
                // Who fits all that was asked comes before who fits a part of it very well.
                let share = f32::from(matched[tool]) / f32::from(asked.len().min(MOST_WORDS) as u16).max(1.0);
                let score = scores[tool] * (0.25 + 0.75 * share * share);
                found.push((if is_named { f32::MAX } else { score }, tool));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(_, tool)| tool).collect()
    }

    /// What a word says for each tool; a word that is not finished says less.
    fn weigh(&self, word: &str, best: &mut [f32]) {
        let start = self.words.partition_point(|(known, _)| **known < *word);
        let unfinished = word.chars().count() >= 3;
        let endings = self.words[start..].iter().take(if unfinished { MOST_ENDINGS } else { 1 });
        for (known, postings) in endings.take_while(|(known, _)| known.starts_with(word)) {
            let exact = known.len() == word.len();
            if !exact && !unfinished {
                return;
            }
            #[expect(clippy::cast_precision_loss, reason = "words are short, and tools few enough")]
            let (share, all, having) = (
                if exact { 1.0 } else { 0.6 * word.len() as f32 / known.len() as f32 },
                self.tools.len() as f32,
                postings.len() as f32,
            );
            let rare = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            for posting in postings {
                let tool = posting.tool as usize;
                let long = 1.0 - LENGTH + LENGTH * self.tools[tool].length / self.mean;
                let score =
                    share * rare * posting.weight * (REPEATED + 1.0) / (posting.weight + REPEATED * long);
                best[tool] = best[tool].max(score);
            }
        }
    }
}

/// The words of a tool, with how much each counts.
fn weighed(source: &str, tool: &ToolItem) -> Vec<(String, f32)> {
    let mut all = Vec::new();
    let mut add = |text: &str, weight: f32| {
        all.extend(words::of_text(text).into_iter().map(|word| (word, weight)));
    };
    add(tool.name.as_str(), NAME);
    add(source, SOURCE);
    add(tool.title.as_deref().unwrap_or_default(), TITLE);
    let text = |raw: &Raw, key: &str| raw.get(key).and_then(|text| text.as_string().map(String::from));
    add(&text(&tool.raw, "description").unwrap_or_default(), DESCRIPTION);
    if let Some(schema) = tool.raw.get("inputSchema") {
        let mut parameters = Vec::new();
        collect(&schema, DEEP, &mut parameters);
        for (name, about) in parameters {
            add(&name, PARAMETER);
            add(&text(&about, "description").unwrap_or_default(), ABOUT_PARAMETER);
        }
    }
    all
}

/// The parameters of a schema, and those inside of them.
fn collect(schema: &Raw, deep: usize, all: &mut Vec<(String, Raw)>) {
    if deep == 0 {
        return;
    }
    for (name, about) in schema.get("properties").iter().flat_map(Raw::entries) {
        if all.len() >= MOST_PARAMETERS {
            return;
        }
        all.push((name.into_owned(), about.clone()));
        collect(&about, deep - 1, all);
        if let Some(items) = about.get("items") {
            collect(&items, deep - 1, all);
        }
    }
}
