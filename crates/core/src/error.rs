//! The one error of the call path: what happened, what to try, and (to the log only) why.

mod table;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use toolgate_wire::Raw;

pub use table::{Kind, RpcForm};

/// A result of the call path.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong with a call.
///
/// `message` and `hint` go to the caller and the model; `source` goes to the log and nowhere else.
#[derive(Debug)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    kind: Kind,
    message: Cow<'static, str>,
    hint: Option<Cow<'static, str>>,
    data: Option<Raw>,
    forwarded: Option<Raw>,
    is_sentence: bool,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of a kind, with what happened in words.
    pub fn new(kind: Kind, message: impl Into<Cow<'static, str>>) -> Self {
        let inner = Inner {
            kind,
            message: message.into(),
            hint: None,
            data: None,
            forwarded: None,
            is_sentence: false,
            source: None,
        };
        Self { inner: Box::new(inner) }
    }

    /// An error object that another server answered with, to be passed on as it is.
    pub fn forwarded(error: Raw) -> Self {
        let message = error.get("message").and_then(|text| text.as_string().map(Cow::into_owned));
        let mut this =
            Self::new(Kind::Upstream, message.unwrap_or_else(|| "the server answered an error".into()));
        this.inner.forwarded = Some(error);
        this
    }

    /// Says that the message is whole sentences, which the answer begins with instead of naming the operation.
    pub fn as_sentence(mut self) -> Self {
        self.inner.is_sentence = true;
        self
    }

    /// Adds the next step to try.
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.inner.hint = Some(hint.into());
        self
    }

    /// Adds machine-readable detail for the `data` of a JSON-RPC error.
    pub fn data(mut self, data: Raw) -> Self {
        self.inner.data = Some(data);
        self
    }

    /// Adds the cause, for the log only.
    pub fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Rewrites the words that leave with this error, for instance to hide secrets.
    pub fn map_text(mut self, text: impl Fn(&str) -> Option<String>, raw: impl Fn(Raw) -> Raw) -> Self {
        if let Some(message) = text(&self.inner.message) {
            self.inner.message = message.into();
        }
        if let Some(hint) = self.inner.hint.as_deref().and_then(&text) {
            self.inner.hint = Some(hint.into());
        }
        self.inner.data = self.inner.data.take().map(&raw);
        self.inner.forwarded = self.inner.forwarded.take().map(&raw);
        self
    }

    /// Which reaction this error asks of its caller.
    pub fn kind(&self) -> Kind {
        self.inner.kind
    }

    /// What happened, as a lowercase fragment without a period.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// Whether the message is whole sentences.
    pub fn is_sentence(&self) -> bool {
        self.inner.is_sentence
    }

    /// The next step, if there is a particular one.
    pub fn next_step(&self) -> Option<&str> {
        self.inner.hint.as_deref()
    }

    /// Machine-readable detail, if any.
    pub fn detail(&self) -> Option<&Raw> {
        self.inner.data.as_ref()
    }

    /// The error object of another server, if this error is one.
    pub fn as_forwarded(&self) -> Option<&Raw> {
        self.inner.forwarded.as_ref()
    }

    /// What to try, most particular first: the hint, then what its kind suggests.
    pub fn suggestions(&self) -> Vec<&str> {
        self.next_step().into_iter().chain(self.kind().suggestions().iter().copied()).collect()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source.as_deref().map(|source| source as _)
    }
}
