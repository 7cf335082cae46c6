//! The platforms that releases are made for.

use std::path::Path;

use anyhow::{Context, Result};

use crate::trained;

/// A platform by its names in Rust and in npm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Platform {
    pub(super) triple: &'static str,
    pub(super) os: &'static str,
    pub(super) cpu: &'static str,
}

/// Linux is complete and tested; others join when they are.
pub(super) const PLATFORMS: &[Platform] = &[
    Platform { triple: "x86_64-unknown-linux-gnu", os: "linux", cpu: "x64" },
    Platform { triple: "aarch64-unknown-linux-gnu", os: "linux", cpu: "arm64" },
];

impl Platform {
    /// The one that we build on, and for.
    pub(super) fn here(root: &Path) -> Result<Self> {
        let host = trained::host(root)?;
        let known = PLATFORMS.iter().find(|platform| platform.triple == host);
        known.copied().with_context(|| {
            format!("no release is made for `{host}`\nhint: add it to `xtask/src/dist/platform.rs`")
        })
    }

    /// The npm package that brings the program.
    pub(super) fn package(&self) -> String {
        format!("@toolgate/{}-{}", self.os, self.cpu)
    }
}
