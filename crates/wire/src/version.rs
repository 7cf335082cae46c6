//! Protocol versions, their eras, and what each of them can do.

use std::{fmt, str::FromStr};

/// A published version of the protocol; later ones compare greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// 2024-11-05: stdio, HTTP+SSE.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches.
    V2025_03_26,
    /// 2025-06-18: no batches; version header, structured content, elicitation.
    V2025_06_18,
    /// 2025-11-25: the last one with a handshake.
    V2025_11_25,
    /// 2026-07-28: stateless.
    V2026_07_28,
}

/// How a peer talks: with a handshake and sessions, or statelessly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// 2024-11-05 to 2025-11-25.
    Legacy,
    /// 2026-07-28.
    Modern,
}

/// A version that is not one of [`Version::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown protocol version")]
pub struct UnknownVersion;

impl Version {
    /// All versions, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The versions with a handshake, oldest first.
    pub const LEGACY: [Self; 4] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25];
    /// The newest version with a handshake.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest version.
    pub const LATEST: Self = Self::V2026_07_28;
    /// What a legacy HTTP request without a version header is taken for.
    pub const ASSUMED: Self = Self::V2025_03_26;

    /// The version as it is written in messages and headers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era this version belongs to.
    pub const fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => Era::Legacy,
            Self::V2026_07_28 => Era::Modern,
        }
    }

    /// What to answer to an `initialize` that asks for `requested`.
    ///
    /// A known legacy version is granted; anything else, the modern one included, gets the newest
    /// legacy version, because whoever sends `initialize` speaks the legacy protocol.
    pub fn negotiate(requested: &str) -> Self {
        match requested.parse() {
            Ok(version) if Self::LEGACY.contains(&version) => version,
            Ok(_) | Err(UnknownVersion) => Self::LATEST_LEGACY,
        }
    }

    /// Whether a frame may be an array of messages.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether HTTP requests carry `MCP-Protocol-Version`.
    pub fn has_version_header(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether tools may have `outputSchema` and results `structuredContent`.
    pub fn has_structured_content(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether a server may ask the client's user.
    pub fn has_elicitation(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether the user may be asked by way of a URL.
    pub fn has_url_elicitation(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether tasks are part of the protocol itself, as they were once.
    pub fn has_core_tasks(self) -> bool {
        self == Self::V2025_11_25
    }

    /// Whether results carry `resultType`.
    pub fn has_result_type(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Whether lists and reads carry `ttlMs` and `cacheScope`.
    pub fn has_cache_hints(self) -> bool {
        self >= Self::V2026_07_28
    }
}

impl FromStr for Version {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        Self::ALL.into_iter().find(|version| version.as_str() == text).ok_or(UnknownVersion)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_and_read_back() {
        assert!(Version::ALL.is_sorted());
        for version in Version::ALL {
            assert_eq!(version.as_str().parse(), Ok(version));
        }
        assert_eq!("2025-06-19".parse::<Version>(), Err(UnknownVersion));
    }

    #[test]
    fn initialize_is_answered_with_a_legacy_version() {
        #[track_caller]
        fn check(requested: &str, expect: Version) {
            assert_eq!(Version::negotiate(requested), expect);
        }
        check("2024-11-05", Version::V2024_11_05);
        check("2025-03-26", Version::V2025_03_26);
        check("2025-11-25", Version::V2025_11_25);
        check("2026-07-28", Version::V2025_11_25);
        check("1999-01-01", Version::V2025_11_25);
        check("", Version::V2025_11_25);
    }

    #[test]
    fn only_one_version_has_batches() {
        assert_eq!(Version::ALL.iter().filter(|version| version.has_batches()).count(), 1);
    }
}
