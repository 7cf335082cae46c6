//! Hides secrets in lines on their way to a log.

use std::io::{self, Write};

use memchr::memrchr;

use super::Redactor;

/// So much of a line without an end is kept, at most.
const MAX_LINE: usize = 1 << 20;

/// Hides secrets in what is written, line by line. What does not end a line is kept until it does, or until `flush`.
pub struct RedactingWriter<W: Write> {
    redactor: Redactor,
    to: W,
    kept: Vec<u8>,
}

impl<W: Write> RedactingWriter<W> {
    /// One that writes to `to`.
    pub fn new(redactor: Redactor, to: W) -> Self {
        Self { redactor, to, kept: Vec::new() }
    }

    fn pass(&mut self, lines: &[u8]) -> io::Result<()> {
        match self.redactor.line(lines) {
            Some(redacted) => self.to.write_all(&redacted),
            None => self.to.write_all(lines),
        }
    }

    fn pass_kept(&mut self) -> io::Result<()> {
        let kept = std::mem::take(&mut self.kept);
        if kept.is_empty() { Ok(()) } else { self.pass(&kept) }
    }
}

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.kept.is_empty() && bytes.ends_with(b"\n") {
            self.pass(bytes)?;
            return Ok(bytes.len());
        }
        self.kept.extend_from_slice(bytes);
        if let Some(end) = memrchr(b'\n', bytes) {
            let rest = self.kept.split_off(self.kept.len() - (bytes.len() - end - 1));
            self.pass_kept()?;
            self.kept = rest;
        } else if self.kept.len() > MAX_LINE {
            self.pass_kept()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_kept()?;
        self.to.flush()
    }
}

impl<W: Write> Drop for RedactingWriter<W> {
    fn drop(&mut self) {
        // There is nobody to tell.
        drop(self.pass_kept());
    }
}
