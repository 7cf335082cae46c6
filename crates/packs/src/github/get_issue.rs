//! `github_get_issue`: one issue, with what was said about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Hints, Json, Result, RunHandle, Tool, ToolSpec};

use super::Github;
use super::api::Ask;
use super::paging;
use super::shape::{self, Comment, Issue, is_pull};

pub(super) struct GithubGetIssue;

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
    /// Which page of comments to show; take `next_page` of the page before.
    #[serde(default = "paging::first")]
    #[schemars(range(min = 1))]
    page: u32,
    /// How many comments there are to a page.
    #[serde(default = "paging::per_page")]
    #[schemars(range(min = 1, max = 100))]
    per_page: u32,
    /// How many characters to show of each text.
    #[serde(default = "most")]
    #[schemars(range(min = 1, max = 100_000))]
    max_body: usize,
}

const fn most() -> usize {
    shape::BODY
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The issue in short.
    issue: Issue,
    /// Whether it is a pull request.
    is_pull_request: bool,
    /// What it says, in Markdown.
    body: String,
    /// What was said about it, oldest first.
    comments: Vec<Comment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "u32",
        description = "The page of comments to ask for next; there is none if it is left out."
    )]
    next_page: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", description = "How many more requests GitHub takes within the hour.")]
    requests_left: Option<u64>,
}

impl Tool<Github> for GithubGetIssue {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "github_get_issue",
        title: "Get issue",
        description: "Get an issue or a pull request of a GitHub repository, with its comments.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Github, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let repo = pack.repo(&input.owner, &input.repo)?;
        let number = input.number.to_string();
        let path = ["repos", &repo.owner, &repo.name, "issues", &number, "comments"];
        let ask = Ask { path: &path[..5], query: Vec::new(), post: None };
        let got = pack.api.ask(run, &ask).await?;
        let issue = Issue::read(&got.body).ok_or_else(|| pack.api.strange(200, &ask))?;
        let mut output = Output {
            is_pull_request: is_pull(&got.body),
            body: shape::body(&got.body, input.max_body),
            comments: Vec::new(),
            next_page: None,
            requests_left: got.left,
            issue,
        };
        if output.issue.comments > 0 {
            let ask = Ask { path: &path, query: paging::query(input.page, input.per_page), post: None };
            let got = pack.api.ask(run, &ask).await?;
            let items = got.body.as_array().ok_or_else(|| pack.api.strange(200, &ask))?;
            output.comments = items.iter().filter_map(|item| Comment::read(item, input.max_body)).collect();
            output.next_page = got.more.then(|| input.page.saturating_add(1));
            output.requests_left = got.left;
        }
        Ok(Json(output))
    }
}
