//! What is to be checked: a server of the configuration, an address, or a program.

use std::ffi::OsString;
use std::path::PathBuf;

use toolgate_check::{Address, Program, Proxy, Subject};
use toolgate_config::{Environment, env, process_environment};
use toolgate_core::{Error, Kind};
use toolgate_host::process::{Network, Sandbox};
use toolgate_host::{Secret, find_program};
use toolgate_secrets::Snapshot;
use toolgate_upstream::{Holder, NetworkConfig, Oauth, Plan, ProxyConfig, SandboxConfig, UpstreamConfig};

use crate::above::Above;
use crate::cli::Check;
use crate::command::Process;
use crate::command::table::{fit, one_line};
use crate::parts::Parts;
use crate::settings::Settings;
use crate::upstreams::{self, Filling, Grants};

/// Of our own variables, those that a program gets.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// So much of a command is shown, in characters.
const SHOWN: usize = 60;

/// A server that is to be checked.
pub(super) struct Found {
    /// What it is called here.
    pub(super) name: String,
    /// How it is reached.
    pub(super) subject: Subject,
    /// Whether someone can sign in to it under its name.
    pub(super) signs_in: bool,
}

/// What a server is called here, and how it is reached.
pub(super) async fn find(check: &Check, settings: &Settings, process: &Process) -> anyhow::Result<Found> {
    let environment = process_environment();
    let parts = Parts::new(settings, process.redactor.clone(), &process.tasks)?;
    let secrets = parts.hide_secrets(settings).await?;
    let (mut held, mut signs_in) = (None, false);
    let (name, table) = match (&check.server, check.line.split_first()) {
        (_, Some((command, args))) => {
            let env = check.variables.iter().cloned().collect();
            let table = UpstreamConfig {
                command: Some(command.clone()),
                args: args.into(),
                env,
                ..Default::default()
            };
            (fit(&one_line(&check.line.join(" ")), SHOWN), table)
        }
        (Some(url), None) if url.starts_with("http://") || url.starts_with("https://") => {
            let headers = check.headers.iter().cloned().collect();
            let table = UpstreamConfig { url: Some(url.clone()), headers, ..Default::default() };
            (shown(url), table)
        }
        (Some(name), None) => {
            let mut table = with_headers(configured(name, settings)?, &check.headers);
            Above::of(&environment).tell(settings, &mut table);
            held = grant(name, &table, (&parts, &secrets), process).await?;
            signs_in =
                table.url.is_some() && table.oauth != Some(Oauth::Off) && !says_who(table.headers.keys());
            (name.clone(), table)
        }
        (None, None) => return Err(Error::new(Kind::InvalidInput, "there is nothing to check").into()),
    };
    // References are filled in as in the configuration: a shell's history is no place for a token.
    let filling = Filling::new(&secrets, &environment);
    let fill = |text: &str| filling.fill(text);
    // What is wrong with a table is told under its name; what was typed has none.
    let named = if settings.mcp.contains_key(&name) { &name } else { "server" };
    let mut subject = subject(named, &table, fill, &environment)?;
    // What a server gave us is no text of the configuration, in which anything would be filled in.
    if let Subject::Address(address) = &mut subject {
        address.headers.extend(held);
    }
    Ok(Found { name, subject, signs_in })
}

/// A table with headers that were typed: each in place of one of the same name, and who says who they are need not
/// sign in.
fn with_headers(table: &UpstreamConfig, typed: &[(String, String)]) -> UpstreamConfig {
    let mut table = table.clone();
    table.headers.retain(|name, _| !typed.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    table.headers.extend(typed.iter().cloned());
    if says_who(typed.iter().map(|(name, _)| name)) {
        table.oauth = Some(Oauth::Off);
    }
    table
}

/// Whether one of these headers says who we are.
fn says_who<'a>(mut names: impl Iterator<Item = &'a String>) -> bool {
    names.any(|name| name.eq_ignore_ascii_case("authorization"))
}

/// The header that lets us in to a server that someone has signed in to.
async fn grant(
    name: &str,
    table: &UpstreamConfig,
    (parts, secrets): (&Parts, &Snapshot),
    process: &Process,
) -> anyhow::Result<Option<(String, String)>> {
    let grants = Grants::new(parts, &process.tasks);
    // A table that cannot be used is refused below.
    let Ok(Some(authorizer)) = upstreams::authorizer(name, table, secrets, &grants, &process.tasks) else {
        return Ok(None);
    };
    let held = authorizer
        .authorization(Holder::Shared)
        .await
        .map_err(|error| Error::new(Kind::Unauthorized, error.to_string()).hint(error.hint().to_owned()))?;
    Ok(held.map(|value| ("Authorization".to_owned(), value.expose().to_owned())))
}

