//! The pack `chat`: messages to people and channels that a person has listed.
//!
//! It only sends. What it sends calls nobody by a mention and shows no previews of links, whatever the text says.

mod config;
mod delivery;
mod line;
mod send;
mod split;
mod target;

use toolgate_core::{AnyTool, Error, Kind, Pack, Result, tool};
use toolgate_host::Secret;

use crate::Unready;
use line::Line;
use target::{Allowed, Provider, Target};

pub use config::{ChatConfig, DiscordConfig, SlackConfig, TelegramConfig};

/// Messages to people and channels.
#[derive(Debug)]
pub struct Chat {
    lines: Vec<Line>,
    allowed: Vec<Allowed>,
    max_parts: usize,
}

impl Chat {
    /// What is configured; `fill` puts secrets where the tokens refer to them.
    ///
    /// # Errors
    /// Something is missing, or cannot be meant.
    pub fn new(config: &ChatConfig, fill: impl Fn(&str) -> Result<Secret, String>) -> Result<Self, Unready> {
        let allowed =
            config.targets.iter().map(|text| Allowed::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let mut lines = Vec::new();
        for (provider, token, base) in [
            (Provider::Discord, &config.discord.token, &config.discord.base_url),
            (Provider::Slack, &config.slack.token, &config.slack.base_url),
            (Provider::Telegram, &config.telegram.token, &config.telegram.base_url),
        ] {
            let Some(token) = token else { continue };
            lines.push(Line::new(provider, base, fill(token).map_err(Unready::Needs)?)?);
        }
        if lines.is_empty() {
            let all = "set `chat.discord.token`, `chat.slack.token` or `chat.telegram.token`";
            return Err(Unready::Needs(all.into()));
        }
        if allowed.is_empty() {
            return Err(Unready::Needs("set `chat.targets` to whom messages may be sent".into()));
        }
        Ok(Self { lines, allowed, max_parts: config.max_parts })
    }

    fn line(&self, provider: Provider) -> Result<&Line> {
        self.lines.iter().find(|line| line.provider == provider).ok_or_else(|| {
            let there: Vec<_> = self.lines.iter().map(|line| format!("`{}`", line.provider.word())).collect();
            Error::new(Kind::InvalidInput, format!("the provider `{}` is not configured", provider.word()))
                .hint(format!("use {}", there.join(" or ")))
        })
    }

    fn permits(&self, provider: Provider, target: &Target) -> Result<()> {
        if self.allowed.iter().any(|allowed| allowed.includes(provider, target)) {
            return Ok(());
        }
        let name = provider.word();
        Err(Error::new(Kind::Denied, format!("`{target}` may not be written to by {}", provider.name()))
            .hint(format!("ask the person who runs Toolgate to add `{name}:{target}` to `chat.targets`")))
    }
}

impl Pack for Chat {
    const NAME: &'static str = "chat";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(send::ChatSend)]
    }
}
