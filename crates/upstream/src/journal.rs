//! What is remembered of a server's conduct: what it did wrong, and the end of what it complained.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::fault::short;
use crate::status::Note;

/// How much of standard error is kept.
const TAIL_LINES: usize = 100;
const LINE_CHARS: usize = 1_000;

/// What is remembered of a server's conduct. Everything in it is bounded.
#[derive(Debug)]
pub(crate) struct Journal {
    server: Arc<str>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    notes: Vec<Note>,
    stderr: VecDeque<String>,
}

impl Journal {
    pub(crate) fn new(server: Arc<str>) -> Self {
        Self { server, inner: Mutex::default() }
    }

    /// Notes what the server did, counting what it did before.
    pub(crate) fn note(&self, what: &'static str, detail: &str) {
        let mut inner = self.lock();
        let detail = short(detail);
        match inner.notes.iter_mut().find(|note| note.what == what) {
            Some(note) => {
                note.times += 1;
                note.detail = detail;
            }
            None => {
                tracing::warn!(server = %self.server, what, "a server misbehaves");
                inner.notes.push(Note { what: what.into(), times: 1, detail });
            }
        }
    }

    /// Keeps a line of standard error.
    pub(crate) fn complain(&self, line: &str) {
        let mut inner = self.lock();
        if inner.stderr.len() == TAIL_LINES {
            inner.stderr.pop_front();
        }
        inner.stderr.push_back(line.chars().take(LINE_CHARS).collect());
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        self.lock().notes.clone()
    }

    pub(crate) fn stderr(&self) -> Vec<String> {
        self.lock().stderr.iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
