//! `opencode_session_abort`: stop what a session does.

use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::{OfSession, session};
use crate::pack::Opencode;
use crate::turn::{is_busy, stop_session};

pub(super) struct SessionAbort;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The id of the session.
    session_id: String,
    /// Whether it worked when it was stopped.
    was_busy: bool,
    /// Whether it stands still now; it was looked at after it was stopped.
    idle: bool,
}

impl Tool<Opencode> for SessionAbort {
    type Input = OfSession;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_session_abort",
        title: "Stop a session",
        description: "Stop what a session of OpenCode does, and see that it has stopped.",
        hints: Hints::WRITE_EXTERNAL,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: OfSession) -> Result<Json<Output>> {
        let link = pack.link().await?;
        // OpenCode stops sessions that do not exist without a word.
        session(link.client(), &input.session_id).await?;
        let was_busy = is_busy(link.client(), &input.session_id).await?;
        if !stop_session(link.client(), &input.session_id).await {
            return Err(Error::new(Kind::Upstream, format!("`{}` does not stop", input.session_id))
                .hint("call `opencode_session_list` to see whether it still works, then try again"));
        }
        Ok(Json(Output { session_id: input.session_id, was_busy, idle: true }))
    }
}
