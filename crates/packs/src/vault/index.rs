//! An index over notes, in memory: which words stand in which note, and what else is known of each.
//!
//! It holds no text of a note. A note that changes gets a new number; what was known under the old one is passed over
//! until there is much of it, and then left out.

mod find;
mod link;
mod postings;
pub(super) mod words;

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;
use std::ops::Bound::{Included, Unbounded};
use std::sync::Arc;

use toolgate_host::RelPath;

use super::note::{self, Note};
use postings::Postings;

pub(super) use find::Wanted;

/// Fewer dead notes than this are not worth the work.
const FEW: usize = 1_000;

/// What tells a changed file from an unchanged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) modified_unix_ms: u64,
}

/// What is known of a note.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) path: Arc<str>,
    pub(super) title: Box<str>,
    pub(super) tags: Box<[Arc<str>]>,
    pub(super) properties: Box<[(Arc<str>, Arc<str>)]>,
    pub(super) stamp: Stamp,
    /// Whether its text is searched; one that is too large, or no text, is known by its name only.
    pub(super) read: bool,
    links: Box<[Arc<str>]>,
    /// How many words it has, weighed.
    length: u32,
}

/// A note that is ready to be added.
#[derive(Debug)]
pub(super) struct Prepared {
    known: Known,
    words: Vec<(Box<str>, u8)>,
}

/// An index over notes.
#[derive(Debug, Default)]
pub(super) struct Index {
    words: BTreeMap<Box<str>, Postings>,
    /// By number; nothing where a note is gone, or has another number now.
    notes: Vec<Option<Known>>,
    by_path: BTreeMap<Arc<str>, u32>,
    /// By the key of the last name.
    by_name: HashMap<Box<str>, Vec<u32>>,
    /// By the key of a link: the notes that have it.
    by_link: HashMap<Arc<str>, Vec<u32>>,
    /// Tags, properties and links, each once: many notes have the same.
    texts: HashSet<Arc<str>>,
    /// How many words all notes have, weighed.
    length: u64,
}

impl Prepared {
    /// Takes a note apart; without a text only its name is known.
    pub(super) fn new(path: &RelPath, stamp: Stamp, text: Option<&str>) -> Self {
        let mut counted: HashMap<Box<str>, u32> = HashMap::new();
        let note = Note::read(path, text.unwrap_or_default(), |piece, weight| {
            words::each(piece, |word| match counted.get_mut(word) {
                Some(count) => *count += weight as u32,
                None => drop(counted.insert(word.into(), weight as u32)),
            });
        });
        let length = counted.values().fold(0_u32, |sum, count| sum.saturating_add(*count));
        let shared = |texts: Vec<String>| texts.into_iter().map(Arc::from).collect();
        let known = Known {
            path: path.as_str().into(),
            title: note.title.into(),
            tags: shared(note.tags),
            properties: note.properties.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
            stamp,
            read: text.is_some(),
            links: shared(note.links),
            length,
        };
        let words = counted.into_iter().map(|(word, count)| (word, u8::try_from(count).unwrap_or(u8::MAX)));
        Self { known, words: words.collect() }
    }
}

impl Index {
    /// Adds a note, in the place of the one that was at its path.
    pub(super) fn put(&mut self, Prepared { mut known, words }: Prepared) {
        self.remove(&known.path);
        let Known { tags, properties, links, .. } = &mut known;
        let pairs = properties.iter_mut().flat_map(|(key, value)| [key, value]);
        for text in tags.iter_mut().chain(links.iter_mut()).chain(pairs) {
            match self.texts.get(text) {
                Some(same) => *text = same.clone(),
                None => drop(self.texts.insert(text.clone())),
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "a walk ends long before there are so many")]
        let number = self.notes.len() as u32;
        for (word, weight) in words {
            self.words.entry(word).or_default().push(number, weight);
        }
        self.length += u64::from(known.length);
        self.by_path.insert(known.path.clone(), number);
        self.by_name.entry(note::key(note::name_of(&known.path)).into()).or_default().push(number);
        for link in &known.links {
            self.by_link.entry(link.clone()).or_default().push(number);
        }
        self.notes.push(Some(known));
    }

    /// Forgets the note at a path, if there is one.
    pub(super) fn remove(&mut self, path: &str) {
        let Some(number) = self.by_path.remove(path) else { return };
        let Some(known) = self.notes.get_mut(number as usize).and_then(Option::take) else { return };
        self.length -= u64::from(known.length);
        let name = note::key(note::name_of(path));
        strike(&mut self.by_name, &name, number);
        for link in &known.links {
            strike(&mut self.by_link, link, number);
        }
        if self.notes.len() - self.by_path.len() > FEW.max(self.by_path.len() / 2) {
            self.compact();
        }
    }

    /// The note at a path.
    pub(super) fn at(&self, path: &str) -> Option<&Known> {
        self.known(*self.by_path.get(path)?)
    }

    /// The paths of all notes at or below a folder.
    pub(super) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        let from = self.by_path.range::<str, _>((Included(folder), Unbounded)).map(|(path, _)| &**path);
        let begins = from.take_while(move |path| path.starts_with(folder));
        begins.filter(move |path| is_below(path, folder))
    }

    /// How many notes there are.
    pub(super) fn len(&self) -> usize {
        self.by_path.len()
    }

    /// How many notes are known by their names only.
    pub(super) fn unread(&self) -> usize {
        self.notes.iter().flatten().filter(|known| !known.read).count()
    }

    /// Gives back memory that was kept for growing.
    pub(super) fn shrink(&mut self) {
        self.words.values_mut().for_each(Postings::shrink);
        self.notes.shrink_to_fit();
        self.by_name.values_mut().chain(self.by_link.values_mut()).for_each(Vec::shrink_to_fit);
        self.by_name.shrink_to_fit();
        self.by_link.shrink_to_fit();
        self.texts.retain(|text| Arc::strong_count(text) > 1);
        self.texts.shrink_to_fit();
    }

    fn known(&self, number: u32) -> Option<&Known> {
        self.notes.get(number as usize)?.as_ref()
    }

    /// Numbers the notes anew, without those that are gone.
    fn compact(&mut self) {
        let mut next = 0;
        let numbers: Vec<Option<u32>> = self
            .notes
            .iter()
            .map(|note| {
                note.as_ref().map(|_| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let moved = |number: u32| numbers.get(number as usize).copied().flatten();
        self.words.retain(|_, postings| {
            *postings = postings.moved(moved);
            !postings.is_empty()
        });
        self.notes.retain(Option::is_some);
        for number in self.by_path.values_mut() {
            *number = moved(*number).unwrap_or(*number);
        }
        for list in self.by_name.values_mut().chain(self.by_link.values_mut()) {
            *list = list.iter().copied().filter_map(moved).collect();
        }
        self.shrink();
    }
}

/// Whether a path is a folder or below it.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn strike<K: Eq + Hash + Borrow<str>>(map: &mut HashMap<K, Vec<u32>>, key: &str, number: u32) {
    let Some(list) = map.get_mut(key) else { return };
    list.retain(|other| *other != number);
    if list.is_empty() {
        map.remove(key);
    }
}

#[cfg(test)]
mod tests;
