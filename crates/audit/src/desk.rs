//! Where records are written, one after the other: chained, put into the spool, or kept in mind while that is full.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use toolgate_core::Entry;

use crate::chain::{Chain, new_writer};
use crate::config::AuditConfig;
use crate::line;
use crate::note::{self, Head, Note};
use crate::spool::{About, Spool};

/// How many bytes of records are kept in memory while they cannot be written.
const WAITING: usize = 1024 * 1024;
/// What calls that were running when the spool became full may still add to it.
const SLACK: u64 = 1024 * 1024;

/// Writes records, one after the other.
pub(crate) struct Desk {
    chain: Chain,
    pub(crate) spool: Spool,
    /// The settings in force.
    pub(crate) config: AuditConfig,
    folder: PathBuf,
    line: Vec<u8>,
    /// Lines that could not be written yet, oldest first.
    waiting: VecDeque<Vec<u8>>,
    waiting_bytes: usize,
    lost: Lost,
    /// Whether lines were written that may not be on the disk.
    unsynced: bool,
    /// What is wrong with the spool.
    pub(crate) trouble: Option<String>,
    /// How many bytes of writers that died wait for the store.
    pub(crate) others: u64,
}

/// What was not recorded, and not yet said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) calls: u64,
    pub(crate) refused: u64,
}

impl Desk {
    pub(crate) fn new(folder: &Path, now_ms: u64, rotate: u64, config: AuditConfig) -> Self {
        let writer = new_writer(now_ms);
        Self {
            spool: Spool::new(folder.into(), writer.clone(), rotate),
            chain: Chain::new(writer),
            config,
            folder: folder.into(),
            line: Vec::with_capacity(1024),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            lost: Lost::default(),
            unsynced: false,
            trouble: None,
            others: 0,
        }
    }

    pub(crate) fn writer(&self) -> &str {
        &self.chain.writer
    }

    /// The last record, if there is any.
    pub(crate) fn head(&self) -> Option<Head> {
        let hash = String::from_utf8_lossy(&self.chain.head).into_owned();
        (self.chain.seq > 0).then(|| Head { writer: self.chain.writer.clone(), seq: self.chain.seq, hash })
    }

    /// How many records wait in memory.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What was not recorded, and not yet said.
    pub(crate) fn lost(&self) -> Lost {
        self.lost
    }

    /// Whether a call that ran now could be recorded; writes what waits first.
    pub(crate) fn prepare(&mut self, now_ms: u64) -> bool {
        let ready = self.catch_up(now_ms).and_then(|()| self.room(0));
        match ready.and_then(|()| self.spool.open()) {
            Ok(()) => self.trouble = None,
            Err(error) => self.note_trouble(&error),
        }
        self.trouble.is_none()
    }

    /// Records a call, of which this is said.
    pub(crate) fn call(&mut self, entry: &Entry<'_>, said: &[u8]) {
        let behind = self.is_behind() && self.catch_up(entry.time_ms).is_err();
        if behind && !self.keeps(entry) {
            return;
        }
        line::call(&mut self.chain, entry.time_ms, said, &mut self.line);
        self.put(behind, entry.time_ms, entry.principal.id.as_str());
    }

    /// Records something about the audit itself; `false` if that has to wait.
    pub(crate) fn note(&mut self, note: &Note, now_ms: u64) -> bool {
        if self.is_behind() && self.catch_up(now_ms).is_err() {
            return false;
        }
        line::note(&mut self.chain, note, now_ms, &mut self.line);
        self.put(false, now_ms, note::PRINCIPAL);
        self.waiting.is_empty()
    }

    fn is_behind(&self) -> bool {
        !self.waiting.is_empty() || self.lost != Lost::default()
    }

    /// Whether there is room in memory for a record; else it is counted. A call that reached nothing is not worth
    /// the room that one that ran may need.
    fn keeps(&mut self, entry: &Entry<'_>) -> bool {
        let lost = match entry.source {
            None => &mut self.lost.refused,
            Some(_) if self.waiting_bytes >= WAITING => &mut self.lost.calls,
            Some(_) => return true,
        };
        *lost += 1;
        false
    }

    /// Puts the line that was just chained into the spool, or behind those that wait.
    fn put(&mut self, behind: bool, time_ms: u64, principal: &str) {
        if behind {
            return self.wait();
        }
        let about = About { seq: self.chain.seq, time_ms, principal, hash: &self.chain.head };
        // One who stands there in another way is looked for when it is copied.
        let about = line::is_itself(principal).then_some(about);
        if let Err(error) = self.room(SLACK).and_then(|()| self.spool.append(&self.line, about)) {
            self.note_trouble(&error);
            return self.wait();
        }
        self.unsynced |= self.config.sync;
        if let Err(error) = self.sync().and_then(|()| self.room(0)) {
            self.note_trouble(&error);
        }
    }

    fn wait(&mut self) {
        self.waiting_bytes += self.line.len();
        self.waiting.push_back(self.line.clone());
    }

    /// Writes what waits, and says what was lost.
    fn catch_up(&mut self, now_ms: u64) -> io::Result<()> {
        while let Some(line) = self.waiting.front() {
            self.room(SLACK)?;
            self.spool.append(line, None)?;
            self.waiting_bytes -= self.waiting.pop_front().map_or(0, |line| line.len());
            // The next may begin another file.
            self.unsynced |= self.config.sync;
            self.sync()?;
        }
        if self.lost != Lost::default() {
            self.room(SLACK)?;
            let Lost { calls, refused } = std::mem::take(&mut self.lost);
            line::note(&mut self.chain, &Note::Lost { calls, refused }, now_ms, &mut self.line);
            if let Err(error) = self.spool.append(&self.line, None) {
                self.wait();
                return Err(error);
            }
            self.unsynced |= self.config.sync;
        }
        self.sync()
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.unsynced {
            self.spool.sync()?;
            self.unsynced = false;
        }
        Ok(())
    }

    fn room(&self, slack: u64) -> io::Result<()> {
        if self.spool.size() + self.others < self.config.max_spool_bytes.saturating_add(slack) {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::QuotaExceeded,
            format!(
                "more than {} bytes wait for the store (`audit.max_spool_bytes`)",
                self.config.max_spool_bytes
            ),
        ))
    }

    fn note_trouble(&mut self, error: &io::Error) {
        if self.trouble.is_none() {
            tracing::error!(%error, folder = %self.folder.display(), "calls cannot be recorded");
        }
        self.trouble = Some(format!("calls cannot be recorded in `{}`: {error}", self.folder.display()));
    }
}
