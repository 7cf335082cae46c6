//! Passes over text in which no form can begin, in strides: most text holds no secret.

/// How many bytes of a form are looked at; a shorter form switches the sieve off.
const WINDOW: usize = 8;
/// How many bytes at the end of the window decide on the stride.
const BLOCK: usize = 3;
/// The longest stride.
const STRIDE: u8 = (WINDOW - BLOCK + 1) as u8;

/// Finds where a form may begin: exactly where its first bytes stand, or a little too often, never too seldom.
pub(crate) struct Sieve {
    /// How far a window may move, by the hash of its last bytes. Empty where nothing can be passed over.
    strides: Box<[u8]>,
    /// How a hash is made to fit the strides.
    bits: u32,
    /// The first bytes of all forms, in order.
    beginnings: Box<[u64]>,
}

impl Sieve {
    pub(crate) fn new<'a>(forms: impl Iterator<Item = &'a [u8]> + Clone) -> Self {
        if forms.clone().any(|form| form.len() < WINDOW) {
            return Self { strides: Box::default(), bits: 0, beginnings: Box::default() };
        }
        let mut beginnings: Vec<u64> = forms.filter_map(|form| window(form, 0)).collect();
        beginnings.sort_unstable();
        beginnings.dedup();
        // Sparse enough that a block that is in no form rarely looks like one that is.
        let slots = (beginnings.len() * usize::from(STRIDE) * 8).next_power_of_two().clamp(1 << 12, 1 << 20);
        let bits = slots.trailing_zeros();
        let mut strides = vec![STRIDE; slots].into_boxed_slice();
        for beginning in &beginnings {
            for left in 0..STRIDE {
                // A block that ends so many bytes before the end of a window asks for as long a stride.
                let slot = slot(beginning << (8 * u32::from(left)), bits);
                strides[slot] = strides[slot].min(left);
            }
        }
        Self { strides, bits, beginnings: beginnings.into() }
    }

    /// The first place from `at` on where a form may begin.
    pub(crate) fn next(&self, text: &[u8], mut at: usize) -> Option<usize> {
        if self.strides.is_empty() {
            return Some(at);
        }
        while let Some(window) = window(text, at) {
            let stride = self.strides[slot(window, self.bits)];
            if stride > 0 {
                at += usize::from(stride);
            } else if self.beginnings.binary_search(&window).is_ok() {
                return Some(at);
            } else {
                at += 1;
            }
        }
        None
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.strides.len() + self.beginnings.len() * size_of::<u64>()
    }
}

/// The bytes at a place, the first in the lowest bits.
fn window(text: &[u8], at: usize) -> Option<u64> {
    let bytes = text.get(at..at + WINDOW)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// The place of a window's last block among the strides.
fn slot(window: u64, bits: u32) -> usize {
    let block = (window >> (8 * (WINDOW - BLOCK))) as u32;
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
            forms in proptest::collection::vec(proptest::collection::vec(b'a'..=b'c', 8..12), 1..40),
            text in proptest::collection::vec(b'a'..=b'c', 0..400),
        ) {
            let forms: Vec<&[u8]> = forms.iter().map(Vec::as_slice).collect();
            check(&forms, &text);
        }
    }
}
