//! The variables of a process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

/// The variables of a process, or of a test.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The value of a variable, unless it is not set, or empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// All variables, as programs are given them.
    #[must_use]
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        self.0.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// The names of all variables, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Names only: the values are full of other programs' secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The variables of this process.
///
/// A value that is not UTF-8 keeps its readable part: a path made from it does not exist, and the message
/// about that shows it.
#[must_use]
pub fn process_environment() -> Environment {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .collect()
}
