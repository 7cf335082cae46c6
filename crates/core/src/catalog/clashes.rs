//! What sources list under a key that another has already: it is left out of the catalog, and people are told.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::Item as _;
use crate::{ListKind, Listing, Note, Source, SourceId};

/// How much of a key is shown.
const SHOWN: usize = 200;

/// What is left out of the lists of each source, because one before it has the key. Keys are shown as `clean` gives
/// them.
pub(crate) fn clashes<'a>(
    listings: &'a [(Arc<dyn Source>, Arc<Listing>)],
    clean: impl Fn(&'a str) -> Cow<'a, str>,
) -> HashMap<SourceId, Note> {
    // How many, and the last key with its owner.
    let mut found: HashMap<&SourceId, (u64, &str, &SourceId)> = HashMap::new();
    for kind in ListKind::ALL {
        let mut owners: HashMap<&str, &SourceId> = HashMap::new();
        for (source, listing) in listings {
            for key in keys(listing, kind) {
                let owner = *owners.entry(key).or_insert(source.id());
                if owner != source.id() {
                    let times = found.get(source.id()).map_or(0, |(times, ..)| *times);
                    found.insert(source.id(), (times + 1, key, owner));
                }
            }
        }
    }
    let note = |(times, key, owner): (u64, &'a str, &SourceId)| Note {
        what: "lists what another has already, and it is left out".into(),
        times,
        // What is hidden in it is hidden before it is cut: half of a secret is none that anyone looks for.
        detail: format!("`{}` is of `{owner}`", clean(key).escape_debug().take(SHOWN).collect::<String>()),
    };
    found.into_iter().map(|(source, clash)| (source.clone(), note(clash))).collect()
}

fn keys(listing: &Listing, kind: ListKind) -> Vec<&str> {
    match kind {
        ListKind::Tools => listing.tools.iter().map(|item| item.key()).collect(),
        ListKind::Resources => listing.resources.iter().map(|item| item.key()).collect(),
        ListKind::Templates => listing.templates.iter().map(|item| item.key()).collect(),
        ListKind::Prompts => listing.prompts.iter().map(|item| item.key()).collect(),
    }
}
