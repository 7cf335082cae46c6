//! What is too old or too much goes.

use toolgate_core::Result;
use toolgate_host::files::{self, Entry};
use toolgate_host::{FileError, RelPath};

use super::{FILES, Store, failed};

/// How many callers are looked after.
const FOLDERS: usize = 10_000;

impl Store {
    /// Removes what is too old or too much in the folder of a caller.
    pub(super) async fn prune(&self, folder: &RelPath) -> Result<()> {
        loop {
            let (all, has_more) = self.listed(folder).await?;
            let (mut total, mut removed) = (0, 0);
            for (at, capture) in all.into_iter().enumerate() {
                total += capture.bytes;
                if at < FILES && capture.unix_ms >= self.oldest() && (total <= self.quota || has_more) {
                    continue;
                }
                let path = folder.join(&capture.name);
                let path = path.map_err(|error| failed("an old one has no place").because(error))?;
                match self.root()?.remove_file(&path).await {
                    // Another call may have removed it first.
                    Ok(()) | Err(FileError::NotFound { .. }) => removed += 1,
                    Err(error) => return Err(failed("an old one cannot be removed").because(error)),
                }
            }
            // What was not listed is newer: once the oldest are gone, it is looked at as well.
            if !has_more || removed == 0 {
                return Ok(());
            }
        }
    }

    /// Does so for all callers, also for those that keep nothing new.
    pub(crate) async fn sweep(&self) -> Result<()> {
        let listed = self.root()?.list(&RelPath::root(), FOLDERS).await;
        let listing = listed.map_err(|error| failed("what is kept cannot be listed").because(error))?;
        let is_folder = |entry: &&Entry| entry.openable && entry.kind == files::Kind::Dir;
        for entry in listing.entries.iter().filter(is_folder) {
            let folder = RelPath::root().join(&entry.name);
            let folder = folder.map_err(|error| failed("a folder has no place").because(error))?;
            if let Err(error) = self.prune(&folder).await {
                tracing::warn!(%error, "what a caller keeps too long cannot be removed");
            }
        }
        Ok(())
    }
}
