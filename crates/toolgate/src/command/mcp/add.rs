//! `toolgate mcp add`: a server becomes a table of `toolgate.toml`.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use toolgate_clients::import::looks_secret;
use toolgate_core::{Error, Kind, SourceState, SourceStatus};

use super::known::Known;
use super::table::{self, File};
use super::told::{print, say};
use super::{Scene, running, status};
use crate::cli::Add;

pub(super) async fn run(scene: &Scene<'_>, add: &Add) -> anyhow::Result<ExitCode> {
    let (name, known) = which(scene, add)?;
    let table = written(add, known)?;
    let file = File::open(scene)?;
    let replaces = file.has(&name);
    if replaces && !add.force {
        let message = format!("there is a server `{name}` already");
        let hint = "replace it with `--force`, or choose another name";
        return Err(Error::new(Kind::InvalidInput, message).hint(hint).into());
    }
    file.write(table::with(file.text(), &name, &table)?).await?;
    let block = table::block(&name, &table::shown(&table))?;
    let is_running = running::reload(&scene.settings).await?.is_some();
    let status = if is_running { settled(scene, &name).await? } else { None };
    if let (true, None) = (is_running, &status)
        && let Some(why) = running::lacks(&scene.settings, &[&name], &file.path).await?
    {
        say(&format!("note: {why}"))?;
    }
    if add.json {
        print(&json!({
            "name": name, "file": file.path, "table": block, "replaced": replaces,
            "needs": needs(scene, known).await?, "running": is_running, "status": status,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    write!(std::io::stdout().lock(), "{block}")?;
    let done = if replaces { "replaced" } else { "added" };
    say(&format!("{done} `{name}` in `{}`", file.path.display()))?;
    if name != add.name {
        say(&format!("it is called `{name}`, for `{}` is a pack", add.name))?;
    }
    if let Some(where_to) = plain_secret(&table) {
        say(&format!(
            "note: `{where_to}` looks like a secret; `toolgate secret set NAME` keeps one encrypted, and `{{secret:NAME}}` refers to it"
        ))?;
    }
    let needs = needs(scene, known).await?;
    for (secret, what) in &needs {
        say(&format!("next: toolgate secret set {secret}   ({what})"))?;
    }
    if status.is_some() {
        return status::brief(status.as_ref()).map(|()| ExitCode::SUCCESS);
    }
    if known.is_some_and(Known::signs_in) || add.oauth {
        say(&format!("next: toolgate mcp auth {name}"))?;
    } else if needs.is_empty() {
        say(&format!("next: toolgate mcp test {name}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What to call it, and the known server that it is, if it is one.
fn which(scene: &Scene<'_>, add: &Add) -> Result<(String, Option<&'static Known>), Error> {
    let is_described = add.command.is_some() || add.url.is_some() || !add.line.is_empty();
    if is_described {
        return Ok((add.name.clone(), None));
    }
    let known = Known::find(add.known.as_deref().unwrap_or(&add.name))?;
    // A pack that is on keeps its name; whoever chose the name hears of it.
    let is_pack = add.known.is_none() && scene.settings.is_pack(&add.name);
    let name = if is_pack { format!("{}-server", add.name) } else { add.name.clone() };
    Ok((name, Some(known)))
}

/// The table, as it was typed.
fn written(add: &Add, known: Option<&Known>) -> Result<Map<String, Value>, Error> {
    let mut table = match known {
        Some(known) => known.table(&add.values)?,
        None => Map::new(),
    };
    let mut line = add.command.iter().chain(&add.args).chain(&add.line);
    if let Some(command) = line.next() {
        table.insert("command".into(), command.as_str().into());
        let args: Vec<&String> = line.collect();
        if !args.is_empty() {
            table.insert("args".into(), json!(args));
        }
    }
    if let Some(url) = &add.url {
        table.insert("url".into(), url.as_str().into());
    }
    if add.oauth {
        table.insert("oauth".into(), true.into());
    }
    for (key, pairs) in [("env", &add.variables), ("headers", &add.headers)] {
        if let (false, Value::Object(texts)) =
            (pairs.is_empty(), table.entry(key).or_insert_with(|| json!({})))
        {
            texts.extend(pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))));
        }
    }
    table.retain(|_, value| value.as_object().is_none_or(|texts| !texts.is_empty()));
    if let Some(cwd) = &add.cwd {
        let cwd = std::path::absolute(cwd)
            .map_err(|_| Error::new(Kind::InvalidInput, format!("`{}` is no folder", cwd.display())))?;
        table.insert("cwd".into(), cwd.to_string_lossy().into());
    }
    let limits = [("timeout", add.timeout), ("startup_timeout", add.startup_timeout)];
    table.extend(limits.into_iter().filter_map(|(key, limit)| Some((key.to_owned(), limit?.into()))));
    Ok(table)
}

/// The first text that looks like a secret and is written out.
fn plain_secret(table: &Map<String, Value>) -> Option<String> {
    ["env", "headers"].into_iter().find_map(|key| {
        let mut texts = table.get(key)?.as_object()?.iter();
        let (name, _) = texts.find(|(name, text)| looks_secret(name, text.as_str().unwrap_or_default()))?;
        Some(format!("{key}.{name}"))
    })
}

/// The secrets that a known server needs and that are not kept yet.
async fn needs(
    scene: &Scene<'_>,
    known: Option<&Known>,
) -> anyhow::Result<Vec<(&'static str, &'static str)>> {
    let Some(known) = known.filter(|known| known.secrets().next().is_some()) else { return Ok(Vec::new()) };
    let (_, secrets) = scene.parts().await?;
    Ok(known.secrets().filter(|(name, _)| secrets.get(name).is_none()).collect())
}

/// How the running hub finds the server, once it has tried; none where it does not have it.
async fn settled(scene: &Scene<'_>, name: &str) -> anyhow::Result<Option<SourceStatus>> {
    let has_tried = |status: &SourceStatus| status.state != SourceState::Connecting;
    running::once_there(&scene.settings, name, "connecting", has_tried).await
}
