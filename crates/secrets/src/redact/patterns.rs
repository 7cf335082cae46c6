//! The search for all forms of all secrets at once.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, Input, MatchKind};
use memchr::memchr;

use super::decode::{self, Decoded, Spelling};
use super::forms::{Form, in_rest};
use super::pieces::{Hit, Piece, settle};
use super::reach::Reach;
use super::sieve::Sieve;

/// How often spellings are undone, one inside the other: escapes, and percent signs.
pub(crate) const DEPTH: Depth = Depth { left: [4, 2], stale: false };

/// Up to so many bytes of forms the faster kind of automaton stays small.
const SMALL: usize = 8 << 10;

/// All forms of all secrets.
pub(crate) struct Patterns {
    automaton: AhoCorasick,
    /// By the number that the automaton gives them, which is also the order of their bytes.
    forms: Vec<Known>,
    shortest: usize,
    /// With what follows.
    longest: usize,
    /// How long the forms are that go on with what is not known.
    openings: Vec<usize>,
    markers: Vec<Box<str>>,
    reach: Reach,
    sieve: Sieve,
}

struct Known {
    bytes: Box<[u8]>,
    owner: u32,
    base64: bool,
    /// How far into it another form may begin that goes on behind it.
    again: u32,
    /// So many characters that are not known belong to it too.
    rest: usize,
}

/// More secrets than can be looked for.
#[derive(Debug, thiserror::Error)]
pub enum TooManySecrets {
    /// No search can be made that finds them all.
    #[error("the secrets are too many to look for: {0}")]
    Unsearchable(#[from] aho_corasick::BuildError),
    /// They take more room than there is for them.
    #[error("the secrets are too many to look for: their forms take more than {0} bytes")]
    NoRoom(usize),
}

/// How many levels of each spelling are left to undo.
#[derive(Clone, Copy)]
pub(crate) struct Depth {
    left: [u8; 2],
    /// Whether the escapes of a text were there before it was decoded, and are undone in another order.
    stale: bool,
}

impl Depth {
    pub(crate) fn allows(self, spelling: Spelling) -> bool {
        self.left(spelling) > 0 && !(self.stale && spelling == Spelling::Backslash)
    }

    pub(crate) fn left(self, spelling: Spelling) -> u32 {
        u32::from(self.left[spelling as usize])
    }

    /// What is left to undo in a decoded text.
    pub(crate) fn below(mut self, spelling: Spelling, decoded: &Decoded) -> Self {
        self.left[spelling as usize] -= 1;
        self.stale = spelling == Spelling::Percent && !decoded.made_escapes;
        self
    }
}

impl Patterns {
    /// The forms of these secrets, if there are any; and the names of those that are too short.
    pub(crate) fn new<'a>(
        secrets: impl Iterator<Item = (&'a String, Vec<Form>)>,
    ) -> Result<(Option<Self>, Vec<String>), TooManySecrets> {
        let (mut markers, mut left_out) = (Vec::new(), Vec::new());
        let mut known: HashMap<Vec<u8>, Known> = HashMap::new();
        for (name, forms) in secrets {
            if forms.is_empty() {
                left_out.push(name.clone());
                continue;
            }
            let owner = u32::try_from(markers.len()).unwrap_or(u32::MAX);
            markers.push(marker(name));
            for Form { bytes, base64, rest } in forms {
                let form = |bytes: &Vec<u8>| Known { bytes: bytes[..].into(), owner, base64, again: 0, rest };
                known.entry(bytes).or_insert_with_key(form);
            }
        }
        if known.is_empty() {
            return Ok((None, left_out));
        }
        Self::of(known.into_values().collect(), markers).map(|this| (Some(this), left_out))
    }

    fn of(mut forms: Vec<Known>, markers: Vec<Box<str>>) -> Result<Self, TooManySecrets> {
        forms.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
        let sizes = forms.iter().map(|form| form.bytes.len());
        let (total, shortest) = (sizes.clone().sum::<usize>(), sizes.min().unwrap_or(0));
        let longest = forms.iter().map(|form| form.bytes.len() + form.rest).max().unwrap_or(0);
        let mut openings: Vec<usize> =
            forms.iter().filter(|form| form.rest > 0).map(|form| form.bytes.len()).collect();
        openings.sort_unstable();
        openings.dedup();
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::LeftmostLongest)
            .kind((total > SMALL).then_some(AhoCorasickKind::ContiguousNFA))
            .build(forms.iter().map(|form| &form.bytes))?;
        let mut reach = Reach::new(forms.iter().map(|form| &*form.bytes));
        if !openings.is_empty() {
            reach.add_rest(in_rest, longest);
        }
        let sieve = Sieve::new(forms.iter().map(|form| &*form.bytes));
        let mut this = Self { automaton, reach, sieve, forms, shortest, longest, openings, markers };
        let again: Vec<u32> = this.forms.iter().map(|form| this.again(&form.bytes)).collect();
        this.forms.iter_mut().zip(again).for_each(|(form, again)| form.again = again);
        Ok(this)
    }

    /// What takes the place of a secret.
    pub(crate) fn marker(&self, owner: u32) -> &str {
        self.markers.get(owner as usize).map_or("[REDACTED]", |marker| marker)
    }

    pub(crate) fn memory_usage(&self) -> usize {
        let forms: usize = self.forms.iter().map(|form| form.bytes.len() + size_of::<Known>()).sum();
        self.automaton.memory_usage() + self.sieve.memory_usage() + forms
    }

