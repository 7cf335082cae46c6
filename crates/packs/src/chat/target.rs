//! Whom a message is for, and who may be written to: what callers and the configuration say, parsed once.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Kind as Failure, Result};

use crate::Unready;

/// A chat service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Provider {
    Discord,
    Slack,
    Telegram,
}

impl Provider {
    pub(super) const ALL: [Self; 3] = [Self::Discord, Self::Slack, Self::Telegram];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Discord => "discord",
            Self::Slack => "slack",
            Self::Telegram => "telegram",
        }
    }

    /// What people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Discord => "Discord",
            Self::Slack => "Slack",
            Self::Telegram => "Telegram",
        }
    }

    /// How long a message may be. All are counted in UTF-16 units: Telegram does so, and the others count less.
    pub(super) fn limit(self) -> usize {
        match self {
            Self::Discord => 2000,
            // Up to 40,000 are taken, but shown well only up to this.
            Self::Slack => 4000,
            Self::Telegram => 4096,
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.word() == word)
    }

    /// How an id is written here.
    fn ids(self) -> &'static str {
        match self {
            Self::Discord => "give a Discord id: up to 20 digits",
            Self::Slack => "give a Slack id, such as `channel:C0123456789` or `user:U0123456789`",
            Self::Telegram => {
                "give a Telegram chat id: digits, negative for groups, or `@name` for public channels"
            }
        }
    }

    fn is_id(self, id: &str) -> bool {
        let digits =
            |text: &str| (1..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Self::Discord => digits(id),
            Self::Slack => {
                let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
                (3..=32).contains(&id.len())
                    && id.starts_with(['C', 'D', 'G', 'U', 'W'])
                    && id.bytes().all(fits)
            }
            Self::Telegram => match id.strip_prefix('@') {
                Some(name) => {
                    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
                    (4..=32).contains(&name.len()) && name.bytes().all(fits)
                }
                None => digits(id.strip_prefix('-').unwrap_or(id)),
            },
        }
    }

    /// What an id is of, where it shows.
    fn kind_of(self, id: &str) -> Option<Kind> {
        let user = match self {
            Self::Discord => return None,
            Self::Slack => id.starts_with(['U', 'W']),
            Self::Telegram => !id.starts_with(['-', '@']),
        };
        Some(if user { Kind::User } else { Kind::Channel })
    }
}

/// What a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Channel,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Channel => "channel",
        }
    }

    fn of(word: &str) -> Option<Self> {
        [Self::User, Self::Channel].into_iter().find(|kind| kind.word() == word)
    }
}

/// Whom a message is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) kind: Kind,
    pub(super) id: String,
}

impl Target {
    /// Reads `user:ID`, `channel:ID` or a bare id.
    ///
    /// What an id is of counts more than what is written before it, so that nobody is reached by another name.
    pub(super) fn parse(provider: Provider, text: &str) -> Result<Self> {
        let wrong = |message: String| Error::new(Failure::InvalidInput, message).hint(provider.ids());
        let (said, id) = match text.split_once(':') {
            Some((word, id)) => {
                let kind = Kind::of(word);
                let kind = kind.ok_or_else(|| {
                    wrong("`target` begins neither with `user:` nor with `channel:`".into())
                })?;
                (Some(kind), id)
            }
            None => (None, text),
        };
        if !provider.is_id(id) {
            return Err(wrong(format!("`target` holds no id of {}", provider.name())));
        }
        let shown = provider.kind_of(id);
        if let (Some(said), Some(shown)) = (said, shown)
            && said != shown
        {
            return Err(wrong(format!("`target` is a {}, not a {}", shown.word(), said.word())));
        }
        let kind = shown.or(said).unwrap_or(Kind::Channel);
        Ok(Self { kind, id: id.to_owned() })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.word(), self.id)
    }
}

/// Targets that may be written to; what is not said may be any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Allowed {
    provider: Option<Provider>,
    kind: Option<Kind>,
    id: Option<String>,
}

