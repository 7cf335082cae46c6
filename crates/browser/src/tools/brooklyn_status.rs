//! `brooklyn_status`: tell how browsers stand: program, version, how many there are and may be, memory, storage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};
use toolgate_host::process_stats::group_usage;

use crate::chromium::{INSTALL, is_sandboxed};
use crate::pack::Browser;

pub(super) struct BrooklynStatus;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// How much (basic).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Detail")]
    detail: Option<Detail>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Detail {
    #[default]
    Basic,
    Full,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// What answers.
    service: &'static str,
    /// Its version.
    version: &'static str,
    /// `ready`, or what is missing.
    status: String,
    /// For how many seconds it has been there.
    uptime_seconds: u64,
    /// The program that is or would be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    program: Option<String>,
    /// What runs, if a browser was launched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    browser: Option<String>,
    /// Whether pages are kept in Chromium's own sandbox.
    sandbox: bool,
    /// How many browsers you have.
    browsers: usize,
    /// How many you may have.
    max_browsers: u32,
    /// How many there are of all callers.
    all_browsers: usize,
    /// How many there may be of all callers.
    max_all_browsers: u32,
    /// The only hosts that may be reached, if that is limited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    allowed_domains: Vec<String>,
    /// How many bytes of memory the browsers hold, shared ones counted for each process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    memory_bytes: Option<u64>,
    /// How many processes they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    processes: Option<usize>,
    /// The id of the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    process_id: Option<u32>,
    /// How many screenshots, PDFs and downloads of yours are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    captures: Option<usize>,
    /// How many bytes these have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    capture_bytes: Option<u64>,
}

impl Tool<Browser> for BrooklynStatus {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "brooklyn_status",
        title: "Status",
        description: "Tell version, pool, memory and storage.",
        hints: Hints::READ_ONLY,
    };

    async fn run(&self, pack: &Browser, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let engine = pack.pool.running().await;
        let program = engine.as_ref().map(|engine| engine.program.clone()).or_else(|| pack.pool.program());
        let is_there = program.as_ref().is_some_and(|program| program.is_file());
        let mut output = Output {
            service: "toolgate",
            version: env!("CARGO_PKG_VERSION"),
            status: if is_there { "ready".into() } else { format!("no Chromium is installed: {INSTALL}") },
            uptime_seconds: pack.started.elapsed().as_secs(),
            program: program.map(|program| program.display().to_string()),
            browser: engine.as_ref().map(|engine| engine.version.clone()),
            sandbox: is_sandboxed(&pack.config),
            browsers: pack.pool.of(&run.principal().id).len(),
            max_browsers: pack.config.max_per_principal,
            all_browsers: pack.pool.count(),
            max_all_browsers: pack.config.max_browsers,
            allowed_domains: pack.config.allowed_domains.iter().map(|domain| domain.0.to_string()).collect(),
            memory_bytes: None,
            processes: None,
            process_id: None,
            captures: None,
            capture_bytes: None,
        };
        if input.detail.unwrap_or_default() == Detail::Full {
            output.process_id = engine.and_then(|engine| engine.process_group);
            let usage = output.process_id.and_then(group_usage);
            (output.memory_bytes, output.processes) = usage.unzip();
            let captures = pack.store.of(&run.principal().id).await?;
            output.captures = Some(captures.len());
            output.capture_bytes = Some(captures.iter().map(|capture| capture.bytes).sum());
        }
        Ok(Json(output))
    }
}
