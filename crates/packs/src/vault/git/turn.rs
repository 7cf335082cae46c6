//! One turn with git: bring in what is elsewhere, commit, push, and say what really happened.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;
use toolgate_host::ProcessLock;

use super::command::{Ended, Runner};
use super::repository::{self, Repository};
use super::{Commit, Inner, Last, Pulled, Pushed, Synced, problem};
use crate::vault::config::Pull;

/// How often a thing is tried while another git holds its lock, and how long it is waited in between.
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_millis(100);

/// What came of a step, or why it failed in words for the caller.
type Step<T> = Result<T, String>;

/// A turn: nobody else of this process or, once it has begun, of another one uses git meanwhile.
#[derive(Debug)]
pub(in crate::vault) struct Turn {
    git: Arc<Inner>,
    repository: Option<Repository>,
    lock: Option<ProcessLock>,
    pulled: Pulled,
    problems: Vec<String>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Turn {
    pub(super) fn new(git: Arc<Inner>, permit: Option<OwnedSemaphorePermit>) -> Self {
        Self { git, repository: None, lock: None, pulled: Pulled::Off, problems: Vec::new(), _permit: permit }
    }

    /// Brings in what is elsewhere, if that is wanted; says what went wrong.
    pub(in crate::vault) async fn pull(&mut self) -> Option<String> {
        if self.git.pull == Pull::Off {
            return None;
        }
        let outcome = self.try_pull().await;
        let problem = outcome.as_ref().err().cloned();
        *self.git.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Last { at: Instant::now(), problem: problem.clone() });
        self.pulled = outcome.unwrap_or(Pulled::Failed);
        self.problems.extend(problem.clone());
        problem
    }

    /// Commits one note and pushes, as far as that is wanted.
    pub(in crate::vault) async fn publish(mut self, commit: &Commit) -> Synced {
        let mut id = String::new();
        let mut pushed = if self.git.push { Pushed::Failed } else { Pushed::Off };
        match self.commit(commit).await {
            Ok(made) => {
                id = made.unwrap_or_default();
                if self.git.push {
                    pushed = self.push_or_tell().await;
                }
                if !id.is_empty() {
                    // A rebase on the way makes another commit of it.
                    id = self.head().await.unwrap_or(id);
                }
            }
            Err(problem) => {
                self.problems.push(format!("the note is written, but not committed: {problem}"));
                if self.git.push {
                    pushed = Pushed::Nothing;
                }
            }
        }
        // Both begin with the same look at the repository.
        self.problems.dedup();
        Synced { pulled: self.pulled, commit: id, pushed, problems: self.problems }
    }

