//! `opencode_session_share`: put a session on the web.

use schemars::JsonSchema;
use serde::Serialize;
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::{OfSession, advised, session, text};
use crate::pack::Opencode;

pub(super) struct SessionShare;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The id of the session.
    session_id: String,
    /// Where everyone who has this address can read it.
    url: String,
}

impl Tool<Opencode> for SessionShare {
    type Input = OfSession;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "opencode_session_share",
        title: "Share a session",
        description: "Put a session of OpenCode on the web, for everyone who has its address.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Opencode, _: &RunHandle, input: OfSession) -> Result<Json<Output>> {
        let link = pack.link().await?;
        session(link.client(), &input.session_id).await?;
        let request = link.client().post(&["session", &input.session_id, "share"]);
        let shared = request.send().await;
        let advice =
            "sharing needs the internet and `share` in OpenCode's configuration not to be `disabled`";
        shared.map_err(|error| advised(error, advice))?;
        // What counts is what the session itself says now.
        let url = text(&session(link.client(), &input.session_id).await?["share"]["url"]);
        if url.is_empty() {
            return Err(
                Error::new(Kind::Upstream, "OpenCode shared the session but gives no address").hint(advice)
            );
        }
        Ok(Json(Output { session_id: input.session_id, url }))
    }
}
