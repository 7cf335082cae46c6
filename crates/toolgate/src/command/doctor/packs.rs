//! Whether the packs that reach other services can, and what they still need.

use std::time::Duration;

use anyhow::Context as _;
use toolgate_config::process_environment;
use toolgate_host::{Secret, Standing, Tasks};
use toolgate_packs::calendar::feed_key;
use toolgate_secrets::{Redactor, SecretName, Snapshot, references};

use super::workspace::named_folder;
use super::{Finding, State};
use crate::packs;
use crate::parts::Parts;
use crate::settings::{PackName, Settings};
use crate::upstreams::Filling;

/// How long the store gets to say which secrets there are.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn vault(settings: &Settings) -> Vec<Finding> {
    let vault = &settings.vault;
    let mut folder = String::new();
    if let Some(root) = vault.root.as_ref().filter(|_| settings.packs.contains(&PackName::Vault)) {
        let finding = named_folder(root, "vault.root");
        if finding.state != State::Ok {
            return vec![finding];
        }
        folder = finding.message;
    }
    let kept = match (vault.git.enabled, vault.git.push) {
        (false, _) => "not kept in git",
        (true, false) => "committed to git",
        (true, true) => "committed to git and pushed",
    };
    let tokens: Vec<&str> = vault.git.token.as_deref().filter(|_| vault.git.enabled).into_iter().collect();
    vec![look(PackName::Vault, settings, &tokens, format!("{folder}, {kept}"))]
}

pub(super) fn web(settings: &Settings) -> Vec<Finding> {
    let (more, less) = (settings.web.allow_hosts.len(), settings.web.deny_hosts.len());
    let all_but = settings.web.deny_hosts.iter().any(|host| host.0.to_string() == "*");
    let reach = match (more, less) {
        (0, 0) => "public addresses, and no others".to_owned(),
        _ if all_but => format!("{more} in `web.allow_hosts`, and no others"),
        _ => format!("public addresses; {more} in `web.allow_hosts`, {less} in `web.deny_hosts`"),
    };
    vec![look(PackName::Web, settings, &[], reach)]
}

pub(super) fn chat(settings: &Settings) -> Vec<Finding> {
    let chat = &settings.chat;
    let services =
        [("Discord", &chat.discord.token), ("Slack", &chat.slack.token), ("Telegram", &chat.telegram.token)];
    let services: Vec<&str> =
        services.iter().filter(|(_, token)| token.is_some()).map(|(name, _)| *name).collect();
    let reach = format!("{}; {} in `chat.targets`", services.join(", "), chat.targets.len());
    let tokens: Vec<&str> = chat.tokens().collect();
    vec![look(PackName::Chat, settings, &tokens, reach)]
}

pub(super) fn calendar(settings: &Settings) -> Vec<Finding> {
    let calendar = &settings.calendar;
    let urls: Vec<&str> = calendar.urls().collect();
    let (all, files) = (calendar.feeds.len(), calendar.feeds.len() - urls.len());
    let reach = format!("{all} in `calendar.feeds`, {files} of them files");
    let mut findings = vec![look(PackName::Calendar, settings, &urls, reach)];
    if settings.packs.contains(&PackName::Calendar) {
        let missing = calendar.feeds.iter().filter_map(|(name, feed)| {
            let path = feed.file.as_deref()?;
            matches!(Standing::of(path), Standing::Missing { .. }).then(|| (name, path.display()))
        });
        findings.extend(missing.map(|(name, path)| {
            Finding::new(State::Missing, format!("`{path}` does not exist"))
                .hint(format!("put the calendar there, or set `{}.file`", feed_key(name)))
        }));
    }
    findings
}

pub(super) fn github(settings: &Settings) -> Vec<Finding> {
    let github = &settings.github;
    let reach = match github.repos.len() {
        0 => format!("`{}`, all that the token opens", github.base_url),
        count => format!("`{}`; {count} in `github.repos`", github.base_url),
    };
    let tokens: Vec<&str> = github.token.as_deref().into_iter().collect();
    vec![look(PackName::Github, settings, &tokens, reach)]
}

/// How a pack stands that uses these tokens, and reaches that far once it is there.
fn look(name: PackName, settings: &Settings, tokens: &[&str], reach: String) -> Finding {
    if !settings.packs.contains(&name) {
        return Finding::new(State::Note, "off: `packs` leaves it out");
    }
    let refers = tokens.iter().any(|token| references(token).next().is_some());
    let secrets = match kept(settings, refers) {
        Ok(secrets) => secrets,
        Err(error) => {
            return Finding::new(State::Broken, format!("its secrets cannot be looked for: {error:#}"))
                .hint("`toolgate secret list` tells more");
        }
    };
    let environment = process_environment();
    match packs::needs(name, settings, &Filling::new(&secrets, &environment)) {
        Ok(None) => Finding::new(State::Ok, reach),
        Ok(Some(needs)) if tokens.is_empty() => Finding::new(State::Note, "not configured").hint(needs),
        Ok(Some(needs)) => Finding::new(State::Missing, "its tools are not there").hint(needs),
        Err(error) => {
            let text = format!("{error:#}");
            let (message, hint) = text.split_once("\nhint: ").unwrap_or((&text, "see the configuration"));
            Finding::new(State::Broken, message).hint(hint)
        }
    }
}

/// The secrets that there are, by name: what they hold is nobody's business here. Without need for one, the store is
/// left alone.
fn kept(settings: &Settings, refers: bool) -> anyhow::Result<Snapshot> {
    if !refers || !settings.store.place(&settings.data_dir)?.exists() {
        return Ok(Snapshot::default());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listed = runtime.block_on(async {
        let tasks = Tasks::new();
        let parts = Parts::new(settings, Redactor::new(), &tasks)?;
        let listed = tokio::time::timeout(PATIENCE, parts.secrets.list()).await;
        tasks.shutdown(Duration::ZERO).await;
        Ok::<_, anyhow::Error>(listed.context("the store does not answer")??)
    })?;
    let name =
        // In a form that an address may have, and a token, too.
        |name: String| Some((name.parse::<SecretName>().ok()?, Secret::new("https://kept-and-not-shown".into())));
    Ok(listed.into_iter().filter_map(|info| name(info.name)).collect())
}
