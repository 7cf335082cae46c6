//! Who calls.

use std::fmt;
use std::sync::Arc;

/// The name of a principal, as rules, records and metrics know it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PrincipalId(Arc<str>);

impl PrincipalId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PrincipalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for PrincipalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who calls: the local user, or whoever a token stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Its name.
    pub id: PrincipalId,
    /// The roles that its token brings along, in order; the rules may know more.
    pub roles: Arc<[Arc<str>]>,
}

impl Principal {
    /// A principal by name.
    pub fn named(name: impl Into<Arc<str>>) -> Arc<Self> {
        Self::with_roles(name, [])
    }

    /// A principal whose token brings roles along.
    pub fn with_roles(name: impl Into<Arc<str>>, roles: impl IntoIterator<Item = Arc<str>>) -> Arc<Self> {
        let mut roles: Vec<Arc<str>> = roles.into_iter().collect();
        roles.sort();
        roles.dedup();
        Arc::new(Self { id: PrincipalId(name.into()), roles: roles.into() })
    }

    /// The person at this machine: over stdio, on the command line, and on loopback without a token.
    pub fn local() -> Arc<Self> {
        Self::named("local")
    }
}
