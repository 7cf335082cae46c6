//! `toolgate mcp import --undo`: the last import is taken back.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_clients::import::put_back;
use toolgate_core::{Error, Kind};

use super::journal::{self, Record};
use super::{Scene, running};
use crate::command::mcp::table::{self, File};
use crate::command::mcp::told::{print, say};
use crate::command::setup::diff;

/// What was done.
#[derive(Default)]
struct Done {
    diff: String,
    said: Vec<String>,
}

pub(super) async fn run(scene: &Scene<'_>, as_json: bool) -> anyhow::Result<ExitCode> {
    let (mut records, held) = journal::read_all(scene)?;
    let Some(record) = records.pop() else {
        let hint = "`toolgate mcp remove NAME` removes a server";
        return Err(Error::new(Kind::NotFound, "there is no import to take back").hint(hint).into());
    };
    let mut done = Done::default();
    // Clients get back what they had before Toolgate lets go of it.
    give_back(&record, &mut done)?;
    clear(scene, &record, &mut done).await?;
    if !record.secrets.is_empty() {
        let names = record.secrets.join(", ");
        done.said.push(format!("kept are still: {names}; `toolgate secret remove NAME` removes one"));
    }
    journal::write(scene, &records, held).await?;
    let reloaded = running::reload(&scene.settings).await?.is_some();
    if as_json {
        print(&json!({"done": done.said, "diff": done.diff, "running": reloaded}))?;
        return Ok(ExitCode::SUCCESS);
    }
    write!(std::io::stdout().lock(), "{}", done.diff)?;
    done.said.iter().try_for_each(|line| say(line))?;
    Ok(ExitCode::SUCCESS)
}

fn give_back(record: &Record, done: &mut Done) -> anyhow::Result<()> {
    for taken in &record.taken {
        let what = taken.withdrawal()?;
        if !what.backup.exists() {
            done.said.push(format!("`{}` was put back before", what.file.display()));
            continue;
        }
        let plan = put_back(&what)?;
        plan.apply()?;
        let whole = plan.action() == toolgate_clients::Action::Restore;
        done.said.push(if whole {
            format!("`{}` is again as it was", what.file.display())
        } else {
            format!("`{}` has changed since; its entries are in it again", what.file.display())
        });
    }
    Ok(())
}

/// Takes the tables out of our file that nobody has changed since.
async fn clear(scene: &Scene<'_>, record: &Record, done: &mut Done) -> anyhow::Result<()> {
    let file = File::open(scene)?;
    if file.path != record.file {
        done.said.push(format!("`{}` is not read now, and stays as it is", record.file.display()));
        return Ok(());
    }
    let mut after = file.text().to_owned();
    for written in record.written.iter().rev() {
        let name = &written.name;
        let now = crate::settings::check(&file.path, Some(&after))?;
        match now.mcp.get(name) {
            None => done.said.push(format!("`{name}` was removed before")),
            Some(table) if journal::digest(table) != written.digest => {
                done.said.push(format!(
                    "`{name}` has changed since, and stays; remove it with `toolgate mcp remove {name}`"
                ));
            }
            Some(_) => {
                after = table::without(&after, name)?;
                done.said.push(format!("removed `{name}` from `{}`", file.path.display()));
            }
        }
    }
    done.diff = diff::between(&file.path, file.text(), &after);
    if after != file.text() {
        file.write(after).await?;
    }
    Ok(())
}
