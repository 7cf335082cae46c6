//! `github_create_issue`: create an issue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::Github;
use super::api::Ask;
use super::shape::Issue;

pub(super) struct GithubCreateIssue;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The user or organization that the repository belongs to.
    owner: String,
    /// The name of the repository.
    repo: String,
    /// What to call it.
    title: String,
    /// What it says, in Markdown.
    #[serde(default)]
    body: String,
    /// The names of its labels.
    #[serde(default)]
    labels: Vec<String>,
    /// The users who are to work on it.
    #[serde(default)]
    assignees: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The issue as it is at GitHub.
    issue: Issue,
    /// Labels and users that GitHub left out, because they do not exist or the token may not set them.
    not_set: Vec<String>,
}

impl Tool<Github> for GithubCreateIssue {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "github_create_issue",
        title: "Create issue",
        description: "Create an issue in a GitHub repository.",
        hints: Hints::CREATE,
    };

    async fn run(&self, pack: &Github, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let repo = pack.repo(&input.owner, &input.repo)?;
        if input.title.trim().is_empty() {
            return Err(Error::new(Kind::InvalidInput, "`title` is empty").hint("give the issue a title"));
        }
        let mut body = json!({"title": input.title, "body": input.body});
        for (key, names) in [("labels", &input.labels), ("assignees", &input.assignees)] {
            if !names.is_empty() {
                body[key] = json!(names);
            }
        }
        let path = ["repos", &repo.owner, &repo.name, "issues"];
        let ask = Ask { path: &path, query: Vec::new(), post: Some(body) };
        let got = pack.api.ask(run, &ask).await?;
        let issue = Issue::read(&got.body).ok_or_else(|| pack.api.strange(201, &ask))?;
        let not_set = issue.lacks(&input.labels, &input.assignees);
        Ok(Json(Output { issue, not_set }))
    }
}
