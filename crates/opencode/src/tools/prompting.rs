//! What the tools have in common that send a prompt and wait for its reply.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use toolgate_core::{Error, Kind, Result, RunHandle};

use super::{files, session, text};
use crate::agents::agent;
use crate::directory::{DirectorySource, Project};
use crate::model::Model;
use crate::pack::Opencode;
use crate::server::Link;
use crate::turn::{Answer, AskedItem, Prompt, ToolStep, text_part};

/// What came of a prompt.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// The session it ran in.
    session_id: String,
    /// The id of the reply, or of the prompt if no reply was wanted.
    message_id: String,
    /// What OpenCode replied.
    content: String,
    /// The model that replied, as `provider/model`.
    model: String,
    /// The agent that replied.
    agent: String,
    /// The project of this call.
    working_directory: String,
    /// How the project was chosen: explicit, env, detected or fallback.
    #[schemars(with = "String")]
    directory_source: DirectorySource,
    /// The folder that the session works in.
    session_directory: String,
    /// The tools that OpenCode used, in order.
    tools: Vec<ToolStep>,
    /// What OpenCode asked for meanwhile, and what was answered.
    asked: Vec<AskedItem>,
    /// What it cost, in dollars, as OpenCode counts it.
    cost: f64,
    /// How many tokens went in and came out.
    tokens: u64,
}

/// A prompt as a caller gives it.
pub(super) struct Asking<'a> {
    pub(super) prompt: &'a str,
    pub(super) files: &'a [String],
    pub(super) model: Option<&'a str>,
    pub(super) agent: Option<&'a str>,
    pub(super) no_reply: bool,
    /// Whether its parts say which agent does it.
    pub(super) is_part: bool,
    /// Whether its session is a new one, which has no model yet.
    pub(super) is_new: bool,
}

/// A session to prompt, and the project it works in.
pub(super) struct Place {
    pub(super) id: String,
    pub(super) folder: PathBuf,
    pub(super) project: Project,
    /// The agent it was made for: OpenCode itself forgets it when a prompt names none.
    pub(super) agent: Option<String>,
}

impl Place {
    /// An existing session.
    pub(super) async fn existing(link: &Link, id: &str) -> Result<Self> {
        let info = session(link.client(), id).await?;
        let folder = PathBuf::from(text(&info["directory"]));
        let project = Project { path: folder.clone(), source: DirectorySource::Explicit };
        let agent = info["agent"].as_str().map(Into::into);
        Ok(Self { id: id.to_owned(), folder, project, agent })
    }

    /// A new session in a project.
    pub(super) async fn new(link: &Link, project: Project, options: Map<String, Value>) -> Result<Self> {
        let request = link.client().post(&["session"]).within(&project.path).json(options.into());
        let info = request.send().await?;
        let id = text(&info["id"]);
        if id.is_empty() {
            return Err(Error::new(Kind::Upstream, "OpenCode made no session").hint("try again"));
        }
        Ok(Self { id, folder: PathBuf::from(text(&info["directory"])), project, agent: None })
    }
}

/// Checks what a caller asks for, before anything happens in OpenCode.
pub(super) async fn checked(
    pack: &Opencode,
    link: &Link,
    project: &std::path::Path,
    asking: &Asking<'_>,
) -> Result<(Vec<Value>, Option<Model>)> {
    if asking.prompt.trim().is_empty() {
        return Err(Error::new(Kind::InvalidInput, "`prompt` is empty, expected what OpenCode is to do")
            .hint("say what to do in `prompt`"));
    }
    let parts = files::parts(project, asking.files).await?;
    let agent = match asking.agent {
        Some(name) => Some(agent(link.client(), project, name).await?),
        None => None,
    };
    let default = pack.default_model(agent.as_ref()).filter(|_| asking.is_new);
    let model = asking.model.or(default).map(Model::parse).transpose()?;
    if let Some(model) = &model {
        model.check(link.client(), project).await?;
    }
    let parts = std::iter::once(text_part(asking.prompt)).chain(parts).collect();
    Ok((parts, model))
}

/// Sends the prompt, and waits for its reply.
pub(super) async fn prompt(
    pack: &Opencode,
    link: &Arc<Link>,
    run: &RunHandle,
    (place, asking, parts, model): (Place, Asking<'_>, Vec<Value>, Option<Model>),
) -> Result<Output> {
    let prompt = Prompt {
        session: &place.id,
        directory: &place.folder,
        parts,
        model,
        agent: asking.agent.or(place.agent.as_deref().filter(|_| !asking.is_part)),
        no_reply: asking.no_reply,
    };
    let answer = pack.turn(link, run, prompt).await?;
    Ok(output(answer, &place))
}

fn output(answer: Answer, place: &Place) -> Output {
    Output {
        session_id: answer.session,
        message_id: answer.message,
        content: answer.content,
        model: answer.model,
        agent: answer.agent,
        working_directory: place.project.path.to_string_lossy().into_owned(),
        directory_source: place.project.source,
        session_directory: place.folder.to_string_lossy().into_owned(),
        tools: answer.tools,
        asked: answer.asked,
        cost: answer.cost,
        tokens: answer.tokens,
    }
}
