//! `toolgate setup CLIENT`: the change as a diff, and then made or taken back.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_clients::{Action, Client, Plan, Scope};
use toolgate_core::{Error, Kind};

use super::cost::Costs;
use super::{Scene, diff, entry};
use crate::cli::setup::NAME;
use crate::cli::{Cli, Setup};

/// Shows a change, and makes it if that is asked for.
pub(super) fn run(
    cli: &Cli,
    setup: &Setup,
    scene: &Scene,
    client: Client,
    costs: Option<&Costs>,
) -> anyhow::Result<ExitCode> {
    let file = scene.file(client, &setup.name)?;
    let plan = if setup.undo {
        file.undo(&setup.name)?
    } else {
        let server = entry::server(cli, setup, file.entry(&setup.name), costs)?;
        file.set(&setup.name, &server)?.ok_or_else(|| no_address(client))?
    };
    let made = setup.undo || setup.write;
    if made {
        plan.apply()?;
    }
    if setup.json {
        let report = json!({
            "client": client.id(),
            "file": plan.path(),
            "action": word(plan.action()),
            "done": made,
            "diff": diff::unified(&plan),
            "backup": plan.backup(),
            "next": setup.write.then(|| client.next_step()),
            "costs": costs.map(|costs| costs.json(setup.lean)),
        });
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&report)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    write!(std::io::stdout(), "{}", diff::unified(&plan))?;
    let said = said(setup, scene, client, &plan, costs);
    write!(std::io::stderr(), "{said}")?;
    Ok(ExitCode::SUCCESS)
}

/// What is to say besides the diff.
fn said(setup: &Setup, scene: &Scene, client: Client, plan: &Plan, costs: Option<&Costs>) -> String {
    let mut lines = vec![done(setup, scene, plan)];
    let is_user = scene.scope == Scope::User;
    if is_user && !setup.undo && !scene.folders.is_installed(client) {
        lines.push(format!("note: {client} does not seem to be installed"));
    }
    if let Some(backup) = plan.backup().filter(|_| setup.write) {
        lines.push(format!("the file as it was is kept in {}", scene.short(backup)));
    }
    if let Some(costs) = costs {
        let costs = if setup.lean { Some(costs.table().trim_end().to_owned()) } else { costs.offer() };
        lines.extend(costs);
    }
    if plan.action() != Action::Nothing {
        lines.push(next(setup, client));
    }
    lines.join("\n") + "\n"
}

fn next(setup: &Setup, client: Client) -> String {
    if setup.undo {
        format!("next: restart {client}, so that it forgets it")
    } else if setup.write {
        let project = if setup.project { " --project" } else { "" };
        let name = if setup.name == NAME { String::new() } else { format!(" --name {}", setup.name) };
        format!("next: {}\nundo: toolgate setup {}{project}{name} --undo", client.next_step(), client.id())
    } else {
        "next: run this again with `--write` to make this change".to_owned()
    }
}

fn done(setup: &Setup, scene: &Scene, plan: &Plan) -> String {
    let (name, file) = (&setup.name, scene.short(plan.path()));
    match plan.action() {
        Action::Nothing if setup.undo => format!("{file} has no `{name}`: there is nothing to undo"),
        Action::Nothing => format!("{file} has `{name}` as it should be: there is nothing to do"),
        Action::Create | Action::Add | Action::Update if setup.write => format!("wrote `{name}` to {file}"),
        Action::Create | Action::Add | Action::Update => {
            format!("this would change {file}; nothing is written yet")
        }
        Action::Restore => format!("{file} is again as it was before"),
        Action::Remove => format!("took `{name}` out of {file}, and left everything else"),
        Action::Delete => format!("deleted {file}, which held nothing else"),
    }
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Nothing => "nothing",
        Action::Create => "create",
        Action::Add => "add",
        Action::Update => "update",
        Action::Restore => "restore",
        Action::Remove => "remove",
        Action::Delete => "delete",
    }
}

fn no_address(client: Client) -> Error {
    let message = format!("{client} starts its servers itself; its file takes no address");
    let hint = "leave out `--http`, or add the address in its settings, under connectors";
    Error::new(Kind::InvalidInput, message).hint(hint)
}
