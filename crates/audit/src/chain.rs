//! A chain: each record holds the hash of the one before.

use sha2::{Digest, Sha256};

/// A hash as it stands in a line: lowercase hex.
pub(crate) type Hex = [u8; 64];

/// What the first record of a chain follows from, before the writer's name.
const GENESIS: &[u8] = b"toolgate audit 1\n";

/// The digits of every byte.
static PAIRS: [[u8; 2]; 256] = {
    let (digits, mut pairs) = (b"0123456789abcdef", [[0; 2]; 256]);
    let mut byte = 0;
    while byte < pairs.len() {
        pairs[byte] = [digits[byte >> 4], digits[byte & 0xF]];
        byte += 1;
    }
    pairs
};

/// Where a chain stands: whose it is, and what its next record follows from.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) writer: String,
    /// The place of the last record; 0 before the first.
    pub(crate) seq: u64,
    /// The hash of the last record.
    pub(crate) head: Hex,
}

impl Chain {
    /// A chain without records.
    pub(crate) fn new(writer: String) -> Self {
        Self { head: genesis(&writer), writer, seq: 0 }
    }
}

/// What the first record of a chain follows from.
pub(crate) fn genesis(writer: &str) -> Hex {
    hex(Sha256::new().chain_update(GENESIS).chain_update(writer))
}

/// The hash of a line that ends before its `hash` member: of the object without that member.
pub(crate) fn hash(open: &[u8]) -> Hex {
    hex(Sha256::new().chain_update(open).chain_update(b"}"))
}

/// A name for a writer that no other has: when it began, and chance.
pub(crate) fn new_writer(now_ms: u64) -> String {
    let mut chance = [0; 8];
    // Without randomness the process and the clock have to do; the file is made only where none is.
    if getrandom::fill(&mut chance).is_err() {
        chance = (u64::from(std::process::id()) << 32 | now_ms & 0xFFFF_FFFF).to_be_bytes();
    }
    format!("{now_ms:012x}-{:016x}", u64::from_be_bytes(chance))
}

/// Whether a text could be the name of a writer.
pub(crate) fn is_writer(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn hex(hash: Sha256) -> Hex {
    let mut text = [0; 64];
    for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(hash.finalize()) {
        *pair = PAIRS[usize::from(byte)];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_the_guide_defines() {
        // printf 'toolgate audit 1\nab' | sha256sum; printf '{"a":1}' | sha256sum
        let check = |hash: Hex, expect: &str| assert_eq!(str::from_utf8(&hash), Ok(expect));
        check(genesis("ab"), "d59b3738b9394c0e8270d28a90b184c13178f17fa75971f70dc2fed3446fda7a");
        check(hash(b"{\"a\":1"), "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862");
    }

    #[test]
    fn writers_have_names_of_their_own_that_sort_by_time() {
        let (a, b, later) = (new_writer(1), new_writer(1), new_writer(1_700_000_000_000));
        assert!(a != b && a < later && is_writer(&a), "{a} {b} {later}");
        for bad in ["", "a/b", "..", "a.b", &"a".repeat(65)] {
            assert!(!is_writer(bad), "{bad}");
        }
    }
}