    /// How many bytes there are to look for.
    pub(crate) fn size(&self) -> usize {
        self.forms.iter().map(|form| form.bytes.len()).sum()
    }

    pub(crate) fn all(&self) -> Vec<Vec<u8>> {
        self.forms.iter().map(|form| form.bytes.to_vec()).collect()
    }

    pub(crate) fn reach(&self) -> &Reach {
        &self.reach
    }

    /// What is to be replaced in a text.
    pub(crate) fn find(&self, text: &[u8]) -> Vec<Piece> {
        // Whatever a text spells is no longer than the text.
        if text.len() < self.shortest {
            return Vec::new();
        }
        let mut hits = Vec::new();
        self.scan(text, 0, &mut hits);
        self.spelled(text, DEPTH, &mut hits);
        decode::lines(text, |part| {
            let mut found = Vec::new();
            self.joined(&text[part.clone()], DEPTH, &mut found);
            hits.extend(found.into_iter().map(|hit| hit.behind(part.start)));
        });
        settle(hits)
    }

    /// From where a text may be the beginning of a form, as it is written.
    pub(crate) fn open(&self, text: &[u8]) -> usize {
        let from = text.len().saturating_sub(self.longest - 1);
        (from..text.len()).find(|at| self.begins(&text[*at..])).unwrap_or(text.len())
    }

    /// Looks at a text as it is written.
    fn scan(&self, text: &[u8], from: usize, hits: &mut Vec<Hit>) {
        let mut at = 0;
        // What is looked at twice because forms may overlap; a text made for it could cost too much.
        let mut spare = 16 * text.len() + (64 << 10);
        while let Some(place) = self.sieve.next(text, at)
            && let Some(found) = self.automaton.find(Input::new(text).range(place..))
        {
            let form = &self.forms[found.pattern().as_usize()];
            let (start, end) = (found.start(), found.end());
            let rest = text[end..].iter().take(form.rest).take_while(|byte| in_rest(**byte)).count();
            let hit = Hit { start, end: end + rest, owner: form.owner, base64: form.base64 };
            hits.push(hit.behind(from));
            let again = start + form.again as usize;
            at = if end - again <= spare { again } else { end };
            spare = spare.saturating_sub(end - again);
        }
    }

    /// Looks at what a text spells by escapes and percent signs.
    fn spelled(&self, text: &[u8], depth: Depth, hits: &mut Vec<Hit>) {
        for spelling in Spelling::ALL {
            if depth.allows(spelling) {
                decode::segments(text, spelling, depth.left(spelling), &self.reach, |segment| {
                    let text = &text[segment.clone()];
                    self.decoded(text, spelling, depth, |hit| hits.push(hit.behind(segment.start)));
                });
            }
        }
    }

    /// Decodes a text, and looks at that.
    fn decoded(&self, text: &[u8], spelling: Spelling, depth: Depth, mut report: impl FnMut(Hit)) {
        let decoded = decode::decode(text, spelling, &self.reach, false);
        let mut found = Vec::new();
        for window in &decoded.windows {
            let end = window.end.min(decoded.text.len());
            self.scan(&decoded.text[window.start..end], window.start, &mut found);
        }
        self.spelled(&decoded.text, depth.below(spelling, &decoded), &mut found);
        found.into_iter().for_each(|hit| report(hit.written(&decoded)));
    }

    /// Looks at lines of base64 as if they were one, however their breaks are spelled.
    fn joined(&self, text: &[u8], depth: Depth, hits: &mut Vec<Hit>) {
        let mut found = Vec::new();
        if let Some(joined) = decode::join(text) {
            self.scan(&joined.text, 0, &mut found);
            hits.extend(found.drain(..).map(|hit| hit.written(&joined)));
        }
        for spelling in Spelling::ALL {
            if depth.allows(spelling) && memchr(spelling.lead(), text).is_some() {
                let decoded = decode::decode(text, spelling, &self.reach, false);
                self.joined(&decoded.text, depth.below(spelling, &decoded), &mut found);
                hits.extend(found.drain(..).map(|hit| hit.written(&decoded)));
            }
        }
    }

    /// Whether a form begins like this, and goes on.
    fn begins(&self, part: &[u8]) -> bool {
        if part.first().is_none_or(|first| !self.reach.begins(*first)) {
            return false;
        }
        let next = self.forms.partition_point(|form| *form.bytes <= *part);
        self.forms.get(next).is_some_and(|form| form.bytes.starts_with(part)) || self.goes_on(part)
    }

    /// Whether this is what a form begins with and a part of what follows.
    fn goes_on(&self, part: &[u8]) -> bool {
        self.openings.iter().any(|length| {
            let Some((opening, rest)) = part.split_at_checked(*length) else { return false };
            let form = self.forms.binary_search_by(|form| form.bytes[..].cmp(opening));
            form.is_ok_and(|form| rest.len() < self.forms[form].rest)
                && rest.iter().all(|byte| in_rest(*byte))
        })
    }

    fn again(&self, form: &[u8]) -> u32 {
        let again = (1..form.len()).find(|at| self.begins(&form[*at..])).unwrap_or(form.len());
        u32::try_from(again).unwrap_or(u32::MAX)
    }
}

/// `[REDACTED:NAME]`, with a name that needs no escape anywhere.
fn marker(name: &str) -> Box<str> {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "_-.:/".contains(c) { c } else { '_' };
    format!("[REDACTED:{}]", name.chars().map(safe).collect::<String>()).into()
}