    async fn try_pull(&mut self) -> Step<Pulled> {
        let way = self.git.pull;
        let (runner, repository) = self.begin().await?;
        let remote = repository.remote(runner.has_token())?;
        let (local, tracking) = (repository.local(), repository.tracking());
        let fetched = format!("+{local}:{tracking}");
        let fetch = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-auto-maintenance",
            "--no-write-fetch-head",
            &remote.url,
            &fetched,
        ];
        let ended = runner.reach(&repository.places, remote, &fetch).await;
        let ended = ended.map_err(|unended| problem::unended("the pull", &unended))?;
        if ended.stderr.contains("couldn't find remote ref") {
            // Nobody has pushed this branch yet.
            return Ok(Pulled::UpToDate);
        }
        good("the pull", ended, repository)?;
        let (ahead, behind) = distance(&runner, repository, &tracking).await?;
        match (ahead, behind, way) {
            (_, 0, _) => Ok(Pulled::UpToDate),
            (0, _, _) => {
                run(
                    &runner,
                    repository,
                    "the pull",
                    &["merge", "--quiet", "--ff-only", "--no-stat", "--no-verify-signatures", &tracking],
                )
                .await?;
                Ok(Pulled::Updated)
            }
            (_, _, Pull::Rebase) => rebase(&runner, repository, &tracking).await,
            (_, _, Pull::FfOnly | Pull::Off) => Err(format!(
                "the pull failed: {ahead} commits here and {behind} elsewhere have to be put together; do that in the vault, or set `vault.git.pull` to `rebase`"
            )),
        }
    }

    /// Commits one note; the commit, or nothing if the last one holds it already.
    async fn commit(&mut self, Commit { path, message }: &Commit) -> Step<Option<String>> {
        let (runner, repository) = self.begin().await?;
        let path = path.as_str();
        run(&runner, repository, "the commit", &["add", "--", path]).await?;
        let staged = runner
            .run(&repository.places, &["diff", "--cached", "--quiet", "--no-ext-diff", "--", path])
            .await;
        let staged = staged.map_err(|unended| problem::unended("the commit", &unended))?;
        if staged.is_good() {
            return Ok(None);
        }
        let message = format!("--message={message}");
        let commit = [
            "commit",
            "--quiet",
            "--only",
            "--no-verify",
            "--no-gpg-sign",
            "--cleanup=whitespace",
            &message,
            "--",
            path,
        ];
        run(&runner, repository, "the commit", &commit).await?;
        self.head().await.map(Some)
    }

    /// The last commit of the branch.
    async fn head(&mut self) -> Step<String> {
        let (runner, repository) = self.begin().await?;
        let id = run(&runner, repository, "the commit", &["rev-parse", "--short=12", "HEAD"]).await?;
        Ok(id.stdout.trim().to_owned())
    }

    async fn push_or_tell(&mut self) -> Pushed {
        let mut outcome = self.push().await;
        if outcome.as_ref().is_err_and(|(_, behind)| *behind) && self.git.pull == Pull::Rebase {
            outcome = match self.try_pull().await {
                Ok(pulled) => {
                    self.pulled = pulled;
                    self.push().await
                }
                Err(problem) => Err((problem, false)),
            };
        }
        match outcome {
            Ok(()) => Pushed::Done,
            Err((problem, _)) => {
                self.problems.push(format!("{problem}; the commit is kept, and goes with the next push"));
                Pushed::Failed
            }
        }
    }

    /// Pushes the branch; an error says also whether there are commits elsewhere that are not here.
    async fn push(&mut self) -> Result<(), (String, bool)> {
        let other = |problem| (problem, false);
        let (runner, repository) = self.begin().await.map_err(other)?;
        let remote = repository.remote(runner.has_token()).map_err(other)?;
        let what = format!("{0}:{0}", repository.local());
        let push = [
            "push",
            "--quiet",
            "--porcelain",
            "--no-verify",
            "--no-signed",
            "--recurse-submodules=no",
            &remote.url,
            &what,
        ];
        let ended = runner.reach(&repository.places, remote, &push).await;
        let ended = ended.map_err(|unended| other(problem::unended("the push", &unended)))?;
        let behind = ended.stdout.contains("fetch first") || ended.stdout.contains("non-fast-forward");
        good("the push", ended, repository).map_err(|problem| (problem, behind))?;
        let known = ["update-ref", &repository.tracking(), &repository.local()];
        run(&runner, repository, "the push", &known).await.map(drop).map_err(other)
    }

    /// Git, and the repository as it is now; other processes wait from here on.
    async fn begin(&mut self) -> Step<(Runner, &Repository)> {
        let runner = self.git.runner.clone();
        let runner = runner
            .ok_or("there is no `git` on the search path; install it, or switch off `vault.git.enabled`")?;
        if self.repository.is_none() {
            if self.lock.is_none() {
                self.lock = Some(self.locked().await?);
            }
            let own = self.git.own.join("repository");
            self.repository =
                Some(repository::open(&runner, &self.git.root, own, self.git.url.as_ref()).await?);
        }
        let repository = self.repository.as_ref().ok_or("the repository cannot be opened")?;
        Ok((runner, repository))
    }

    /// Waits for other processes on the same data folder.
    async fn locked(&self) -> Step<ProcessLock> {
        let unusable = |error: &dyn std::error::Error| {
            tracing::warn!(error = %error, "the lock of the vault's git cannot be taken");
            "git cannot be used: its folder in the data folder cannot be written".to_owned()
        };
        toolgate_host::Root::create(&self.git.own).map_err(|error| unusable(&error))?;
        let deadline = Instant::now() + self.git.timeout;
        loop {
            match ProcessLock::try_acquire(&self.git.own.join("lock")) {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) if Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
                Ok(None) => {
                    return Err("another process is busy with the vault's git; try again later".into());
                }
                Err(error) => return Err(unusable(&error)),
            }
        }
    }
}

