//! Finding notes: by words, ranked, and by what else is known of them.

use std::collections::HashSet;
use std::ops::Bound::{Included, Unbounded};

use super::words::Asked;
use super::{Index, Known, is_below};

/// How fast a repeated word ceases to count (BM25's `k1`), and how much long notes count less (its `b`).
const REPEATED: f32 = 1.5;
const LENGTH: f32 = 0.5;
/// The most words that one word may stand for.
const MOST_ENDINGS: usize = 256;

/// What is looked for.
#[derive(Debug, Default)]
pub(in crate::vault) struct Wanted {
    pub(in crate::vault) words: Vec<Asked>,
    /// At or below this folder.
    pub(in crate::vault) folder: String,
    /// With all these tags, or tags below them.
    pub(in crate::vault) tags: Vec<String>,
    /// With all these properties, by key and, where there is one, part of the value.
    pub(in crate::vault) properties: Vec<(String, Option<String>)>,
    /// Linking to this note.
    pub(in crate::vault) links_to: Option<String>,
    /// Linked to by this note.
    pub(in crate::vault) linked_from: Option<String>,
}

/// A note that was found.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) struct Found<'a> {
    pub(in crate::vault) known: &'a Known,
    pub(in crate::vault) score: f32,
}

impl Index {
    /// The notes that fit, best first. Without words the one that was changed last comes first.
    pub(in crate::vault) fn find(&self, wanted: &Wanted) -> Vec<Found<'_>> {
        let linked = self.linked(wanted);
        let fits = |known: &Known| {
            wanted.admits(known) && linked.as_ref().is_none_or(|linked| linked.contains(&*known.path))
        };
        let mut found: Vec<Found<'_>> = if wanted.words.is_empty() {
            let all = self.notes.iter().flatten().filter(|known| fits(known));
            all.map(|known| Found { known, score: 0.0 }).collect()
        } else {
            let scores = self.scores(&wanted.words);
            let scored = scores.into_iter().zip(&self.notes).filter(|(score, _)| *score > 0.0);
            let known = scored.filter_map(|(score, note)| Some(Found { known: note.as_ref()?, score }));
            known.filter(|found| fits(found.known)).collect()
        };
        found.sort_unstable_by(|a, b| {
            let newest = b.known.stamp.modified_unix_ms.cmp(&a.known.stamp.modified_unix_ms);
            let order = b.score.total_cmp(&a.score);
            let order = if wanted.words.is_empty() { order.then(newest) } else { order };
            order.then_with(|| a.known.path.cmp(&b.known.path))
        });
        found
    }

    /// The notes that links allow; nothing where they are not asked for.
    fn linked(&self, wanted: &Wanted) -> Option<HashSet<&str>> {
        let to = wanted.links_to.as_ref().map(|path| self.links_to(path).into_iter().collect::<HashSet<_>>());
        let from =
            wanted.linked_from.as_ref().map(|path| self.links_of(path).into_iter().collect::<HashSet<_>>());
        match (to, from) {
            (Some(to), Some(from)) => Some(to.intersection(&from).copied().collect()),
            (to, from) => to.or(from),
        }
    }

    /// How well each note fits these words, by number. What has more of the words comes before what has one of them often.
    fn scores(&self, words: &[Asked]) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.notes.len()];
        let mut matched = vec![0_u8; self.notes.len()];
        let mut best = vec![0.0_f32; self.notes.len()];
        let mut touched: Vec<u32> = Vec::new();
        for asked in words {
            for (number, score) in self.scored(asked) {
                let Some(best) = best.get_mut(number as usize) else { continue };
                if *best == 0.0 {
                    touched.push(number);
                }
                *best = best.max(score);
            }
            for number in touched.drain(..) {
                let number = number as usize;
                scores[number] += std::mem::take(&mut best[number]);
                matched[number] += 1;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "there are few words")]
        let all = words.len() as f32;
        for (score, matched) in scores.iter_mut().zip(matched) {
            *score *= f32::from(matched) / all;
        }
        scores
    }

    /// The notes that have a word, or one that it stands for, with what that counts (BM25).
    #[expect(clippy::cast_precision_loss, reason = "a rank need not be exact")]
    fn scored<'a>(&'a self, asked: &'a Asked) -> impl Iterator<Item = (u32, f32)> + 'a {
        let notes = self.len().max(1) as f32;
        let mean = (self.length as f32 / notes).max(1.0);
        let beginning = asked.beginning();
        let words = self
            .words
            .range::<str, _>((Included(beginning), Unbounded))
            .take_while(move |(word, _)| word.starts_with(beginning));
        let fitting =
            words.filter_map(|(word, postings)| Some((asked.fits(word)?, postings))).take(MOST_ENDINGS);
        fitting.flat_map(move |(fit, postings)| {
            let having = (postings.len() as f32).min(notes);
            let rare = (1.0 + (notes - having + 0.5) / (having + 0.5)).ln();
            postings.iter().filter_map(move |(number, weight)| {
                let long = self.known(number)?.length as f32 / mean;
                let weight = f32::from(weight);
                let often = weight * (REPEATED + 1.0) / (weight + REPEATED * (1.0 - LENGTH + LENGTH * long));
                Some((number, fit * rare * often))
            })
        })
    }
}

impl Wanted {
    fn admits(&self, known: &Known) -> bool {
        let has_tag = |wanted: &String| known.tags.iter().any(|tag| is_below(tag, wanted));
        let has_property = |(key, part): &(String, Option<String>)| {
            known.properties.iter().any(|(name, value)| {
                name.to_lowercase() == *key
                    && part.as_ref().is_none_or(|part| value.to_lowercase().contains(part))
            })
        };
        is_below(&known.path, &self.folder)
            && self.tags.iter().all(has_tag)
            && self.properties.iter().all(has_property)
    }
}
