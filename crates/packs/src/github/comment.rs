//! `github_comment`: comment on an issue or a pull request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::Github;
use super::api::Ask;
use super::shape;

pub(super) struct GithubComment;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The user or organization that the repository belongs to.
    owner: String,
    /// The name of the repository.
    repo: String,
    /// The number of the issue or pull request.
    #[schemars(range(min = 1))]
    number: u64,
    /// What to say, in Markdown.
    body: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The id of the comment.
    id: u64,
    /// Where people see it.
    url: String,
}

impl Tool<Github> for GithubComment {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "github_comment",
        title: "Comment on issue",
        description: "Comment on an issue or a pull request at GitHub.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Github, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let repo = pack.repo(&input.owner, &input.repo)?;
        if input.body.trim().is_empty() {
            return Err(Error::new(Kind::InvalidInput, "`body` is empty").hint("write what to say"));
        }
        let number = input.number.to_string();
        let path = ["repos", &repo.owner, &repo.name, "issues", &number, "comments"];
        let ask = Ask { path: &path, query: Vec::new(), post: Some(json!({"body": input.body})) };
        let got = pack.api.ask(run, &ask).await?;
        let id = got.body.get("id").and_then(serde_json::Value::as_u64);
        let id = id.ok_or_else(|| pack.api.strange(201, &ask))?;
        Ok(Json(Output { id, url: shape::text(&got.body, "/html_url") }))
    }
}