/// An address without what may be secret in it.
fn shown(url: &str) -> String {
    let bare = url.split(['?', '#']).next().unwrap_or_default();
    match bare.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.split_once('@')?))) {
        Some((scheme, (user, rest))) if !user.contains('/') => format!("{scheme}://{rest}"),
        Some(_) | None => bare.to_owned(),
    }
}

fn configured<'a>(name: &str, settings: &'a Settings) -> Result<&'a UpstreamConfig, Error> {
    settings.mcp.get(name).ok_or_else(|| {
        let error = Error::new(Kind::InvalidInput, format!("there is no server `{name}`"));
        match toolgate_config::nearest(name, settings.mcp.keys().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean `{near}`? `toolgate mcp list` shows all")),
            None => error.hint("give a name of `toolgate mcp list`, an address, or `-- COMMAND`"),
        }
    })
}

fn subject(
    name: &str,
    table: &UpstreamConfig,
    fill: impl Fn(&str) -> Result<Secret, String>,
    environment: &Environment,
) -> anyhow::Result<Subject> {
    // The same is refused, in the same words, as where the server is used.
    Plan::new(name, table, &fill)
        .map_err(|error| Error::new(Kind::InvalidInput, error.to_string()).hint(error.hint().to_owned()))?;
    let text = |text: &str| -> Result<String, Error> {
        let filled = fill(text).map_err(|why| Error::new(Kind::InvalidInput, why))?;
        Ok(filled.expose().to_owned())
    };
    match (&table.command, &table.url) {
        (Some(command), _) => Ok(Subject::Program(program(command, table, text, environment)?)),
        (None, url) => {
            let url = text(url.as_deref().unwrap_or_default())?;
            Ok(Subject::Address(address(&url, table, text)?))
        }
    }
}

fn program(
    command: &str,
    table: &UpstreamConfig,
    text: impl Fn(&str) -> Result<String, Error>,
    environment: &Environment,
) -> Result<Program, Error> {
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    for name in INHERITED.iter().filter(|name| !table.env.contains_key(**name)) {
        variables.extend(environment.get(name).map(|value| ((*name).into(), value.into())));
    }
    for (name, value) in &table.env {
        variables.push((name.into(), text(value)?.into()));
    }
    let search = table.env.get(env::PATH).map(String::as_str).or_else(|| environment.get(env::PATH));
    let path = if command.contains('/') {
        PathBuf::from(command)
    } else {
        find_program(search.unwrap_or_default(), command).ok_or_else(|| {
            Error::new(Kind::InvalidInput, format!("there is no program `{command}` on the search path"))
                .hint("install it, or give its whole path")
        })?
    };
    let arguments = table.args.iter().map(|arg| Ok(text(arg)?.into())).collect::<Result<_, Error>>()?;
    let folder = table.cwd.as_ref().map(PathBuf::from);
    Ok(Program { path, arguments, variables, folder, sandbox: sandbox(&table.sandbox, text)? })
}

fn sandbox(
    config: &SandboxConfig,
    text: impl Fn(&str) -> Result<String, Error>,
) -> Result<Option<Sandbox>, Error> {
    let SandboxConfig::Landlock(config) = config else { return Ok(None) };
    let paths =
        |paths: &[String]| paths.iter().map(|path| Ok(text(path)?.into())).collect::<Result<_, Error>>();
    let network = match &config.network {
        NetworkConfig::Off => Network::None,
        NetworkConfig::On => Network::All,
        NetworkConfig::Ports(ports) => Network::Ports(ports.clone()),
    };
    Ok(Some(Sandbox { read: paths(&config.read)?, write: paths(&config.write)?, network }))
}

fn address(
    url: &str,
    table: &UpstreamConfig,
    text: impl Fn(&str) -> Result<String, Error>,
) -> Result<Address, Error> {
    let parsed = url.parse().map_err(|error| {
        Error::new(Kind::InvalidInput, format!("`{}` is no address: {error}", shown(url)))
            .hint("write one such as `http://127.0.0.1:3000/mcp`")
    })?;
    let mut headers = Vec::new();
    for (name, value) in &table.headers {
        headers.push((name.clone(), text(value)?));
    }
    let proxy = match &table.proxy {
        None => Proxy::Environment,
        Some(ProxyConfig::Off) => Proxy::Off,
        Some(ProxyConfig::Url(url)) => Proxy::At(text(url)?),
    };
    Ok(Address { url: parsed, headers, ca_file: table.ca_file.as_ref().map(PathBuf::from), proxy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_what_may_be_secret() {
        #[track_caller]
        fn check(url: &str, expect: &str) {
            assert_eq!(shown(url), expect);
        }
        check("https://h/mcp", "https://h/mcp");
        check("https://ada:pw@h:1/mcp?key=1#x", "https://h:1/mcp");
        check("https://h/a@b", "https://h/a@b");
    }
}
