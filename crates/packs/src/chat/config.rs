//! What can be set for chat.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be set for chat. Written as text it shows its tokens.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChatConfig {
    /// Whom messages may be sent to: `discord:channel:123`, `slack:user:*`, `telegram:*`, or `*` for anyone. Nobody
    /// if it is empty.
    #[schemars(example = ["slack:channel:C0123456789"])]
    pub targets: Vec<String>,
    /// The most messages that one long text may become.
    #[schemars(range(min = 1, max = 100))]
    pub max_parts: usize,
    /// Discord, by a bot.
    pub discord: DiscordConfig,
    /// Slack, by an app.
    pub slack: SlackConfig,
    /// Telegram, by a bot.
    pub telegram: TelegramConfig,
}

impl Default for ChatConfig {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            max_parts: 20,
            discord: DiscordConfig::default(),
            slack: SlackConfig::default(),
            telegram: TelegramConfig::default(),
        }
    }
}

/// What can be set for Discord.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DiscordConfig {
    /// The token of the bot.
    #[schemars(example = "{secret:DISCORD_TOKEN}")]
    pub token: Option<String>,
    /// Where its API is.
    pub base_url: String,
}

impl Default for DiscordConfig {
    fn default() -> Self {
        Self { token: None, base_url: "https://discord.com/api/v10".into() }
    }
}

/// What can be set for Slack.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SlackConfig {
    /// The token of the app's bot user, with the scope `chat:write`.
    #[schemars(example = "{secret:SLACK_TOKEN}")]
    pub token: Option<String>,
    /// Where its API is.
    pub base_url: String,
}

impl Default for SlackConfig {
    fn default() -> Self {
        Self { token: None, base_url: "https://slack.com/api".into() }
    }
}

/// What can be set for Telegram.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TelegramConfig {
    /// The token of the bot.
    #[schemars(example = "{secret:TELEGRAM_TOKEN}")]
    pub token: Option<String>,
    /// Where its API is.
    pub base_url: String,
}

impl Default for TelegramConfig {
    fn default() -> Self {
        Self { token: None, base_url: "https://api.telegram.org".into() }
    }
}

impl ChatConfig {
    /// The tokens that are written here, or referred to.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        [&self.discord.token, &self.slack.token, &self.telegram.token]
            .into_iter()
            .flatten()
            .map(String::as_str)
    }
}