impl Allowed {
    /// Reads `*`, `slack:*`, `slack:user:*` or `slack:channel:ID`.
    pub(super) fn parse(text: &str) -> Result<Self, Unready> {
        let wrong = || {
            let hint = "write `discord:channel:123`, `slack:user:*`, `telegram:*` or `*`";
            Unready::wrong("chat.targets", format!("holds `{text}`, which names no target"), hint)
        };
        if text == "*" {
            return Ok(Self { provider: None, kind: None, id: None });
        }
        let (provider, rest) = text.split_once(':').ok_or_else(wrong)?;
        let provider = Provider::of(provider).ok_or_else(wrong)?;
        if rest == "*" {
            return Ok(Self { provider: Some(provider), kind: None, id: None });
        }
        if let Some(kind) = rest.strip_suffix(":*") {
            let kind = Kind::of(kind).ok_or_else(wrong)?;
            return Ok(Self { provider: Some(provider), kind: Some(kind), id: None });
        }
        let target = Target::parse(provider, rest).map_err(|_| wrong())?;
        Ok(Self { provider: Some(provider), kind: Some(target.kind), id: Some(target.id) })
    }

    pub(super) fn includes(&self, provider: Provider, target: &Target) -> bool {
        self.provider.is_none_or(|allowed| allowed == provider)
            && self.kind.is_none_or(|kind| kind == target.kind)
            // Names of Telegram mean the same in any case; all other ids have none.
            && self.id.as_ref().is_none_or(|id| id.eq_ignore_ascii_case(&target.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(provider: Provider, text: &str, expect: Option<&str>) {
        let target = Target::parse(provider, text).map(|target| target.to_string());
        assert_eq!(target.as_deref().ok(), expect, "{provider:?} {text}");
    }

    #[test]
    fn targets_are_ids_with_or_without_their_kind() {
        check(Provider::Discord, "channel:123", Some("channel:123"));
        check(Provider::Discord, "user:123", Some("user:123"));
        check(Provider::Discord, "123", Some("channel:123"));
        check(Provider::Slack, "C0123", Some("channel:C0123"));
        check(Provider::Slack, "U0123", Some("user:U0123"));
        check(Provider::Slack, "channel:D0123", Some("channel:D0123"));
        check(Provider::Telegram, "42", Some("user:42"));
        check(Provider::Telegram, "-10042", Some("channel:-10042"));
        check(Provider::Telegram, "channel:@news", Some("channel:@news"));
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in ["", "user:", "channel:../x", "12 3", "@me", "group:1", "1/messages/2", "1?x=1", "١٢٣"]
        {
            check(Provider::Discord, text, None);
        }
        for text in ["general", "#general", "user:C0123", "channel:U0123", "c0123", "C0-1", "C0\n1"] {
            check(Provider::Slack, text, None);
        }
        for text in ["@a", "name", "--1", "user:-1", "channel:42", "1e5", "@a/b"] {
            check(Provider::Telegram, text, None);
        }
    }

    #[track_caller]
    fn check_allowed(rule: &str, provider: Provider, text: &str, expect: bool) {
        let target = Target::parse(provider, text).unwrap();
        assert_eq!(Allowed::parse(rule).unwrap().includes(provider, &target), expect, "{rule} {text}");
    }

    #[test]
    fn a_rule_includes_what_it_names_and_nothing_else() {
        check_allowed("*", Provider::Discord, "1", true);
        check_allowed("slack:*", Provider::Slack, "U012", true);
        check_allowed("slack:*", Provider::Discord, "1", false);
        check_allowed("discord:user:*", Provider::Discord, "user:1", true);
        check_allowed("discord:user:*", Provider::Discord, "1", false);
        check_allowed("discord:channel:12", Provider::Discord, "12", true);
        check_allowed("discord:channel:12", Provider::Discord, "123", false);
        check_allowed("discord:channel:12", Provider::Discord, "user:12", false);
        check_allowed("discord:12", Provider::Discord, "channel:12", true);
        check_allowed("telegram:@News", Provider::Telegram, "@news", true);
        for rule in
            ["", "slack", "irc:*", "slack:group:*", "slack:channel:", "slack:channel:C*", "discord:*:1"]
        {
            assert!(Allowed::parse(rule).is_err(), "{rule}");
        }
    }
}
