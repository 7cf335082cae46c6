//! `github_search_issues`: find issues or pull requests by words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_core::{Error, Hints, Json, Kind, Result, RunHandle, Tool, ToolSpec};

use super::Github;
use super::api::Ask;
use super::paging;
use super::repo::Repo;
use super::shape::{self, Issue};

pub(super) struct GithubSearchIssues;

/// What to look for.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Sort {
    #[default]
    Issue,
    PullRequest,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// What to look for, in GitHub's search syntax, such as `crash label:bug is:open`.
    query: String,
    #[serde(default)]
    #[schemars(description = "Whether to look for issues or for pull requests.", extend("default" = "issue"))]
    kind: Sort,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "Look only in a repository of this user or organization; needs `repo`."
    )]
    owner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "Look only in this repository; needs `owner`.")]
    repo: Option<String>,
    /// Which page to show; take `next_page` of the page before.
    #[serde(default = "paging::first")]
    #[schemars(range(min = 1))]
    page: u32,
    /// How many there are to a page.
    #[serde(default = "paging::per_page")]
    #[schemars(range(min = 1, max = 100))]
    per_page: u32,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// What was found, best first.
    items: Vec<Found>,
    /// Whether GitHub gave up before it had looked everywhere.
    incomplete: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", description = "The page to ask for next; there is none if it is left out.")]
    next_page: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", description = "How many more searches GitHub takes within the minute.")]
    requests_left: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    /// The repository it is in.
    repo: String,
    /// The issue or pull request in short.
    issue: Issue,
}

impl Tool<Github> for GithubSearchIssues {
    type Input = Input;
    type Output = Json<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "github_search_issues",
        title: "Search issues",
        description: "Find issues or pull requests at GitHub by words and qualifiers.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Github, run: &RunHandle, input: Input) -> Result<Json<Output>> {
        let repo = input.place(pack)?;
        let mut query = vec![("q", input.words(repo.as_ref())?)];
        query.extend(paging::query(input.page, input.per_page));
        let ask = Ask { path: &["search", "issues"], query, post: None };
        let got = pack.api.ask(run, &ask).await?;
        let items = got.body.get("items").and_then(Value::as_array);
        let items = items.ok_or_else(|| pack.api.strange(200, &ask))?;
        let items = items.iter().filter_map(Found::read).filter(|(place, _)| {
            // Whatever the words mean to GitHub, nothing from elsewhere is shown.
            pack.permits(place).is_ok() && repo.as_ref().is_none_or(|repo| repo.is(place))
        });
        Ok(Json(Output {
            items: items.map(|(_, found)| found).collect(),
            incomplete: got.body.get("incomplete_results").and_then(Value::as_bool).unwrap_or(false),
            next_page: got.more.then(|| input.page.saturating_add(1)),
            requests_left: got.left,
        }))
    }
}

impl Input {
    /// Where to look; without a list of repositories that may be everywhere.
    fn place(&self, pack: &Github) -> Result<Option<Repo>> {
        match (&self.owner, &self.repo) {
            (Some(owner), Some(repo)) => {
                let repo = pack.repo(owner, repo)?;
                if pack.is_limited() {
                    self.check_words()?;
                }
                Ok(Some(repo))
            }
            (None, None) if !pack.is_limited() => Ok(None),
            (None, None) => Err(Error::new(Kind::InvalidInput, "`owner` and `repo` are missing")
                .hint("name one of the repositories that may be used")),
            _ => Err(Error::new(Kind::InvalidInput, "`owner` and `repo` belong together")
                .hint("give both, or none")),
        }
    }

    /// Refuses words that could look elsewhere: that there are results, and how many pages, would tell something.
    fn check_words(&self) -> Result<()> {
        let lower = self.query.to_ascii_lowercase();
        let place = ["repo:", "org:", "user:", "owner:"].into_iter().find(|word| lower.contains(word));
        let or = self.query.split(|c: char| !c.is_alphanumeric()).any(|word| word == "OR").then_some("OR");
        match place.or(or) {
            Some(word) => Err(Error::new(Kind::Denied, format!("`query` may not hold `{word}`"))
                .hint("say where to look by `owner` and `repo`, and search once for each word")),
            None => Ok(()),
        }
    }

    fn words(&self, repo: Option<&Repo>) -> Result<String> {
        if self.query.trim().is_empty() && repo.is_none() {
            return Err(Error::new(Kind::InvalidInput, "`query` is empty").hint("say what to look for"));
        }
        let kind = match self.kind {
            Sort::Issue => "is:issue",
            Sort::PullRequest => "is:pull-request",
        };
        let place = repo.map(|repo| format!(" repo:{repo}")).unwrap_or_default();
        Ok(format!("{} {kind}{place}", self.query.trim()).trim_start().to_owned())
    }
}

impl Found {
    fn read(value: &Value) -> Option<(Repo, Self)> {
        let repo = shape::repo(value)?;
        let found = Self { repo: repo.to_string(), issue: Issue::read(value)? };
        Some((repo, found))
    }
}
