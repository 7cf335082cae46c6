//! `github_list_issues`: list the issues of a repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::Github;
use super::api::Ask;
use super::paging::{self, State};
use super::repo::{Repo, is_owner};
use super::shape::{Issue, is_pull};

/// How many pages are looked through for the first issue among pull requests.
const MOST_PAGES: u32 = 5;

pub(super) struct GithubListIssues;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The user or organization that the repository belongs to.
    owner: String,
    /// The name of the repository.
    repo: String,
    #[serde(default)]
    #[schemars(description = "Which issues to list.", extend("default" = "open"))]
    state: State,
    /// Only issues that have all these labels.
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "Only issues of this user; `none` for those of nobody, `*` for those of anybody."
    )]
    assignee: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "Only issues that changed since this time, such as `2026-07-28T00:00:00Z`."
    )]
    since: Option<String>,
    /// Which page to show; take `next_page` of the page before.
    #[serde(default = "paging::first")]
    #[schemars(range(min = 1))]
    page: u32,
    /// How many issues and pull requests GitHub counts to a page.
    #[serde(default = "paging::per_page")]
    #[schemars(range(min = 1, max = 100))]
    per_page: u32,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The issues, newest first; no pull requests.
    items: Vec<Issue>,
    /// How many pull requests were left out.
    pulls_left_out: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", description = "The page to ask for next; there is none if it is left out.")]
    next_page: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", description = "How many more requests GitHub takes within the hour.")]
    requests_left: Option<u64>,
}

impl Tool<Github> for GithubListIssues {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "github_list_issues",
        title: "List issues",
        description: "List the issues of a GitHub repository, without its pull requests.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Github, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let repo = pack.repo(&input.owner, &input.repo)?;
        let filters = input.filters()?;
        let mut output =
            Output { items: Vec::new(), pulls_left_out: 0, next_page: None, requests_left: None };
        for page in input.page..=input.page.saturating_add(MOST_PAGES - 1) {
            let more = fetch(pack, run, &repo, (&input, &filters, page), &mut output).await?;
            output.next_page = more.then(|| page.saturating_add(1));
            if !more || !output.items.is_empty() {
                break;
            }
        }
        Ok(Json(output))
    }
}

type Filters = Vec<(&'static str, String)>;

/// Adds what is on one page, and tells whether there is another.
async fn fetch(
    pack: &Github,
    run: &RunHandle,
    repo: &Repo,
    (input, filters, page): (&Input, &Filters, u32),
    output: &mut Output,
) -> Result<bool> {
    let mut query = filters.clone();
    query.extend(paging::query(page, input.per_page));
    let ask = Ask { path: &["repos", &repo.owner, &repo.name, "issues"], query, post: None };
    let got = pack.api.ask(run, &ask).await?;
    let items = got.body.as_array().ok_or_else(|| pack.api.strange(200, &ask))?;
    let (pulls, issues): (Vec<_>, Vec<_>) = items.iter().partition(|item| is_pull(item));
    output.items.extend(issues.into_iter().filter_map(Issue::read));
    output.pulls_left_out += pulls.len();
    output.requests_left = got.left;
    Ok(got.more)
}

impl Input {
    fn filters(&self) -> Result<Filters> {
        let mut filters = vec![("state", self.state.word().to_owned())];
        if let Some(label) = self.labels.iter().find(|label| label.is_empty() || label.contains(',')) {
            return Err(Error::new(
                Kind::InvalidInput,
                format!("`labels` holds `{label}`, which GitHub cannot filter by"),
            )
            .hint("give each label as one item of the list, without commas"));
        }
        if !self.labels.is_empty() {
            filters.push(("labels", self.labels.join(",")));
        }
        if let Some(assignee) = &self.assignee {
            if assignee != "*" && !is_owner(assignee) {
                return Err(Error::new(Kind::InvalidInput, "`assignee` is no name of a user")
                    .hint("give a user's name, `none` or `*`"));
            }
            filters.push(("assignee", assignee.clone()));
        }
        if let Some(since) = &self.since {
            filters.push(("since", super::time::parse(since)?));
        }
        Ok(filters)
    }
}
