//! What goes wrong with secrets, in words that never hold one.

use std::io;
use std::path::PathBuf;

use toolgate_core::StoreError;

use crate::{BadName, BadValue};

/// What went wrong with secrets; no variant holds a value or a key.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The name cannot be one.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The value cannot be one.
    #[error(transparent)]
    Value(#[from] BadValue),
    /// The key that was given is none.
    #[error("the key of the secrets that was given is not 32 bytes in base64 or hex")]
    BadKey,
    /// The key file holds no key.
    #[error("`{}` does not hold a key", path.display())]
    BadKeyFile {
        /// The file.
        path: PathBuf,
    },
    /// Others can read the key file.
    #[error("`{}` can be read by others", path.display())]
    OpenKeyFile {
        /// The file.
        path: PathBuf,
    },
    /// The key file is not there, but secrets are.
    #[error("the secret `{name}` is stored, but its key `{}` is missing", path.display())]
    MissingKey {
        /// A secret that cannot be read.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// The key is another one, or the stored text was changed.
    #[error("the secret `{name}` cannot be decrypted: its key is another one, or what is stored was changed")]
    WrongKey {
        /// The secret.
        name: String,
    },
    /// A later version stored it.
    #[error("the secret `{name}` was stored by a later version of Toolgate")]
    LaterVersion {
        /// The secret.
        name: String,
    },
    /// The key file cannot be read or made.
    #[error("cannot use the key file `{}`", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others change the same secret all the time.
    #[error("the secret `{name}` is being changed by others")]
    Busy {
        /// The secret.
        name: String,
    },
    /// The system has no random bytes.
    #[error("the system gave no random bytes")]
    NoRandom,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SecretError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Name(error) => error.hint().into(),
            Self::Value(error) => error.hint().into(),
            Self::BadKey => "make one with `openssl rand -base64 32`".into(),
            Self::BadKeyFile { .. } => {
                "put the key back from a copy; a new one cannot read what is stored".into()
            }
            Self::OpenKeyFile { path } => format!("run `chmod 600 {}`", path.display()),
            Self::MissingKey { name, .. } => {
                format!(
                    "put the key back from a copy, or run `toolgate secret remove {name}` and set it anew"
                )
            }
            Self::WrongKey { name } => {
                format!("put the former key back, or run `toolgate secret set {name}` to store it anew")
            }
            Self::LaterVersion { .. } => "update Toolgate".into(),
            Self::KeyFile { .. } => "check that the data folder is yours and can be written".into(),
            Self::Busy { .. } => "try again".into(),
            Self::NoRandom | Self::Store(_) => "`toolgate doctor` tells what is wrong".into(),
        }
    }
}
