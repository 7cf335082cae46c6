//! The list of everything that is measured.

use clap::ValueEnum;
use serde::Serialize;

use crate::request::{Era, PATH};

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Family {
    Toolgate,
    Axum,
    Rmcp,
    TsV1,
    TsV2,
    Python,
}

/// How a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) family: Family,
    pub(crate) arguments: &'static [&'static str],
}

/// How it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Calls over keep-alive connections, each complete in itself.
    Http(Era),
    /// Calls over keep-alive connections, each connection with a session of its own, at this path.
    Session(&'static str),
    /// Calls on standard input, one after another.
    Sequential,
    /// Calls on standard input, several under way at once.
    Pipelined,
}

/// One row of the report.
#[derive(Debug)]
pub(crate) struct Case {
    /// Its name in the raw data.
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    /// Its name in the report.
    pub(crate) label: &'static str,
    pub(crate) launch: Launch,
    pub(crate) way: Way,
    /// The cases whose CPU a call is compared with: the bare echo's, and the Rust SDK's.
    pub(crate) floor: &'static str,
    pub(crate) sdk: &'static str,
}

pub(crate) const TOOLGATE_HTTP: Launch =
    launch(Family::Toolgate, &["serve", "--fixtures", "--http", "--port", "0"]);
pub(crate) const TOOLGATE_STDIO: Launch = launch(Family::Toolgate, &["serve", "--fixtures"]);
pub(crate) const RMCP_STDIO: Launch = launch(Family::Rmcp, &["stdio"]);
pub(crate) const RMCP_SESSION: Launch = launch(Family::Rmcp, &["session"]);
pub(crate) const TS_V1_STDIO: Launch = launch(Family::TsV1, &["ts_v1.mjs", "stdio"]);
pub(crate) const TS_V1_SESSION: Launch = launch(Family::TsV1, &["ts_v1.mjs", "session"]);
pub(crate) const PYTHON_STDIO: Launch = launch(Family::Python, &["python_echo.py", "stdio"]);
const AXUM: Launch = launch(Family::Axum, &[]);
const RMCP: Launch = launch(Family::Rmcp, &["stateless"]);
const TS_V1: Launch = launch(Family::TsV1, &["ts_v1.mjs", "stateless"]);
const TS_V2: Launch = launch(Family::TsV2, &["ts_v2.mjs"]);
const PYTHON: Launch = launch(Family::Python, &["python_echo.py", "http"]);

const LEGACY: Way = Way::Http(Era::Legacy);
const MODERN: Way = Way::Http(Era::Modern);

/// Everything that is measured. What is compared stands together, so that it is measured at about the same time.
pub(crate) const CASES: &[Case] = &[
    case("toolgate-legacy", "Toolgate, legacy", TOOLGATE_HTTP, LEGACY),
    case("axum-legacy", "bare axum, legacy bytes", AXUM, LEGACY),
    case("rmcp-legacy", "Rust SDK, legacy", RMCP, LEGACY),
    case("toolgate-session", "Toolgate, legacy session", TOOLGATE_HTTP, Way::Session(PATH)),
    case("rmcp-session", "Rust SDK, legacy session", RMCP_SESSION, Way::Session(PATH)),
    case("toolgate-modern", "Toolgate, modern", TOOLGATE_HTTP, MODERN),
    case("axum-modern", "bare axum, modern bytes", AXUM, MODERN),
    case("rmcp-modern", "Rust SDK, modern", RMCP, MODERN),
    case("ts-v1-legacy", "TypeScript SDK v1, legacy", TS_V1, LEGACY),
    case("ts-v1-session", "TypeScript SDK v1, legacy session", TS_V1_SESSION, Way::Session(PATH)),
    case("ts-v2-legacy", "TypeScript SDK v2, legacy", TS_V2, LEGACY),
    case("ts-v2-modern", "TypeScript SDK v2, modern", TS_V2, MODERN),
    case("python-legacy", "Python SDK, legacy", PYTHON, LEGACY),
    case("python-modern", "Python SDK, modern", PYTHON, MODERN),
    case("toolgate-sequential", "Toolgate", TOOLGATE_STDIO, Way::Sequential),
    case("rmcp-sequential", "Rust SDK", RMCP_STDIO, Way::Sequential),
    case("toolgate-pipelined", "Toolgate", TOOLGATE_STDIO, Way::Pipelined),
    case("rmcp-pipelined", "Rust SDK", RMCP_STDIO, Way::Pipelined),
    case("ts-v1-sequential", "TypeScript SDK v1", TS_V1_STDIO, Way::Sequential),
    case("ts-v1-pipelined", "TypeScript SDK v1", TS_V1_STDIO, Way::Pipelined),
    case("python-sequential", "Python SDK", PYTHON_STDIO, Way::Sequential),
    case("python-pipelined", "Python SDK", PYTHON_STDIO, Way::Pipelined),
];

const fn launch(family: Family, arguments: &'static [&'static str]) -> Launch {
    Launch { family, arguments }
}

const fn case(name: &'static str, label: &'static str, launch: Launch, way: Way) -> Case {
    let (floor, sdk) = match way {
        Way::Http(Era::Legacy) => ("axum-legacy", "rmcp-legacy"),
        Way::Http(Era::Modern) => ("axum-modern", "rmcp-modern"),
        Way::Session(_) => ("axum-legacy", "rmcp-session"),
        Way::Sequential => ("", "rmcp-sequential"),
        Way::Pipelined => ("", "rmcp-pipelined"),
    };
    Case { name, family: launch.family, label, launch, way, floor, sdk }
}
