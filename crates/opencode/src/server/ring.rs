//! The last lines that a server of ours logged, and the reasons in them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many lines are kept, and how much of each.
const LINES: usize = 400;
const LENGTH: usize = 4096;

/// How often it is looked whether a reason has come, and how long.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: usize = 60;

/// The last lines of a log.
#[derive(Debug, Default)]
pub(crate) struct LogRing(Mutex<VecDeque<String>>);

impl LogRing {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn push(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line.chars().take(LENGTH).collect());
    }

    /// The last line that speaks of an error, else the last, for who wants to know why it ended.
    pub(crate) fn last(&self) -> Option<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let told = |line: &&String| line.contains("rror") && !line.trim_start().starts_with("at ");
        let last =
            lines.iter().rev().find(told).or_else(|| lines.iter().rev().find(|line| !line.trim().is_empty()));
        last.cloned()
    }

    /// Waits until the reason of an error is there: the answer that refers to it may be faster than the log.
    pub(crate) async fn wait_for(&self, reference: &str) {
        for _ in 0..LOOKS {
            if self.reason(reference).is_some() {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Why an error with this reference happened.
    pub(crate) fn reason(&self, reference: &str) -> Option<String> {
        let mark = format!("ref={reference} ");
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.iter().rev().find(|line| line.contains(&mark))?;
        let (_, rest) = line.split_once("error=")?;
        let reason = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => rest.split(' ').next().unwrap_or_default().to_owned(),
        };
        let reason = reason.strip_prefix("Error: ").unwrap_or(&reason);
        let reason = reason.lines().next().unwrap_or_default();
        // The cause repeats the error.
        Some(reason.split(" (cause: ").next().unwrap_or(reason).to_owned())
    }
}

/// The text up to the closing quote, unescaped.
fn unquoted(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => match letters.next() {
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => break,
            },
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_leads_to_its_reason() {
        let ring = LogRing::new();
        ring.push(r#"level=ERROR ref=err_a1 error="Error: Expected \"ses\", got \"xx\" (cause: Expected)" cause="E""#);
        ring.push("level=ERROR ref=err_a2 error=Gone cause=x");
        assert_eq!(ring.reason("err_a1").as_deref(), Some(r#"Expected "ses", got "xx""#));
        assert_eq!(ring.reason("err_a2").as_deref(), Some("Gone"));
        assert_eq!(ring.reason("err_a"), None);
        assert_eq!(ring.last().as_deref(), Some("level=ERROR ref=err_a2 error=Gone cause=x"));
    }

    #[test]
    fn old_lines_make_room_for_new_ones() {
        let ring = LogRing::new();
        ring.push("ref=err_old error=old ");
        (0..LINES).for_each(|place| ring.push(&format!("line {place}")));
        assert_eq!(ring.reason("err_old"), None);
    }
}
