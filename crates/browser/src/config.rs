//! What can be set for the browser.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::HostPattern;
use toolgate_host::outbound::{HostRule, Reach};

/// What can be set for the browser.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BrowserConfig {
    /// The program to start. Without it: a `chromium-headless-shell`, Chromium or Chrome that is installed.
    #[schemars(example = "/path/to/chromium")]
    pub program: Option<PathBuf>,
    /// The only hosts that browsers may reach, by any way: names, `*.` and a name, addresses, networks, or `*` for all
    /// that are public. Without it: all that are public. What is on this machine or in a private network has to be
    /// listed by its address or network, or as `localhost`.
    #[schemars(example = ["*.example.com", "127.0.0.1"])]
    pub allowed_domains: Vec<HostPattern>,
    /// Whether Chromium keeps its pages in its own sandbox. Without it: yes, except for root, for whom it cannot.
    #[schemars(example = true)]
    pub sandbox: Option<bool>,
    /// How many browsers there may be at once.
    #[schemars(range(min = 1))]
    pub max_browsers: u32,
    /// How many browsers one caller may have at once.
    #[schemars(range(min = 1))]
    pub max_per_principal: u32,
    /// How many seconds a caller waits for a browser while there are too many.
    pub queue_seconds: u64,
    /// After how many seconds without a call a browser is closed.
    #[schemars(range(min = 1))]
    pub idle_seconds: u64,
    /// How many milliseconds a page may take to load, where a call does not say.
    #[schemars(range(min = 1))]
    pub timeout: u64,
    /// How tools that act say what they did: as JSON, or in a line of words.
    pub text: TextForm,
    /// Whether scripts may be run in pages by `evaluate_expression`.
    pub evaluate: bool,
    /// Whether there are tools for styles: computed ones, rules that apply, and why one does not.
    pub css: bool,
    /// The folder that files may be uploaded from. Without it: the folder of the workspace.
    #[schemars(example = "/path/to/a/folder")]
    pub uploads: Option<PathBuf>,
    /// Whether pages may hand over files. They are kept like screenshots.
    pub downloads: bool,
    /// How many megabytes of screenshots, PDFs and downloads are kept of one caller; the oldest go first.
    #[schemars(range(min = 1))]
    pub keep_megabytes: u64,
    /// For how many days screenshots, PDFs and downloads are kept.
    #[schemars(range(min = 1))]
    pub keep_days: u64,
}

/// How tools that act say what they did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextForm {
    /// As JSON that holds `success`.
    #[default]
    Json,
    /// In a line of words.
    Line,
}

impl Default for BrowserConfig {
    fn default() -> Self {
        Self {
            program: None,
            allowed_domains: Vec::new(),
            sandbox: None,
            max_browsers: 8,
            max_per_principal: 3,
            queue_seconds: 15,
            idle_seconds: 1800,
            timeout: 30_000,
            text: TextForm::Json,
            evaluate: true,
            css: false,
            uploads: None,
            downloads: true,
            keep_megabytes: 200,
            keep_days: 7,
        }
    }
}

/// Where a list of hosts lets a browser reach.
pub(crate) fn reach(domains: &[HostPattern]) -> Reach {
    let is_all = |domain: &&HostPattern| domain.0.is_all();
    let all = domains.iter().find(is_all);
    let allow = domains.iter().filter(|domain| !is_all(domain)).map(|domain| domain.0.clone());
    let deny = if domains.is_empty() || all.is_some() { Vec::new() } else { everything() };
    Reach { allow: allow.collect(), deny }
}

fn everything() -> Vec<HostRule> {
    "*".parse().into_iter().collect()
}