/// How many commits are here and not there, and there and not here.
async fn distance(runner: &Runner, repository: &Repository, tracking: &str) -> Step<(u64, u64)> {
    let born = runner.run(&repository.places, &["rev-parse", "--quiet", "--verify", "HEAD"]).await;
    if !born.is_ok_and(|ended| ended.is_good()) {
        // There is no commit here yet.
        return Ok((0, 1));
    }
    let both = format!("HEAD...{tracking}");
    let counted =
        run(runner, repository, "the pull", &["rev-list", "--left-right", "--count", &both]).await?;
    let mut numbers = counted.stdout.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(ahead)), Some(Ok(behind))) => Ok((ahead, behind)),
        _ => Err("the pull failed: git does not say how far apart the branches are".into()),
    }
}

/// Puts our commits behind those from elsewhere, or leaves everything as it was.
async fn rebase(runner: &Runner, repository: &Repository, tracking: &str) -> Step<Pulled> {
    let rebase =
        ["rebase", "--quiet", "--no-autostash", "--no-stat", "--no-verify", "--no-gpg-sign", tracking];
    let ended = runner.run(&repository.places, &rebase).await;
    let ended = match ended {
        Ok(ended) if ended.is_good() => return Ok(Pulled::Rebased),
        Ok(ended) => Ok(ended),
        Err(unended) => Err(problem::unended("the pull", &unended)),
    };
    let listed = runner
        .run(&repository.places, &["diff", "--name-only", "--diff-filter=U", "-z", "--no-ext-diff"])
        .await;
    let conflicts = listed.map(|listed| listed.stdout).unwrap_or_default();
    // It fails where the rebase did not even begin.
    drop(runner.run(&repository.places, &["rebase", "--abort"]).await);
    let conflicts: Vec<String> = conflicts
        .split('\0')
        .filter(|path| !path.is_empty())
        .take(10)
        .map(|path| format!("`{path}`"))
        .collect();
    if conflicts.is_empty() {
        let ended = ended?;
        return Err(problem::told("the pull", &ended, &repository.places));
    }
    Err(format!(
        "the pull failed: {} changed both here and elsewhere; everything is left as it was, so put them together in the vault",
        conflicts.join(", ")
    ))
}

/// Runs git without a way out, again while another one holds its lock.
async fn run(runner: &Runner, repository: &Repository, what: &str, arguments: &[&str]) -> Step<Ended> {
    let mut attempt = 1;
    loop {
        let ended = runner
            .run(&repository.places, arguments)
            .await
            .map_err(|unended| problem::unended(what, &unended))?;
        if ended.is_good() || attempt == ATTEMPTS || !ended.stderr.contains("index.lock") {
            return good(what, ended, repository);
        }
        attempt += 1;
        tokio::time::sleep(PAUSE).await;
    }
}

fn good(what: &str, ended: Ended, repository: &Repository) -> Step<Ended> {
    if ended.is_good() {
        return Ok(ended);
    }
    tracing::info!(what, code = ?ended.code, "git failed");
    Err(problem::told(what, &ended, &repository.places))
}
