//! `github_list_pulls`: list the pull requests of a repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::Github;
use super::api::Ask;
use super::paging::{self, State};
use super::shape::Pull;

pub(super) struct GithubListPulls;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The user or organization that the repository belongs to.
    owner: String,
    /// The name of the repository.
    repo: String,
    #[serde(default)]
    #[schemars(description = "Which pull requests to list.", extend("default" = "open"))]
    state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "Only those from this branch, with its owner, such as `octo-org:topic`."
    )]
    head: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "Only those into this branch, such as `main`.")]
    base: Option<String>,
    /// Which page to show; take `next_page` of the page before.
    #[serde(default = "paging::first")]
    #[schemars(range(min = 1))]
    page: u32,
    /// How many pull requests there are to a page.
    #[serde(default = "paging::per_page")]
    #[schemars(range(min = 1, max = 100))]
    per_page: u32,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The pull requests, newest first.
    items: Vec<Pull>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", description = "The page to ask for next; there is none if it is left out.")]
    next_page: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", description = "How many more requests GitHub takes within the hour.")]
    requests_left: Option<u64>,
}

impl Tool<Github> for GithubListPulls {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "github_list_pulls",
        title: "List pull requests",
        description: "List the pull requests of a GitHub repository.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Github, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let repo = pack.repo(&input.owner, &input.repo)?;
        let mut query = vec![("state", input.state.word().to_owned())];
        if let Some(head) = input.head {
            // GitHub ignores a branch without its owner, and would list all.
            if !head.split_once(':').is_some_and(|(owner, branch)| !owner.is_empty() && !branch.is_empty()) {
                return Err(Error::new(Kind::InvalidInput, "`head` has no owner")
                    .hint(format!("write `OWNER:{head}`")));
            }
            query.push(("head", head));
        }
        query.extend(input.base.map(|base| ("base", base)));
        query.extend(paging::query(input.page, input.per_page));
        let ask = Ask { path: &["repos", &repo.owner, &repo.name, "pulls"], query, post: None };
        let got = pack.api.ask(run, &ask).await?;
        let items = got.body.as_array().ok_or_else(|| pack.api.strange(200, &ask))?;
        let items = items.iter().filter_map(Pull::read).collect();
        let next_page = got.more.then(|| input.page.saturating_add(1));
        Ok(Json(Output { items, next_page, requests_left: got.left }))
    }
}
