//! What tools cost: a client gives a model all definitions at the start of every conversation.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Hub, ListKind, Principal};

/// The packs of the lean choice.
const LEAN: &[&str] = &["workspace"];

/// Bytes of JSON to a token: a rule of thumb, which is why we say "about".
const BYTES: usize = 4;

/// About how many tokens so many bytes of JSON are.
pub(crate) fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(BYTES)
}

/// What is on, and the tokens of each.
#[derive(Debug)]
pub(crate) struct Costs {
    /// The tokens of the tools to search with, where clients search.
    search: Option<usize>,
    sources: Vec<(String, usize)>,
    profiles: Vec<(String, usize)>,
}

impl Costs {
    pub(super) async fn of(hub: &Hub) -> Self {
        let view = hub.settled_view(&Principal::local(), ListKind::Tools).await;
        let mut packs: Vec<(String, usize)> = Vec::new();
        for (source, tool) in view.tools_by_source() {
            let bytes = tool.raw.as_bytes().len();
            match packs.iter_mut().find(|(name, _)| name == source) {
                Some((_, sum)) => *sum += bytes,
                None => packs.push((source.to_owned(), bytes)),
            }
        }
        for (_, cost) in &mut packs {
            *cost = tokens(*cost);
        }
        let profile = |name: Arc<str>| {
            let view = hub.view(&Principal::local(), Some(&name));
            (name.to_string(), tokens(view.listed_bytes()))
        };
        let search = view.searches().then(|| tokens(view.listed_bytes()));
        Self { search, sources: packs, profiles: hub.profiles().into_iter().map(profile).collect() }
    }

    /// Whether there is such a profile; where there is not, the names of those there are.
    pub(super) fn knows(&self, profile: &str) -> Result<(), Vec<&str>> {
        let names: Vec<&str> = self.profiles.iter().map(|(name, _)| name.as_str()).collect();
        if names.contains(&profile) { Ok(()) } else { Err(names) }
    }

    /// The packs of the lean choice, if there is anything to leave out.
    pub(super) fn lean(&self) -> Option<Vec<&str>> {
        let kept: Vec<&str> = self.names().filter(|name| LEAN.contains(name)).collect();
        (!kept.is_empty() && kept.len() < self.sources.len()).then_some(kept)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|(name, _)| name.as_str())
    }

    fn total(&self, packs: &[&str]) -> usize {
        self.sources.iter().filter(|(name, _)| packs.contains(&name.as_str())).map(|(_, cost)| cost).sum()
    }

    /// One line for someone who has not asked.
    pub(super) fn offer(&self) -> Option<String> {
        let all = self.total(&self.names().collect::<Vec<_>>());
        if let Some(search) = self.search {
            return Some(format!(
                "clients search for the tools: about {search} tokens in every conversation instead of {all}"
            ));
        }
        let lean = self.lean().map(|packs| (" `--lean`".to_owned(), self.total(&packs)));
        let profiles = self.profiles.iter().map(|(name, cost)| (format!(" `--profile {name}`"), *cost));
        let (how, least) = lean.into_iter().chain(profiles).min_by_key(|(_, cost)| *cost)?;
        Some(format!("the tools cost about {all} tokens in every conversation, with{how} about {least}"))
    }

    /// Every choice with its cost.
    pub(super) fn table(&self) -> String {
        let mut choices = vec![("all", self.names().collect::<Vec<_>>())];
        choices.extend(self.lean().map(|packs| ("lean", packs)));
        choices.extend(self.names().map(|name| ("", vec![name])));
        let mut table = String::from("what the tools cost in every conversation, in tokens:\n");
        for (label, packs) in choices {
            table += format!("  about {:>5}  {label:4}  {}", self.total(&packs), packs.join(", ")).trim_end();
            table.push('\n');
        }
        for (name, cost) in &self.profiles {
            table += &format!("  about {cost:>5}  with `--profile {name}`\n");
        }
        if self.lean().is_none() && self.profiles.is_empty() {
            table += "there is nothing to leave out\n";
        }
        table
    }

    pub(super) fn json(&self, lean: bool) -> Value {
        let item = |packs: &[&str]| json!({"packs": packs, "tokens": self.total(packs)});
        let all: Vec<&str> = self.names().collect();
        let profile = |(name, tokens): &(String, usize)| json!({"profile": name, "tokens": tokens});
        json!({
            "all": item(&all),
            "lean": self.lean().map(|packs| item(&packs)),
            "search": self.search,
            "packs": all.iter().map(|name| item(&[name])).collect::<Vec<_>>(),
            "profiles": self.profiles.iter().map(profile).collect::<Vec<_>>(),
            "chosen": if lean && self.lean().is_some() { "lean" } else { "all" },
        })
    }
}
