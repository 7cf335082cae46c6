//! `chat_send`: send a message by Discord, Slack or Telegram.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::Chat;
use super::delivery::deliver;
use super::split::{split, units};
use super::target::{Provider, Target};

pub(super) struct ChatSend;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(description = "The chat service.")]
    provider: Provider,
    /// Whom it is for: `user:ID`, `channel:ID`, or an id alone.
    target: String,
    /// The text; a long one becomes several messages, in which blocks of code stay whole.
    message: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    #[schemars(description = "The chat service.")]
    provider: Provider,
    /// Whom it was sent to.
    target: String,
    /// The ids of the messages that were sent, in order; all of the text went out.
    messages: Vec<String>,
}

impl Tool<Chat> for ChatSend {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "chat_send",
        title: "Send chat message",
        description: "Send a message to a person or a channel by Discord, Slack or Telegram.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Chat, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let Input { provider, target, message } = input;
        let line = pack.line(provider)?;
        let target = Target::parse(provider, &target)?;
        pack.permits(provider, &target)?;
        let most = pack.max_parts;
        // Splitting looks at the rest once a part, so a text that is far too long is not even begun.
        let least = units(&message).div_ceil(provider.limit());
        let parts = if least > most { Vec::new() } else { split(&message, provider.limit()) };
        let count = parts.len().max(least);
        if count > most {
            let error = format!("`message` is {count} messages long; {most} are allowed");
            return Err(Error::new(Kind::InvalidInput, error).hint("send less, or a link to it"));
        }
        if parts.is_empty() {
            return Err(Error::new(Kind::InvalidInput, "`message` is empty").hint("write what to send"));
        }
        let messages = deliver(line, run, &target, &parts).await?;
        Ok(Json(Output { provider, target: target.to_string(), messages }))
    }
}
