//! Passes over text in which no form can begin, in strides: most text holds no secret.

/// How many bytes of a form are known by heart; a shorter form switches the sieve off.
const BEGINNING: usize = 8;
/// How many bytes of a form are looked at, at most. The shortest form decides; the more, the longer the strides.
const WINDOW: usize = 20;
/// How many bytes at the end of the window decide on the stride.
const BLOCK: usize = 3;

/// Finds where a form may begin: exactly where its first bytes stand, or a little too often, never too seldom.
pub(crate) struct Sieve {
    /// How far a window may move, by the hash of its last bytes. Empty where nothing can be passed over.
    strides: Box<[u8]>,
    /// A bit for each of them that is shorter than the longest: few, and so small that they stay near.
    shorter: Box<[u64]>,
    /// How a hash is made to fit the strides.
    bits: u32,
    /// From the beginning of a window to its last block.
    reach: usize,
    /// The first bytes of all forms, in order.
    beginnings: Box<[u64]>,
}

impl Sieve {
    pub(crate) fn new<'a>(forms: impl Iterator<Item = &'a [u8]> + Clone) -> Self {
        let shortest = forms.clone().map(<[u8]>::len).min().unwrap_or(0);
        if shortest < BEGINNING {
            let (strides, shorter, beginnings) = Default::default();
            return Self { strides, shorter, bits: 0, reach: 0, beginnings };
        }
        let reach = shortest.min(WINDOW) - BLOCK;
        let mut beginnings: Vec<u64> = forms.clone().filter_map(|form| beginning(form, 0)).collect();
        beginnings.sort_unstable();
        beginnings.dedup();
        // Sparse enough that a block that is in no form rarely looks like one that is, and small enough to stay near.
        let slots = (beginnings.len() * (reach + 1) * 4).next_power_of_two().clamp(1 << 12, 1 << 20);
        let bits = slots.trailing_zeros();
        let longest = u8::try_from(reach + 1).unwrap_or(u8::MAX);
        let mut strides = vec![longest; slots].into_boxed_slice();
        for form in forms {
            for (place, left) in (0..=reach).rev().zip(0_u8..) {
                // A block that ends so many bytes before the end of a window asks for as long a stride.
                let Some(slot) = slot(form, place, bits) else { continue };
                strides[slot] = strides[slot].min(left);
            }
        }
        let mut shorter = vec![0; slots.div_ceil(64)].into_boxed_slice();
        for slot in (0..slots).filter(|slot| strides[*slot] < longest) {
            shorter[slot / 64] |= 1 << (slot % 64);
        }
        Self { strides, shorter, bits, reach, beginnings: beginnings.into() }
    }

    /// The first place from `at` on where a form may begin.
    pub(crate) fn next(&self, text: &[u8], mut at: usize) -> Option<usize> {
        if self.strides.is_empty() {
            return Some(at);
        }
        loop {
            let slot = self.place(text, at)?;
            // Most strides are the longest. That is a branch and not a number to add, so that the processor foresees it
            // and looks up the next ones meanwhile.
            if self.shorter[slot / 64] >> (slot % 64) & 1 == 0 {
                at += self.reach + 1;
                continue;
            }
            let stride = usize::from(self.strides[slot]);
            if stride > 0 {
                at += stride;
            } else if self.beginnings.binary_search(&beginning(text, at)?).is_ok() {
                return Some(at);
            } else {
                at += 1;
            }
        }
    }

    /// The place of a window's stride; none if it does not fit into the text.
    fn place(&self, text: &[u8], at: usize) -> Option<usize> {
        // With the byte before, so that it is one number; a window is longer than its last block.
        let number = text.get(at + self.reach - 1..)?.first_chunk().copied().map(u32::from_le_bytes)?;
        Some(hash(number >> 8, self.bits))
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.strides.len() + (self.shorter.len() + self.beginnings.len()) * size_of::<u64>()
    }
}

/// The bytes at a place.
fn beginning(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk::<BEGINNING>().copied().map(u64::from_le_bytes)
}

/// The place of a block among the strides.
fn slot(text: &[u8], at: usize, bits: u32) -> Option<usize> {
    let [a, b, c] = text.get(at..)?.first_chunk::<BLOCK>().copied()?;
    Some(hash(u32::from_le_bytes([a, b, c, 0]), bits))
}

fn hash(block: u32, bits: u32) -> usize {
    (block.wrapping_mul(0x9E37_79B1) >> (32 - bits)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every place where a form begins, by looking at each.
    fn naive(forms: &[&[u8]], text: &[u8]) -> Vec<usize> {
        (0..text.len()).filter(|at| forms.iter().any(|form| text[*at..].starts_with(form))).collect()
    }

    #[track_caller]
    fn check(forms: &[&[u8]], text: &[u8]) {
        let sieve = Sieve::new(forms.iter().copied());
        let mut places = Vec::new();
        let mut at = 0;
        while let Some(place) = sieve.next(text, at).filter(|place| *place < text.len()) {
            places.push(place);
            at = place + 1;
        }
        for place in naive(forms, text) {
            assert!(places.contains(&place), "missed {place} of {:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn no_place_where_a_form_begins_is_passed_over() {
        let forms: [&[u8]; 4] = [b"aaaaaaaa", b"aaaaaaab-and-more", b"01234567", b"correct horse"];
        for text in ["", "a", "aaaaaaaa", "aaaaaaaaaaaaaaaaaab-and-more", "x01234567", "0123456 01234567"] {
            check(&forms, text.as_bytes());
        }
        for place in 0..40 {
            let text = format!("{}correct horse battery{}", "-".repeat(place), "a".repeat(place));
            check(&forms, text.as_bytes());
        }
        check(&[b"short", b"long enough"], b"a short one and one that is long enough");
    }

    proptest::proptest! {
        #[test]
        fn strides_never_pass_over_a_form(
            shortest in 8..30_usize,
            forms in proptest::collection::vec(proptest::collection::vec(b'a'..=b'b', 30..34), 1..40),
            text in proptest::collection::vec(b'a'..=b'b', 0..400),
            planted in proptest::collection::vec(proptest::prelude::any::<proptest::sample::Index>(), 8),
        ) {
            // Some are as short as can be, and some of them stand in the text.
            let shorter = |form: &Vec<u8>| form[..form.len() - 30 + shortest].to_vec();
            let forms: Vec<Vec<u8>> = forms.iter().map(shorter).collect();
            let mut text = text;
            for place in planted {
                let at = place.index(text.len() + 1);
                text.splice(at..at, forms[place.index(forms.len())].iter().copied());
            }
            let forms: Vec<&[u8]> = forms.iter().map(Vec::as_slice).collect();
            check(&forms, &text);
        }
    }
}
