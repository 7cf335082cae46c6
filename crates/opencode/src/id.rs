//! Ids as OpenCode makes them: in the order of time, so that it sorts ours among its own.

use std::sync::atomic::{AtomicU64, Ordering};

use toolgate_core::{Error, Kind, Result};
use toolgate_host::Clock;

const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// An id for a message of ours.
pub(crate) fn message_id() -> Result<String> {
    /// The last number given out: two ids of one millisecond differ, and stay in order.
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = Clock::system().unix_ms().wrapping_mul(0x1000);
    let step = |last: u64| Some(now.max(last + 1));
    let last = LAST.fetch_update(Ordering::AcqRel, Ordering::Acquire, step).unwrap_or(now);
    let number = now.max(last + 1) & 0xffff_ffff_ffff;
    let mut random = [0_u8; 14];
    getrandom::fill(&mut random)
        .map_err(|error| Error::new(Kind::Internal, "no id can be made").because(error))?;
    let tail: String =
        random.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect();
    Ok(format!("msg_{number:012x}{tail}"))
}

/// A session's id, if it can be one: OpenCode fails on others without saying why.
pub(crate) fn session_id(text: &str) -> Result<&str> {
    let fits = text.starts_with("ses") && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if fits {
        return Ok(text);
    }
    Err(Error::new(Kind::InvalidInput, format!("`sessionId` is `{text}`, which is no id of a session"))
        .hint("call `opencode_session_list` to see the sessions; their ids begin with `ses`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_in_order_and_look_like_opencode_s() {
        let ids: Vec<String> = (0..200).map(|_| message_id().unwrap()).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
        assert!(ids.iter().all(|id| id.len() == 30 && id.starts_with("msg_")), "{ids:?}");
    }

    #[test]
    fn only_what_can_be_a_session_is_asked_for() {
        assert!(session_id("ses_e1d181cfbffedrbWZIOQ56N94o").is_ok());
        for bad in ["", "xx", "../config", "ses/../x", "ses_1?x=y"] {
            assert_eq!(session_id(bad).unwrap_err().kind(), Kind::InvalidInput, "{bad}");
        }
    }
}
