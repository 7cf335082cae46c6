//! The hub that runs on the data folder, as commands ask it.

use std::path::Path;
use std::time::{Duration, Instant};

use toolgate_core::SourceStatus;
use toolgate_front::control::{self, ControlError, Status};

use super::waiting::Waiting;
use crate::above::name;
use crate::settings::Settings;
use crate::share;

/// How often a hub is asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a command waits for a server before it leaves it to itself.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a hub that has read its file anew may be without a server that is in it.
const ABSENCE: Duration = Duration::from_secs(5);

/// How all servers of the running hub stand; none where no hub runs.
pub(super) async fn all(settings: &Settings) -> anyhow::Result<Option<Vec<SourceStatus>>> {
    control::upstreams(&settings.data_dir, None).await.map_err(told)
}

/// How all servers of the running hub stand, and which of ours it does not have. If it reads our file, which may just
/// have been written, it gets a while to read it.
pub(super) async fn all_and_lacking<'a>(
    settings: &'a Settings,
    file: &Path,
) -> anyhow::Result<Option<(Vec<SourceStatus>, Vec<&'a str>)>> {
    let begun = Instant::now();
    let Some(hub) = control::status(&settings.data_dir).await.map_err(told)? else { return Ok(None) };
    let waits = share::file_of(&hub).is_some_and(|theirs| theirs.is_empty() || is_file(theirs, file));
    loop {
        let Some(statuses) = all(settings).await? else { return Ok(None) };
        let ours = settings.mcp.keys().map(String::as_str);
        let lacking: Vec<&str> =
            ours.filter(|name| !statuses.iter().any(|status| status.name == *name)).collect();
        if lacking.is_empty() || !waits || begun.elapsed() > ABSENCE {
            return Ok(Some((statuses, lacking)));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// How one of them stands, with what its program wrote; none where no hub runs, or it has no such server.
pub(super) async fn one(settings: &Settings, name: &str) -> anyhow::Result<Option<SourceStatus>> {
    let found = control::upstreams(&settings.data_dir, Some(name)).await.map_err(told)?;
    Ok(found.and_then(|found| found.into_iter().next()))
}

/// Whether a hub runs.
pub(super) async fn is_there(settings: &Settings) -> anyhow::Result<bool> {
    Ok(control::status(&settings.data_dir).await.map_err(told)?.is_some())
}

/// Has the hub read its configuration anew; none where no hub runs, else what came of it.
pub(super) async fn reload(settings: &Settings) -> anyhow::Result<Option<String>> {
    control::reload(&settings.data_dir).await.map_err(told)
}

/// Has the hub connect anew to a server; tells whether a hub runs.
pub(super) async fn restart(settings: &Settings, name: &str) -> anyhow::Result<bool> {
    control::restart(&settings.data_dir, name).await.map_err(told)
}

/// Waits until a server stands as it should, or long enough; how it stands then. None where the hub does not have it.
pub(super) async fn until(
    settings: &Settings,
    name: &str,
    what: &str,
    done: impl Fn(Option<&SourceStatus>) -> bool,
) -> anyhow::Result<Option<SourceStatus>> {
    let begun = Instant::now();
    let mut waiting = Waiting::begin(format!("{name}: {what}"));
    loop {
        let status = one(settings, name).await?;
        if done(status.as_ref()) || begun.elapsed() > PATIENCE {
            return Ok(status);
        }
        tokio::time::sleep(PAUSE).await;
        waiting.tick();
    }
}

/// Waits until a hub that has read its file anew has a server, and `done` says that it stands as it should; how it stands
/// then. None where the hub does not have it: it reads another file.
pub(super) async fn once_there(
    settings: &Settings,
    name: &str,
    what: &str,
    done: impl Fn(&SourceStatus) -> bool,
) -> anyhow::Result<Option<SourceStatus>> {
    let begun = Instant::now();
    let is_so = |status: Option<&SourceStatus>| status.map_or_else(|| begun.elapsed() > ABSENCE, &done);
    until(settings, name, what, is_so).await
}

/// Why the hub that runs does not have servers that our file has. None where no hub runs.
pub(super) async fn lacks(
    settings: &Settings,
    names: &[&str],
    file: &Path,
) -> anyhow::Result<Option<String>> {
    let status = control::status(&settings.data_dir).await.map_err(told)?;
    Ok(status.map(|status| {
        let servers = if names.len() == 1 { "server" } else { "servers" };
        let (process, names) = (status.pid, names.join("`, `"));
        format!(
            "the toolgate that runs (process {process}) has no {servers} `{names}`: {}",
            why(&status, file)
        )
    }))
}

fn why(status: &Status, file: &Path) -> String {
    let ours = file.display();
    match share::file_of(status) {
        None => format!("it may read another file than `{ours}`"),
        Some("") => format!("it does not read `{ours}`"),
        Some(theirs) if is_file(theirs, file) => {
            format!("it reads `{ours}`, but does not use what is new in it; `toolgate status` may tell more")
        }
        Some(theirs) => format!("it reads `{theirs}`, not `{ours}`"),
    }
}

fn is_file(theirs: &str, file: &Path) -> bool {
    name(file) == theirs
}

/// What to say where a hub is needed and none runs.
pub(super) fn none(folder: &Path) -> anyhow::Error {
    anyhow::anyhow!(
        "no toolgate runs on `{}`\nhint: start one with `toolgate serve --http`, or let a client start `toolgate serve`",
        folder.display()
    )
}

fn told(error: ControlError) -> anyhow::Error {
    anyhow::anyhow!("{error}\nhint: {}", error.hint())
}
