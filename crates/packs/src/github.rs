//! The pack `github`: issues and pull requests of the repositories that a token opens.
//!
//! Names of owners and repositories are checked and become segments of a path; nothing of a caller is pasted into
//! an address. Code and settings of repositories are not its matter.

mod api;
mod comment;
mod config;
mod create_issue;
mod get_issue;
mod list_issues;
mod list_pulls;
mod paging;
mod repo;
mod search_issues;
mod shape;
mod time;

use http::header::ACCEPT;
use http::{HeaderName, HeaderValue};
use toolgate_core::{AnyTool, Error, Kind, Pack, Result, tool};
use toolgate_host::{Clock, Secret};

use crate::Unready;
use crate::service::Service;
use api::Api;
use repo::{Allowed, Repo};

pub use config::GithubConfig;

/// Issues and pull requests.
#[derive(Debug)]
pub struct Github {
    api: Api,
    allowed: Vec<Allowed>,
}

impl Github {
    /// What is configured; `fill` puts a secret where the token refers to it.
    ///
    /// # Errors
    /// Something is missing, or cannot be meant.
    pub fn new(
        config: &GithubConfig,
        fill: impl Fn(&str) -> Result<Secret, String>,
    ) -> Result<Self, Unready> {
        let allowed = config.repos.iter().map(|text| Allowed::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let Some(token) = &config.token else { return Err(Unready::Needs("set `github.token`".into())) };
        let token = fill(token).map_err(Unready::Needs)?;
        let service = Service::new("GitHub", "github", &config.base_url, token)?
            .authorized("Bearer")
            .with(ACCEPT, HeaderValue::from_static("application/vnd.github+json"))
            .with(HeaderName::from_static("x-github-api-version"), HeaderValue::from_static("2022-11-28"));
        Ok(Self { api: Api::new(service, Clock::system()), allowed })
    }

    /// A repository that may be used.
    fn repo(&self, owner: &str, name: &str) -> Result<Repo> {
        let repo = Repo::parse(owner, name)?;
        self.permits(&repo)?;
        Ok(repo)
    }

    fn permits(&self, repo: &Repo) -> Result<()> {
        if !self.is_limited() || self.allowed.iter().any(|allowed| allowed.includes(repo)) {
            return Ok(());
        }
        Err(Error::new(Kind::Denied, format!("the repository `{repo}` may not be used"))
            .hint(format!("ask the person who runs Toolgate to add `{repo}` to `github.repos`")))
    }

    /// Whether only some repositories may be used.
    fn is_limited(&self) -> bool {
        !self.allowed.is_empty()
    }
}

impl Pack for Github {
    const NAME: &'static str = "github";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![
            tool(list_issues::GithubListIssues),
            tool(get_issue::GithubGetIssue),
            tool(search_issues::GithubSearchIssues),
            tool(create_issue::GithubCreateIssue),
            tool(comment::GithubComment),
            tool(list_pulls::GithubListPulls),
        ]
    }
}
