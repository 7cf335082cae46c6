//! The commands, a file each.

mod admin;
mod approvals;
mod attach;
mod audit;
mod by_hand;
mod check;
mod completions;
mod config;
mod doctor;
mod greeting;
mod man;
mod mcp;
mod pins;
mod policy;
mod progress;
mod reference;
mod script;
mod secret;
mod serve;
mod service;
mod setup;
mod status;
mod table;
mod token;
mod tools;

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) use mcp::table as servers_file;
pub(crate) use mcp::{reach, sign_in_error};
use toolgate_config::ConfigError;
use toolgate_core::Hub;
use toolgate_host::Tasks;
use toolgate_secrets::Redactor;

use crate::cli::{self, Cli, Command};
use crate::gate::Gate;
use crate::logging;
use crate::parts::Parts;
use crate::settings::{self, Settings, Sources};

/// How long tasks get to end when a command is done.
const GRACE: Duration = Duration::from_secs(1);

/// Runs a command.
pub(crate) fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    match &cli.command {
        Command::Serve(serve) if serve.attach => {
            on_runtime(cli, async |settings, process| attach::run(cli, settings, process).await)
        }
        Command::Serve(_) => {
            on_runtime(cli, async |settings, process| serve::run(cli, settings, process).await)
        }
        Command::Status { json } => on_runtime(cli, async |settings, _| status::run(&settings, *json).await)
            .or_else(|error| status_despite(cli, *json, error)),
        Command::Service(service) => {
            on_runtime(cli, async |settings, _| service::run(&settings, service).await)
        }
        Command::Tools(tools) => on_gate(cli, async |gate| tools::run(&gate, tools).await),
        Command::Mcp(mcp) => {
            on_runtime(cli, async |settings, process| mcp::run(cli, mcp, settings, process).await)
        }
        Command::Check(check) if check.list_rules => check::list_rules(check.json),
        Command::Check(check) => {
            on_runtime(cli, async |settings, process| check::run(check, &settings, process).await)
        }
        Command::Setup(setup) if setup::needs_tools(setup) => {
            on_hub(cli, async |hub| setup::run_with(cli, setup, &hub).await)
        }
        Command::Setup(setup) => setup::run(cli, setup, None),
        Command::Approvals(approvals) => on_parts(cli, async |parts| approvals::run(&parts, approvals).await),
        Command::Secret(secret) => on_parts(cli, async |parts| secret::run(&parts, secret).await),
        Command::Script(cli::Script::Run(run)) => on_hub(cli, async |hub| script::call(&hub, run).await),
        Command::Script(script) => {
            on_runtime(cli, async |settings, process| script::run(&settings, process, script).await)
        }
        Command::Policy(policy) => on_gate(cli, async |gate| policy::run(&gate, policy).await),
        Command::Token(token) => on_parts(cli, async |parts| token::run(&parts, token).await),
        Command::Admin(admin) => {
            on_runtime(cli, async |settings, process| admin::run(&settings, process, admin).await)
        }
        Command::Audit(audit) => on_parts(cli, async |parts| audit::run(&parts.audit.archive(), audit).await),
        Command::Pins(pins) => on_parts(cli, async |parts| pins::run(&parts, pins).await),
        Command::Config(config) => config::run(cli, config),
        Command::Doctor { json } => doctor::run(cli, *json),
        Command::Completions { shell } => completions::run(*shell),
        Command::Man { dir } => man::run(dir.as_deref()),
        Command::Reference => reference::run(),
    }
}

/// A hub that runs stays as it was when its file is broken, and can still be asked how it is.
fn status_despite(cli: &Cli, as_json: bool, error: anyhow::Error) -> anyhow::Result<ExitCode> {
    if error.is::<ConfigError>()
        && let Some(folder) = Sources::of(cli)?.data_dir()
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(status::run_despite(&folder, as_json))?;
    }
    Err(error)
}

/// Runs what needs a hub, on one made as configured.
fn on_hub(cli: &Cli, work: impl AsyncFnOnce(Hub) -> anyhow::Result<ExitCode>) -> anyhow::Result<ExitCode> {
    on_gate(cli, async |gate| work(gate.hub).await)
}

/// Runs what needs a hub and the rules it goes by.
fn on_gate(cli: &Cli, work: impl AsyncFnOnce(Gate) -> anyhow::Result<ExitCode>) -> anyhow::Result<ExitCode> {
    on_runtime(cli, async |settings, process| {
        let gate = Gate::new(&settings, cli.global.fixtures, process).await?;
        gate.wait_for_servers().await;
        work(gate).await
    })
}

/// Runs what needs the store, but no hub.
fn on_parts(
    cli: &Cli,
    work: impl AsyncFnOnce(Parts) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    on_runtime(cli, async |settings, process| {
        work(Parts::new(&settings, process.redactor.clone(), &process.tasks)?).await
    })
}

/// What a command has of its process.
pub(crate) struct Process {
    /// The owner of its tasks.
    pub(crate) tasks: Tasks,
    /// Hides secrets in whatever goes out, the log too.
    pub(crate) redactor: Redactor,
}

/// Runs what needs the settings, and may start tasks.
fn on_runtime(
    cli: &Cli,
    work: impl AsyncFnOnce(Settings, &Process) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let settings = settings::load(cli)?;
    let redactor = Redactor::new();
    logging::init(&settings.log, &redactor);
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
    let threads = settings.threads.map_or_else(toolgate_host::threads, NonZeroUsize::from);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(threads.get()).enable_all().build()?;
    let code = runtime.block_on(async {
        let process = Process { tasks: Tasks::new(), redactor };
        ended(&process.tasks, work(settings, &process)).await
    });
    // A read of standard input that never ends must not keep the process alive.
    runtime.shutdown_background();
    code
}

/// What some work comes to, once all that it started has ended: also where it failed.
async fn ended<T>(tasks: &Tasks, work: impl Future<Output = T>) -> T {
    let done = work.await;
    tasks.shutdown(GRACE).await;
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_command_started_is_told_to_end_also_where_it_failed() {
        let tasks = Tasks::new();
        let stopping = tasks.stopping();
        let task = tasks.spawn(async move { stopping.cancelled().await });
        let failed: anyhow::Result<()> = ended(&tasks, async { anyhow::bail!("it failed") }).await;
        assert!(failed.is_err() && task.is_finished());
    }
}
