//! What sources list under a key that another has already: it is left out of the catalog, and people are told.

use std::collections::HashMap;
use std::sync::Arc;

use super::Item as _;
use crate::{ListKind, Listing, Note, Source, SourceId};

/// How much of a key is shown.
const SHOWN: usize = 200;

/// What is left out of the lists of each source, because one before it has the key.
pub(crate) fn clashes(listings: &[(Arc<dyn Source>, Arc<Listing>)]) -> HashMap<SourceId, Note> {
    let mut notes = HashMap::new();
    for kind in ListKind::ALL {
        let mut owners: HashMap<&str, &SourceId> = HashMap::new();
        for (source, listing) in listings {
            for key in keys(listing, kind) {
                let owner = *owners.entry(key).or_insert(source.id());
                if owner != source.id() {
                    note(notes.entry(source.id().clone()).or_insert_with(none), key, owner);
                }
            }
        }
    }
    notes
}

fn none() -> Note {
    Note {
        what: "lists what another has already, and it is left out".into(),
        times: 0,
        detail: String::new(),
    }
}

fn note(note: &mut Note, key: &str, owner: &SourceId) {
    let key: String = key.escape_debug().take(SHOWN).collect();
    note.times += 1;
    note.detail = format!("`{key}` is of `{owner}`");
}

fn keys(listing: &Listing, kind: ListKind) -> Vec<&str> {
    match kind {
        ListKind::Tools => listing.tools.iter().map(|item| item.key()).collect(),
        ListKind::Resources => listing.resources.iter().map(|item| item.key()).collect(),
        ListKind::Templates => listing.templates.iter().map(|item| item.key()).collect(),
        ListKind::Prompts => listing.prompts.iter().map(|item| item.key()).collect(),
    }
}
