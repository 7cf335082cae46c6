//! The pack `script`: scripts as tools.

mod exec;
mod list;
mod reload;
mod run;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use toolgate_core::{AnyTool, Error, HostPattern, Json, Kind, Offers, Pack, Result, RunHandle, tool};
use toolgate_host::outbound::{FetchLimits, Fetcher, Reach};
use toolgate_host::{Secret, Tasks};
use toolgate_wire::Raw;

use crate::config::ScriptsConfig;
use crate::desk::Desk;
use crate::pool::{ChildLimits, ChildProgram, Ended, Pool};
use crate::scripts::Scripts;
use crate::shelf::Script;
use crate::talk::{Order, Printed, RunLimits};

/// How many redirects are followed.
const REDIRECTS: usize = 5;

/// Tells the value of a secret, as it is right now.
pub type FindSecret = Arc<dyn Fn(&str) -> Option<Secret> + Send + Sync>;

/// What the pack is made of.
pub struct ScriptParts {
    /// What is set.
    pub config: ScriptsConfig,
    /// The scripts.
    pub scripts: Scripts,
    /// How a child is started.
    pub program: ChildProgram,
    /// Where secrets come from.
    pub secrets: FindSecret,
    /// The owner of its tasks.
    pub tasks: Tasks,
}

/// Scripts as tools.
pub struct ScriptPack {
    pub(crate) config: ScriptsConfig,
    pub(crate) scripts: Scripts,
    pub(crate) secrets: FindSecret,
    pub(crate) fetcher: Fetcher,
    pool: Pool,
}

impl ScriptPack {
    /// The pack of these parts. No child is started yet.
    pub fn new(parts: ScriptParts) -> Self {
        let ScriptParts { config, scripts, program, secrets, tasks } = parts;
        let time = Duration::from_millis(config.timeout_ms);
        let reach = Reach {
            allow: HostPattern::rules(&config.allow_hosts),
            deny: HostPattern::rules(&config.deny_hosts),
        };
        let limits = FetchLimits { time, bytes: config.max_input_bytes, redirects: REDIRECTS };
        let memory = config.max_memory_mb.saturating_mul(1 << 20);
        let pool = Pool::new(&program, ChildLimits { memory, time }, tasks);
        Self { scripts, secrets, fetcher: Fetcher::new(reach, limits), pool, config }
    }

    /// Runs a script that was cleared.
    async fn execute(&self, run: &RunHandle, script: &Script, asked: Asked) -> Result<Json<Output>> {
        if run.is_nested() {
            return Err(Error::new(Kind::Denied, "a script cannot run another by calling a tool")
                .hint("use `load` for what is in another script"));
        }
        let started = Instant::now();
        let limits = RunLimits { steps: self.config.max_steps, output: self.config.max_output_bytes };
        let Asked { function, args } = asked;
        let (name, source) = (script.name.clone(), script.source.clone());
        let order = Order { name, source, function, args, limits };
        let desk = Desk::new(self, script, run);
        match self.pool.run(&run.principal().id, &order, &desk).await? {
            Ended::Done(done) => Ok(Json(Output {
                script: script.name.clone(),
                result: done.result,
                printed: shown(done.printed),
                duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            })),
            Ended::Failed(failed) => {
                let mut message = format!("`{}` failed: {}", script.name, failed.message);
                let printed = shown(failed.printed);
                if !printed.is_empty() {
                    message.push_str(&format!("\n\nPrinted before:\n{printed}"));
                }
                Err(Error::new(Kind::InvalidInput, message)
                    .hint("correct the script, or what it is called with"))
            }
        }
    }
}

impl Pack for ScriptPack {
    const NAME: &'static str = "script";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(list::ScriptList), tool(run::ScriptRun), tool(exec::ScriptExec), tool(reload::ScriptReload)]
    }

    fn offers() -> Offers {
        Offers { tools: true, ..Offers::default() }
    }
}

/// What of a script is to be called, and with what.
#[derive(Default)]
struct Asked {
    function: Option<String>,
    args: Option<Raw>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The script that ran.
    script: String,
    /// What it answers with.
    #[schemars(with = "AnyJson")]
    result: Raw,
    /// What it printed, a line each.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    printed: String,
    /// How many milliseconds it took.
    duration_ms: u64,
}

/// Any JSON value, in words that every client understands.
struct AnyJson;

impl JsonSchema for AnyJson {
    fn schema_name() -> Cow<'static, str> {
        "AnyJson".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["null", "boolean", "number", "string", "array", "object"]})
    }
}

/// The record of a call names the script and the hash of its bytes, whatever becomes of it.
fn note(run: &RunHandle, script: &Script) {
    run.runs(format!("{} {}", script.name, script.hash));
}

fn shown(printed: Printed) -> String {
    match printed.cut {
        true => format!("{}…\n[more was printed]", printed.text),
        false => printed.text,
    }
}
