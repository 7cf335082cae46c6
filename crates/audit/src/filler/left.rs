//! What writers that died left behind.

use std::fs::{File, TryLockError};
use std::io::Read as _;
use std::time::{Duration, SystemTime};

use super::rows;
use crate::audit::Inner;
use crate::config::DAY_MS;
use crate::error::AuditError;
use crate::folder::{self, Left, lines, tail};
use crate::note::Note;
use crate::record::{Record, is_sound};

/// Copies and removes the spools of writers that died. What cannot be copied counts against the bound.
pub(super) async fn collect(inner: &Inner) -> Result<(), AuditError> {
    let mine = inner.desk().writer().to_owned();
    let (mut waiting, mut outcome) = (0, Ok(()));
    for left in folder::list(&inner.folder)?.into_iter().filter(|left| left.writer != mine) {
        // One that is in the way must not keep the others waiting.
        match try_take(inner, &left).await {
            Ok(()) => {}
            Err((error, bytes)) => {
                waiting += bytes;
                outcome = Err(error);
            }
        }
    }
    inner.desk().others = waiting;
    remove_spares(inner, &mine)?;
    outcome
}

/// Removes what dead writers had put aside empty.
fn remove_spares(inner: &Inner, mine: &str) -> Result<(), AuditError> {
    for path in folder::spares(&inner.folder, mine)? {
        let is_dead = File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        if is_dead && let Err(error) = std::fs::remove_file(&path) {
            tracing::debug!(%error, path = %path.display(), "cannot remove an empty spool file");
        }
    }
    Ok(())
}

/// Copies one spool if its writer is dead; what fails comes with the bytes that wait.
async fn try_take(inner: &Inner, left: &Left) -> Result<(), (AuditError, u64)> {
    let Some(file) = left.open().map_err(|error| (error, 0))? else { return Ok(()) };
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    match file.try_lock() {
        Ok(()) => take(inner, left, &file).await.map_err(|error| (error, bytes)),
        // Its writer lives, or another process collects it right now.
        Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(cause)) => Err((AuditError::Spool { path: left.path.clone(), cause }, bytes)),
    }
}

/// Copies one spool, and removes it if nothing in it needs to be looked at.
async fn take(inner: &Inner, left: &Left, mut file: &File) -> Result<(), AuditError> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(AuditError::at(&left.path))?;
    let (mut rest, mut whole) = (folder::whole(&bytes), true);
    while !rest.is_empty() {
        let (rows, length, all) = rows(rest);
        whole &= all;
        inner.parts.store.append_audit_lines(rows).await?;
        rest = &rest[usize::try_from(length).unwrap_or(rest.len())..];
    }
    let after = lines(&bytes).last().and_then(Record::read).map_or(0, |record| record.seq);
    let tail = tail(&bytes);
    if !tail.is_empty() {
        whole &= finish(inner, left, tail, after).await?;
    }
    if whole || is_too_old(inner, file) {
        std::fs::remove_file(&left.path).map_err(AuditError::at(&left.path))?;
    } else {
        tracing::error!(path = %left.path.display(), "a spool file holds what is no record; `toolgate audit verify` tells more");
    }
    Ok(())
}

/// Deals with what stands behind the last line break; `false` if it can not have been a record.
async fn finish(inner: &Inner, left: &Left, rest: &[u8], after: u64) -> Result<bool, AuditError> {
    if let Some(row) = crate::record::line(rest).filter(|_| is_sound(rest)) {
        // Only the line break is missing.
        inner.parts.store.append_audit_lines(vec![row]).await?;
        return Ok(true);
    }
    if !crate::verify::is_torn(rest) {
        return Ok(false);
    }
    let bytes = rest.len() as u64;
    tracing::warn!(writer = left.writer, bytes, "a writer was cut off in the middle of a record");
    let note = Note::Torn { chain: left.writer.clone(), after, bytes };
    inner.desk().note(&note, inner.parts.clock.unix_ms());
    Ok(true)
}

/// Whether a file that has to be looked at has waited for that as long as records are kept.
fn is_too_old(inner: &Inner, file: &File) -> bool {
    let keep_ms = u64::from(inner.config().keep_days) * DAY_MS;
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    let age = modified.ok().and_then(|modified| SystemTime::now().duration_since(modified).ok());
    keep_ms > 0 && age.is_some_and(|age| age > Duration::from_millis(keep_ms))
}
