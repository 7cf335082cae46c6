//! The repository as git sees it: the vault's objects, references and index, under a configuration of ours.
//!
//! `.git/config` may name programs: hooks, filters, a file system monitor, a command for SSH, and more with every
//! version of git, and no switch makes git pass over it. So git is given another folder as its repository. In it are
//! links to the vault's objects, references, logs and index, a copy of its `HEAD`, and a configuration that is
//! written here. Of the vault's own configuration a few plain values are read, by git itself, as data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolgate_host::files::{Kind, ReadOptions, WriteMode, WriteOptions};
use toolgate_host::{FileError, RelPath, Root};

use super::REMOTE;
use super::command::{Places, Runner};
use super::problem;
use super::remote::Remote;

/// What is the vault's.
const LINKED: [&str; 6] = ["objects", "refs", "logs", "packed-refs", "shallow", "index"];
/// What says that a person is in the midst of something.
const UNDER_WAY: [&str; 5] =
    ["rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
/// What of the vault's configuration counts: how its file system is, and how lines end.
const TAKEN: [&str; 6] = [
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
];
/// The most bytes of a small file of git's.
const SMALL: u64 = 64 * 1024;

/// A repository that git can work in.
#[derive(Debug)]
pub(super) struct Repository {
    pub(super) places: Places,
    /// The branch that the vault is on, without `refs/heads/`.
    pub(super) branch: String,
    pub(super) remote: Option<Remote>,
}

/// Makes our folder what it has to be for the vault as it is now.
///
/// # Errors
/// The vault is no repository, or one that we cannot work in: why, as words for the caller.
pub(super) async fn open(
    runner: &Runner,
    root: &Root,
    own: PathBuf,
    url: Option<&Remote>,
) -> Result<Repository, String> {
    look(root).await?;
    let folder = Root::create(&own).map_err(|error| ours(&error))?;
    let notes = root.place().await.map_err(|error| ours(&error))?;
    let places = Places { own: folder.place().await.map_err(|error| ours(&error))?, notes };
    // A repository without a commit has none, and git makes no folder through a link that leads nowhere.
    root.make_folder(&path(".git/logs")?).await.map_err(|error| ours(&error))?;
    for name in LINKED {
        let target = places.notes.join(".git").join(name);
        folder.link(&path(name)?, target).await.map_err(|error| ours(&error))?;
    }
    write(&folder, "config", CONFIG).await?;
    let values = values(runner, &places).await?;
    write(&folder, "config", &config(&values)?).await?;
    let head = text(root, &path(".git/HEAD")?).await.map_err(|error| ours(&error))?;
    let branch = head.trim().strip_prefix("ref: refs/heads/").filter(|branch| is_branch(branch));
    let branch =
        branch.ok_or("the repository of the vault is on no branch; check one out in the vault")?.to_owned();
    let stopped =
        folder.look(vec![path("rebase-merge")?]).await.is_ok_and(|found| found.iter().any(Option::is_some));
    if stopped {
        // We ended in the midst of it; nobody but us can take it back.
        drop(runner.run(&places, &["rebase", "--abort"]).await);
    }
    write(&folder, "HEAD", &format!("ref: refs/heads/{branch}\n")).await?;
    let remote = match url {
        Some(url) => Some(url.clone()),
        None => values
            .get(&format!("remote.{REMOTE}.url"))
            .map(|url| Remote::parse(url))
            .transpose()
            .map_err(|what| format!("the address of the remote `{REMOTE}` {what}; set `vault.git.url`"))?,
    };
    Ok(Repository { places, branch, remote })
}

/// Whether the vault is a repository in which nothing is under way.
async fn look(root: &Root) -> Result<(), String> {
    let folders = [".git", ".git/objects", ".git/refs"];
    let paths =
        folders.iter().copied().map(ToOwned::to_owned).chain(UNDER_WAY.map(|name| format!(".git/{name}")));
    let paths = paths.map(|name| path(&name)).collect::<Result<Vec<_>, _>>()?;
    let found = root.look(paths).await.map_err(|error| ours(&error))?;
    let (folders, under_way) = found.split_at(folders.len());
    if folders.iter().any(|entry| entry.as_ref().is_none_or(|entry| entry.kind != Kind::Dir)) {
        return Err("the folder of the vault is no git repository of its own; run `git init` in it, or switch off `vault.git.enabled`".into());
    }
    if under_way.iter().any(Option::is_some) {
        return Err("a merge or a rebase is under way in the vault; finish it, or take it back".into());
    }
    Ok(())
}

/// What the vault's configuration says, read by git as data. What it includes is left out.
async fn values(runner: &Runner, places: &Places) -> Result<BTreeMap<String, String>, String> {
    let file = places.notes.join(".git/config");
    let file = file.to_str().ok_or("the folder of the vault has a name that is not UTF-8")?;
    let read = runner.run(places, &["config", "--file", file, "--no-includes", "--null", "--list"]).await;
    let read = read.map_err(|unended| problem::unended("reading `.git/config`", &unended))?;
    if !read.is_good() {
        return Err(problem::told("reading `.git/config`", &read, places));
    }
    let pairs = read.stdout.split('\0').filter_map(|entry| entry.split_once('\n'));
    Ok(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

/// What is always so, whatever the vault says.
const CONFIG: &str = "\
[core]
\trepositoryformatversion = 1
\tbare = false
\tlogallrefupdates = true
\thooksPath = /dev/null
\tfsmonitor = false
\tuntrackedCache = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[commit]
\tgpgSign = false
[push]
\tgpgSign = false
[fetch]
\trecurseSubmodules = false
[submodule]
\trecurse = false
[rebase]
\tautoStash = false
[protocol]
\tallow = user
[protocol \"ext\"]
\tallow = never
[http]
\tfollowRedirects = false
[credential]
\thelper =
";

fn config(values: &BTreeMap<String, String>) -> Result<String, String> {
    let mut config = CONFIG.to_owned();
    for (key, value) in values.iter().filter(|(key, _)| key.starts_with("extensions.")) {
        match key.as_str() {
            "extensions.objectformat" if value == "sha1" || value == "sha256" => {
                config.push_str(&format!("[extensions]\n\tobjectFormat = {value}\n"));
            }
            // It says where more configuration is, which does not count either.
            "extensions.worktreeconfig" => {}
            "extensions.refstorage" if value == "files" => {}
            _ => {
                return Err(format!(
                    "the repository of the vault uses `{}`, which is not supported here",
                    key.escape_default()
                ));
            }
        }
    }
    config.push_str("[core]\n");
    for key in TAKEN {
        let Some(value) = values.get(key) else { continue };
        if ["true", "false", "input", "lf", "crlf", "native"].contains(&value.as_str()) {
            config.push_str(&format!("\t{} = {value}\n", key.trim_start_matches("core.")));
        }
    }
    Ok(config)
}

impl Repository {
    /// The repository elsewhere.
    pub(super) fn remote(&self, has_token: bool) -> Result<&Remote, String> {
        let remote = self.remote.as_ref().ok_or_else(|| {
            format!("there is no address to pull from and push to; set `vault.git.url`, or add the remote `{REMOTE}` in the vault")
        })?;
        if has_token && remote.is_open() {
            return Err(
                "the token would travel in the clear; use an `https` address as `vault.git.url`".into()
            );
        }
        Ok(remote)
    }

    /// The branch as references name it.
    pub(super) fn local(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    /// What is known of the branch elsewhere.
    pub(super) fn tracking(&self) -> String {
        format!("refs/remotes/{REMOTE}/{}", self.branch)
    }
}

/// Whether a name can be that of a branch, and stand in what git is told.
fn is_branch(name: &str) -> bool {
    let odd = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    !name.is_empty()
        && !name.starts_with('-')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(odd)
}

fn path(name: &str) -> Result<RelPath, String> {
    RelPath::parse(name, "").map_err(|error| ours(&error))
}

async fn text(root: &Root, path: &RelPath) -> Result<String, FileError> {
    let content = root.read(path, ReadOptions::whole(SMALL)).await?;
    Ok(String::from_utf8_lossy(&content.bytes).into_owned())
}

/// Writes a file of our folder, unless it is so already.
async fn write(folder: &Root, name: &str, text: &str) -> Result<(), String> {
    let path = path(name)?;
    if self::text(folder, &path).await.is_ok_and(|old| old == text) {
        return Ok(());
    }
    let options =
        WriteOptions { create_dirs: false, mode: WriteMode::Replace, max_bytes: SMALL, protected: |_| false };
    let written = folder.write(&path, text.into(), options).await;
    written.map(drop).map_err(|error| ours(&error))
}

/// A failure that is no matter of the repository's.
fn ours(error: &FileError) -> String {
    tracing::warn!(%error, "git cannot be used");
    format!("git cannot be used: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_configuration_only_plain_values_are_taken() {
        let values = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let taken = config(&values(&[
            ("core.ignorecase", "true"),
            ("core.autocrlf", "input"),
            ("core.eol", "lf\n[core]\n\tfsmonitor = evil"),
            ("core.sshcommand", "evil"),
            ("core.fsmonitor", "evil"),
            ("filter.x.clean", "evil"),
            ("extensions.objectformat", "sha256"),
        ]));
        let taken = taken.unwrap();
        assert!(!taken.contains("evil"), "{taken}");
        assert!(
            taken.ends_with(
                "[extensions]\n\tobjectFormat = sha256\n[core]\n\tignorecase = true\n\tautocrlf = input\n"
            ),
            "{taken}"
        );
        assert!(config(&values(&[("extensions.refstorage", "reftable")])).is_err());
        assert!(config(&values(&[("extensions.objectformat", "sha1\n[x]")])).is_err());
    }

    #[test]
    fn a_branch_has_a_name_that_git_allows() {
        for (name, expect) in [
            ("main", true),
            ("a/b", true),
            ("größe", true),
            ("", false),
            ("-x", false),
            ("a..b", false),
            ("a b", false),
            ("a:b", false),
            ("a\n", false),
        ] {
            assert_eq!(is_branch(name), expect, "{name}");
        }
    }
}
