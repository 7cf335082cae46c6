//! What went wrong with git, in words for the caller: what happened, and what to do about it.

use super::command::{Ended, Places, Unended};

/// The most characters of what git said.
const LONGEST: usize = 200;

/// What git says, in lower case, and what that means.
const KNOWN: &[(&[&str], &str)] = &[
    (
        // Before all others: whatever went wrong with SSH, git ends by saying that it could not read from there.
        &["remote host identification has changed"],
        "the server shows another key than before, so it may not be the one it claims to be; compare its key before you go on",
    ),
    (
        &["host key verification failed"],
        "the server's key is not known to the machine's user yet; connect to it once by hand with `ssh`, and compare its key",
    ),
    (
        &[
            "could not read username",
            "could not read password",
            "authentication failed",
            "error: 401",
            "error: 403",
            "permission denied (publickey",
        ],
        "the server does not let us in; set `vault.git.token`, or give the machine's user a key",
    ),
    (
        &[
            "could not resolve host",
            "failed to connect",
            "couldn't connect",
            "connection refused",
            "connection timed out",
            "no route to host",
        ],
        "the server cannot be reached; try again later",
    ),
    (
        &[
            "repository not found",
            "does not appear to be a git repository",
            "not found",
            "could not read from remote repository",
        ],
        "there is no such repository, or it may not be read; look at `vault.git.url`",
    ),
    (&["transport '"], "the address has a scheme that is not used; look at `vault.git.url`"),
    (
        &["would be overwritten"],
        "notes that changed elsewhere have changes here that nobody committed; commit or undo them in the vault",
    ),
    (
        &["unstaged changes", "uncommitted changes", "contains uncommitted"],
        "the vault has changes that nobody committed; commit or undo them in the vault",
    ),
    (
        &["index.lock"],
        "another git is at work in the vault, or one was killed; if none runs, remove `.git/index.lock`",
    ),
    (&["ignored by one of your .gitignore"], "`.gitignore` leaves this path out of the repository"),
    (
        &["fetch first", "non-fast-forward"],
        "there are commits elsewhere that are not here yet; they come in with the next pull, if it can put them together",
    ),
    (&["hook declined", "protected branch"], "the server's own rules refuse it"),
    (
        &["is outside repository", "beyond a symbolic link"],
        "the path leads through a link, which git does not follow",
    ),
];

/// What went wrong, from how git ended.
pub(super) fn told(what: &str, ended: &Ended, places: &Places) -> String {
    let said = format!("{}\n{}", ended.stderr, ended.stdout).to_lowercase();
    let known = KNOWN.iter().find(|(signs, _)| signs.iter().any(|sign| said.contains(sign)));
    match known {
        Some((_, meaning)) => format!("{what} failed: {meaning}"),
        None => format!("{what} failed: git said `{}`", line(&ended.stderr, places)),
    }
}

/// What went wrong, where git did not come to its end.
pub(super) fn unended(what: &str, unended: &Unended) -> String {
    match unended {
        Unended::Late => {
            format!("{what} failed: git took longer than `vault.git.timeout_ms` allows, and was ended")
        }
        Unended::NotStarted(why) => {
            tracing::warn!(why, "git does not start");
            format!("{what} failed: git does not start")
        }
    }
}

/// The line in which git says why, without places on the host.
fn line(said: &str, places: &Places) -> String {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let why = lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let line = why.or_else(|| lines().next_back()).unwrap_or("nothing");
    let hidden = [&places.own, &places.notes]
        .iter()
        .fold(line.to_owned(), |line, place| line.replace(&*place.to_string_lossy(), "…"));
    hidden.chars().filter(|c| !c.is_control() && *c != '`').take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_becomes_what_to_do() {
        #[track_caller]
        fn check(stderr: &str, expect: &str) {
            let places = Places { own: "/own/git".into(), notes: "/home/me/notes".into() };
            let ended = Ended { code: Some(128), stdout: String::new(), stderr: stderr.into() };
            let told = told("the pull", &ended, &places);
            assert!(told.starts_with("the pull failed: ") && told.contains(expect), "{told}");
            assert!(!told.contains("/home") && !told.contains("/own"), "{told}");
        }
        check(
            "fatal: could not read Username for 'https://x': terminal prompts disabled",
            "does not let us in",
        );
        check("fatal: unable to access 'http://x/': Failed to connect to x port 1", "cannot be reached");
        check(
            "fatal: Unable to create '/home/me/notes/.git/index.lock': File exists.",
            "remove `.git/index.lock`",
        );
        check("fatal: transport 'ext' not allowed", "scheme");
        let end = "fatal: Could not read from remote repository.";
        for (begin, expect) in [
            (
                "No ED25519 host key is known for x.\nHost key verification failed.",
                "connect to it once by hand",
            ),
            (
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
                "another key than before",
            ),
            ("me@x: Permission denied (publickey).", "does not let us in"),
            ("ssh: connect to host x port 22: Connection refused", "cannot be reached"),
            ("ssh: Could not resolve hostname x: Name or service not known", "cannot be reached"),
            ("fatal: '/x.git' does not appear to be a git repository", "no such repository"),
        ] {
            check(&format!("{begin}\n{end}"), expect);
        }
        check(
            "warning: x\nfatal: odd thing in /home/me/notes/a.md\nhint: y",
            "git said `fatal: odd thing in …/a.md`",
        );
        check("", "git said `nothing`");
    }
}
