//! Which bytes stand beside which in the forms: tells at a glance that none lies across a place.

/// Bytes of the forms, and how they stand to each other.
pub(crate) struct Reach {
    /// At most so many bytes of a form stand before the byte, and behind it; none has a byte without an entry.
    around: [Option<(u32, u32)>; 256],
    first: [bool; 256],
    last: [bool; 256],
    /// A bit for each two bytes that stand side by side.
    pairs: Vec<u64>,
    /// A bit for each letter and byte behind it, set where no form lies across what one backslash makes of the letter.
    passes: Vec<u64>,
    /// Whether what a backslash makes of a byte is in no form.
    dull: [bool; 256],
}

impl Reach {
    pub(crate) fn new<'a>(forms: impl Iterator<Item = &'a [u8]>) -> Self {
        let (around, ends, none) = ([None; 256], [false; 256], vec![0; 1024]);
        let mut this =
            Self { around, first: ends, last: ends, pairs: none.clone(), passes: none, dull: ends };
        forms.for_each(|form| this.add(form));
        // What a backslash makes of a letter, where that is a character that is in no other escape.
        for (letter, made) in
            [(b'"', b'"'), (b'n', b'\n'), (b'r', b'\r'), (b't', b'\t'), (b'/', b'/'), (b'\'', b'\'')]
        {
            let dull = this.around(made).is_none();
            this.dull[usize::from(letter)] = dull;
            let ends = this.last[usize::from(made)];
            for behind in 0..=u8::MAX {
                // These may be a part of another escape.
                let known = !matches!(behind, b'\\' | b'%');
                if dull || known && !ends && !this.pair(made, behind) {
                    let (word, bit) = place(letter, behind);
                    this.passes[word] |= bit;
                }
            }
        }
        this
    }

    fn add(&mut self, form: &[u8]) {
        let length = u32::try_from(form.len()).unwrap_or(u32::MAX);
        for (at, byte) in (0..length).zip(form) {
            let (before, behind) = self.around[usize::from(*byte)].unwrap_or_default();
            self.around[usize::from(*byte)] = Some((before.max(at), behind.max(length - 1 - at)));
        }
        for pair in form.windows(2) {
            let (word, bit) = place(pair[0], pair[1]);
            self.pairs[word] |= bit;
        }
        if let (Some(first), Some(last)) = (form.first(), form.last()) {
            self.first[usize::from(*first)] = true;
            self.last[usize::from(*last)] = true;
        }
    }

    /// Forms may go on with any of such bytes, and are at most so long with these. No byte of [`dull`](Self::dull) or
    /// [`passes`](Self::passes) is one.
    pub(crate) fn add_rest(&mut self, such: impl Fn(u8) -> bool, longest: usize) {
        let far = u32::try_from(longest).unwrap_or(u32::MAX);
        for byte in (0..=u8::MAX).filter(|byte| such(*byte)) {
            let (before, behind) = self.around[usize::from(byte)].unwrap_or_default();
            self.around[usize::from(byte)] = Some((before.max(far), behind.max(far)));
            self.last[usize::from(byte)] = true;
            for next in (0..=u8::MAX).filter(|next| such(*next)) {
                let (word, bit) = place(byte, next);
                self.pairs[word] |= bit;
            }
        }
    }

    /// Whether a backslash before a byte makes what is in no form. Few bytes are asked for often, so only they are
    /// known.
    pub(crate) fn dull(&self, letter: u8) -> bool {
        self.dull[usize::from(letter)]
    }

    /// Whether no form lies across what one backslash makes of a letter, by what stands behind that alone. Few
    /// letters are asked for often, so only they are known.
    pub(crate) fn passes(&self, letter: u8, behind: u8) -> bool {
        let (word, bit) = place(letter, behind);
        self.passes[word] & bit != 0
    }

    /// How far forms reach around a byte, if any has it.
    pub(crate) fn around(&self, byte: u8) -> Option<(u32, u32)> {
        self.around[usize::from(byte)]
    }

    /// Whether a form may begin with a byte.
    pub(crate) fn begins(&self, byte: u8) -> bool {
        self.first[usize::from(byte)]
    }

    /// Whether a form may lie across a character, given the bytes beside it where they are known.
    pub(crate) fn across(&self, before: Option<u8>, character: &[u8], behind: Option<u8>) -> bool {
        let (Some(first), Some(last)) = (character.first(), character.last()) else { return true };
        self.around(*first).is_some()
            && (self.begins(*first) || before.is_none_or(|before| self.pair(before, *first)))
            && (self.last[usize::from(*last)] || behind.is_none_or(|behind| self.pair(*last, behind)))
    }

    fn pair(&self, left: u8, right: u8) -> bool {
        let (word, bit) = place(left, right);
        self.pairs[word] & bit != 0
    }
}

fn place(left: u8, right: u8) -> (usize, u64) {
    let index = usize::from(left) << 8 | usize::from(right);
    (index / 64, 1 << (index % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_a_character_tells_whether_a_form_lies_across() {
        let reach = Reach::new([&b"ab\"cd"[..], "xé".as_bytes()].into_iter());
        let check = |before: Option<u8>, character: &str, behind: Option<u8>, expect: bool| {
            assert_eq!(
                reach.across(before, character.as_bytes(), behind),
                expect,
                "{before:?}{character}{behind:?}"
            );
        };
        check(Some(b'b'), "\"", Some(b'c'), true);
        check(Some(b'b'), "\"", None, true);
        check(None, "\"", Some(b'c'), true);
        check(Some(b'a'), "\"", Some(b'c'), false);
        check(Some(b'b'), "\"", Some(b'd'), false);
        check(Some(b'z'), "a", Some(b'b'), true);
        check(Some(b'c'), "d", Some(b'z'), true);
        check(Some(b'x'), "é", Some(b'z'), true);
        check(Some(b'y'), "é", Some(b'z'), false);
        check(None, "z", None, false);
        assert_eq!(reach.around(b'"'), Some((2, 2)));
        let passes = |letter: u8, behind: u8| reach.passes(letter, behind);
        assert!(passes(b'"', b'd') && passes(b'n', b'\\') && passes(b'n', b'c'));
        assert!(!passes(b'"', b'c') && !passes(b'"', b'\\') && !passes(b'"', b'%') && !passes(b'z', b'z'));
        assert_eq!(reach.around(b'z'), None);
    }
}
