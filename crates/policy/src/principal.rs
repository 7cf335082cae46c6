//! Which principals a pattern means.

use crate::glob::Glob;

/// A pattern of principals: a name, or `role:NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Who {
    Named(Glob),
    Role(Glob),
}

impl Who {
    pub(crate) fn new(text: &str) -> Self {
        match text.strip_prefix("role:") {
            Some(role) => Self::Role(Glob::new(role)),
            None => Self::Named(Glob::new(text)),
        }
    }

    pub(crate) fn fits(&self, name: &str, roles: &[&str]) -> bool {
        match self {
            Self::Named(glob) => glob.fits(name),
            Self::Role(glob) => roles.iter().any(|role| glob.fits(role)),
        }
    }
}

/// Whether one of these patterns means this principal; no list means everyone.
pub(crate) fn is_meant(who: Option<&[Who]>, name: &str, roles: &[&str]) -> bool {
    who.is_none_or(|all| all.iter().any(|who| who.fits(name, roles)))
}
