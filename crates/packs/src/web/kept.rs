//! Pages that are kept for a while, so that the next part of one is a part of the same.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::page::{Format, Page};

/// How long a page is kept.
const WHILE: Duration = Duration::from_secs(600);

/// How many pages are kept.
const MOST: usize = 8;

/// How many bytes all of them may have.
const MOST_BYTES: usize = 16 << 20;

/// The pages of the last minutes, the newest last.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<VecDeque<Entry>>);

#[derive(Debug)]
struct Entry {
    url: String,
    format: Format,
    since: Instant,
    page: Arc<Page>,
}

impl Kept {
    /// The page that a caller names so, if it is still kept.
    pub(super) fn find(&self, url: &str, format: Format) -> Option<Arc<Page>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|entry| entry.url == url && entry.format == format)?;
        (found.since.elapsed() < WHILE).then(|| found.page.clone())
    }

    /// Keeps a page, and forgets those that there is no more room for.
    pub(super) fn keep(&self, url: &str, format: Format, page: &Arc<Page>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|entry| (entry.url != url || entry.format != format) && entry.since.elapsed() < WHILE);
        kept.push_back(Entry { url: url.to_owned(), format, since: Instant::now(), page: page.clone() });
        let bytes = |kept: &VecDeque<Entry>| kept.iter().map(|entry| entry.page.content.len()).sum::<usize>();
        while kept.len() > MOST || bytes(&kept) > MOST_BYTES {
            kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(bytes: usize) -> Arc<Page> {
        let content = "x".repeat(bytes);
        let (url, content_type) = (String::new(), String::new());
        Arc::new(Page { url, title: None, content_type, written: false, content, total: bytes })
    }

    #[tokio::test(start_paused = true)]
    async fn pages_are_kept_for_a_while_and_as_far_as_there_is_room() {
        let kept = Kept::default();
        kept.keep("a", Format::Raw, &page(1));
        assert!(kept.find("a", Format::Raw).is_some());
        assert!(kept.find("a", Format::Text).is_none());
        for number in 0..MOST {
            kept.keep(&number.to_string(), Format::Raw, &page(1));
        }
        assert!(kept.find("a", Format::Raw).is_none());
        assert!(kept.find("0", Format::Raw).is_some());
        kept.keep("large", Format::Raw, &page(MOST_BYTES));
        assert!(kept.find("0", Format::Raw).is_none());
        tokio::time::advance(WHILE).await;
        assert!(kept.find("large", Format::Raw).is_none());
        kept.keep("too large", Format::Raw, &page(MOST_BYTES + 1));
        assert!(kept.find("too large", Format::Raw).is_none());
    }
}
