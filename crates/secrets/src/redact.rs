//! The filter that hides secrets in whatever goes out.

mod decode;
mod forms;
mod json;
mod patterns;
mod pieces;
mod reach;
mod sieve;
mod stream;
mod writer;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwapOption;
use toolgate_core::Filter;
use toolgate_host::Secret;
use toolgate_wire::Raw;

use forms::forms;
use patterns::Patterns;

pub use forms::Opening;
pub use patterns::TooManySecrets;
pub use stream::StreamRedactor;
pub use writer::RedactingWriter;

/// Hides secrets: `[REDACTED:NAME]` takes their place, however they are spelled. Clones hide the same.
#[derive(Clone, Default)]
pub struct Redactor(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// What to look for; none as long as there is no secret.
    patterns: ArcSwapOption<Patterns>,
    given: Mutex<Given>,
    redactions: AtomicU64,
    /// How many bytes of forms are looked for at most.
    room: Option<usize>,
}

#[derive(Clone, Default)]
struct Given {
    secrets: Vec<(String, Secret)>,
    extra: Vec<(String, Secret)>,
    openings: Vec<(String, Opening)>,
}

impl Redactor {
    /// One that hides nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that looks for no more than so many bytes, all forms of all secrets taken together.
    pub fn with_room(bytes: usize) -> Self {
        Self(Arc::new(Shared { room: Some(bytes), ..Shared::default() }))
    }

    /// Hides these secrets instead of those set before. Takes a while: not for an async thread. What is too short
    /// to be looked for is left out, and its name given back.
    ///
    /// # Errors
    /// They are too many to look for; those set before stay hidden.
    pub fn set<N: Into<String>>(
        &self,
        secrets: impl IntoIterator<Item = (N, Secret)>,
    ) -> Result<Vec<String>, TooManySecrets> {
        let secrets = secrets.into_iter().map(|(name, secret)| (name.into(), secret)).collect();
        self.change(|given| given.secrets = secrets)
    }

    /// Like [`set`](Self::set), for what is secret without being stored as such: tokens, headers, addresses.
    /// A header with a scheme (`Bearer …`) is hidden also without it.
    ///
    /// # Errors
    /// They are too many to look for; those set before stay hidden.
    pub fn set_extra<N: Into<String>>(
        &self,
        extra: impl IntoIterator<Item = (N, Secret)>,
    ) -> Result<Vec<String>, TooManySecrets> {
        let extra = extra.into_iter().map(|(name, secret)| (name.into(), secret)).collect();
        self.change(|given| given.extra = extra)
    }

    /// Like [`set`](Self::set), for secrets of which only the beginning is known. If they are those set before,
    /// nothing is done.
    ///
    /// # Errors
    /// They are too many to look for; those set before stay hidden.
    pub fn set_openings<N: Into<String>>(
        &self,
        openings: impl IntoIterator<Item = (N, Opening)>,
    ) -> Result<Vec<String>, TooManySecrets> {
        let openings: Vec<_> = openings.into_iter().map(|(name, opening)| (name.into(), opening)).collect();
        if self.given().openings == openings {
            return Ok(Vec::new());
        }
        self.change(|given| given.openings = openings)
    }

    /// How often something was hidden.
    pub fn redactions(&self) -> u64 {
        self.0.redactions.load(Ordering::Relaxed)
    }

    /// How many bytes of memory the search takes.
    pub fn memory_usage(&self) -> usize {
        self.0.patterns.load().as_ref().map_or(0, |patterns| patterns.memory_usage())
    }

    /// What is looked for, byte for byte: to measure a bare search beside this one. It holds every secret.
    pub fn patterns(&self) -> Vec<Vec<u8>> {
        self.0.patterns.load().as_ref().map_or_else(Vec::new, |patterns| patterns.all())
    }

    /// Hides secrets in a text that comes in parts.
    pub fn stream(&self) -> StreamRedactor {
        StreamRedactor::new(self.clone())
    }

    /// Hides secrets in bytes that are mostly text; `None` if there are none.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let patterns = self.0.patterns.load();
        let patterns = patterns.as_deref()?;
        let pieces = patterns.find(bytes);
        if pieces.is_empty() {
            return None;
        }
        let (redacted, count) = pieces::replace(bytes, &pieces, patterns);
        self.count(count);
        Some(redacted)
    }

    /// Like [`bytes`](Self::bytes); a line that is a JSON object stays one.
    pub(crate) fn line(&self, line: &[u8]) -> Option<Vec<u8>> {
        let object = line.trim_ascii();
        if !object.starts_with(b"{") || self.load()?.find(line).is_empty() {
            return self.bytes(line);
        }
        let Ok(raw) = Raw::parse(object.to_vec().into()) else { return self.bytes(line) };
        let end = &line[line.trim_ascii_end().len()..];
        Some([self.json(raw).as_bytes(), end].concat())
    }

    fn load(&self) -> Option<Arc<Patterns>> {
        self.0.patterns.load_full()
    }

    fn count(&self, redactions: usize) {
        self.0.redactions.fetch_add(redactions as u64, Ordering::Relaxed);
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.0.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Given)) -> Result<Vec<String>, TooManySecrets> {
        // Held while the patterns are made, so that the last to change is the one that counts.
        let mut given = self.given();
        let mut next = given.clone();
        change(&mut next);
        let openings = next.openings.iter().map(|(name, opening)| (name, opening.forms()));
        let secrets = next.secrets.iter().chain(&next.extra);
        let secrets = secrets.map(|(name, secret)| (name, forms(secret.expose())));
        let (patterns, left_out) = Patterns::new(openings.chain(secrets))?;
        if let (Some(patterns), Some(room)) = (&patterns, self.0.room)
            && patterns.size() > room
        {
            return Err(TooManySecrets::NoRoom(room));
        }
        *given = next;
        self.0.patterns.store(patterns.map(Arc::new));
        Ok(left_out)
    }
}

impl Filter for Redactor {
    fn name(&self) -> &'static str {
        "redaction"
    }

    fn json(&self, raw: Raw) -> Raw {
        let patterns = self.0.patterns.load();
        let Some(patterns) = patterns.as_deref() else { return raw };
        let pieces = patterns.find(raw.as_bytes());
        if pieces.is_empty() {
            return raw;
        }
        let (redacted, count) = json::replace(&raw, &pieces, patterns);
        self.count(count);
        redacted
    }

    fn text(&self, text: &str) -> Option<String> {
        let redacted = self.bytes(text.as_bytes())?;
        Some(String::from_utf8(redacted).unwrap_or_else(|error| {
            // Forms begin and end between characters, so this does not happen.
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }))
    }
}
