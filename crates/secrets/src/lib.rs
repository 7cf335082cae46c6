//! Secrets: kept encrypted in the store, put where configuration refers to them, and hidden in whatever goes out.
//!
//! It knows neither where the store is, nor what a secret is for, nor the environment: keys and values are given to it.

mod error;
mod fill;
mod key;
mod name;
mod redact;
mod sealed;
mod secrets;
mod texts;
mod value;

pub use error::SecretError;
pub use fill::{MissingSecret, fill, references};
pub use key::{KEY_FILE, KeySource};
pub use name::{BadName, SecretName};
pub use redact::{Opening, RedactingWriter, Redactor, StreamRedactor, TooManySecrets};
pub use secrets::{SecretInfo, Secrets, Snapshot};
pub use value::{BadValue, MAX_VALUE, MIN_VALUE};
