//! A vault that is kept the same as a git repository elsewhere, with a real git on both sides.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolgate_core::{Kind, Outcome, local_client};
use toolgate_packs::vault::{Pull, VaultConfig};
use toolgate_testkit::call;

use crate::git_server::{GitServer, Manner, git, try_git};
use crate::scene::within;
use crate::vault_scene::{Scene, refused};

/// `remote.git` is elsewhere, `notes` is the vault, and `other` is somebody else's copy.
fn cloned(configure: impl FnOnce(&mut VaultConfig)) -> Scene {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    git(at, &["init", "-q", "--bare", "remote.git"]);
    git(at, &["clone", "-q", "remote.git", "other"]);
    fs::write(at.join("other/first.md"), "first\n").unwrap();
    git(&at.join("other"), &["add", "."]);
    git(&at.join("other"), &["commit", "-qm", "Begin"]);
    git(&at.join("other"), &["push", "-q", "origin", "main"]);
    git(at, &["clone", "-q", "remote.git", "notes"]);
    Scene::over(place, |config| {
        config.git.enabled = true;
        config.git.fresh_ms = 0;
        config.git.url = Some(format!("file://{}", at_remote(config)));
        configure(config);
    })
}

fn at_remote(config: &VaultConfig) -> String {
    config.root.as_ref().unwrap().with_file_name("remote.git").to_str().unwrap().to_owned()
}

impl Scene {
    fn git(&self, folder: &str, arguments: &[&str]) -> String {
        git(&self.host(folder), arguments).trim().to_owned()
    }

    /// Somebody else writes a note and pushes it.
    fn elsewhere(&self, path: &str, text: &str) {
        self.git("other", &["pull", "-q", "--rebase", "origin", "main"]);
        self.put(&format!("other/{path}"), text);
        self.git("other", &["add", "."]);
        self.git("other", &["commit", "-qm", "Elsewhere"]);
        self.git("other", &["push", "-q", "origin", "main"]);
    }

    /// What a file is in the repository elsewhere.
    fn remote(&self, path: &str) -> String {
        self.git("remote.git", &["show", &format!("main:{path}")])
    }

    /// The subjects of the last commits of a repository.
    fn log(&self, folder: &str) -> Vec<String> {
        self.git(folder, &["log", "--format=%s", "main"]).lines().map(ToOwned::to_owned).collect()
    }
}

/// The problems that an answer tells, as one text.
fn problems(synced: &Value) -> String {
    synced["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

#[track_caller]
fn check(written: &Value, pulled: &str, committed: bool, pushed: &str, problem: &str) {
    let synced = &written["git"];
    let is_committed = !synced["commit"].as_str().unwrap().is_empty();
    assert_eq!(
        (synced["pulled"].as_str(), is_committed, synced["pushed"].as_str()),
        (Some(pulled), committed, Some(pushed)),
        "{synced:#}"
    );
    let told = problems(synced);
    assert!(told.contains(problem) && told.is_empty() == problem.is_empty(), "{told}");
    assert!(!told.contains("/tmp") && !told.contains("sesame"), "{told}");
}

/// The texts that a read answers with.
async fn read(scene: &Scene, path: &str) -> Vec<String> {
    let outcome =
        within(scene.hub.start(call(local_client(), "vault_read", json!({"path": path}))).outcome()).await;
    let Outcome::Complete(raw) = outcome else { panic!("{outcome:?}") };
    let result: Value = raw.to().unwrap();
    result["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["text"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_write_is_committed_and_pushed_and_nothing_else_is() {
    let scene = cloned(|_| {});
    scene.put("notes/staged.md", "of a person");
    scene.git("notes", &["add", "staged.md"]);
    scene.put("notes/loose.md", "of a person");
    let path = "a b/-q [x]*.md";
    let input = json!({"path": path, "content": "new", "commit_message": "# Add it\n\n-m x"});
    let written = scene.data("vault_write", input).await;
    check(&written, "up-to-date", true, "pushed", "");
    assert_eq!(scene.remote(path), "new");
    assert_eq!(
        scene.git("remote.git", &["log", "-1", "--format=%an <%ae>%n%B", "main"]),
        "Toolgate <toolgate@localhost>\n# Add it\n\n-m x"
    );
    let id = written["git"]["commit"].as_str().unwrap();
    assert!(scene.git("remote.git", &["rev-parse", "main"]).starts_with(id));
    assert_eq!(
        scene.git("remote.git", &["show", "--name-only", "--format=", "-z", "main"]).trim_end_matches('\0'),
        path
    );
    assert_eq!(scene.git("notes", &["status", "--porcelain"]), "A  staged.md\n?? loose.md");
    assert_eq!(
        scene.git("notes", &["rev-parse", "refs/remotes/origin/main"]),
        scene.git("notes", &["rev-parse", "HEAD"])
    );
    let written =
        scene.data("vault_write", json!({"path": "first.md", "content": "more", "mode": "append"})).await;
    check(&written, "up-to-date", true, "pushed", "");
    assert_eq!(scene.log("remote.git"), ["Update first.md", "# Add it", "Begin"]);
}

#[tokio::test]
async fn what_is_elsewhere_comes_in_before_reading_searching_listing_and_writing() {
    let scene = cloned(|_| {});
    scene.elsewhere("a.md", "apple\n");
    assert_eq!(read(&scene, "a.md").await, ["apple\n"]);
    scene.elsewhere("b.md", "banana\n");
    assert_eq!(scene.found("banana").await, ["b.md"]);
    scene.elsewhere("c.md", "cherry\n");
    let listed = scene.data("vault_list", json!({})).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 4);
    assert!(listed.get("not_pulled").is_none());
    scene.elsewhere("b.md", "blueberry\n");
    let edit = json!({"path": "b.md", "content": "x", "mode": "edit", "passage": "blueberry"});
    let written = scene.data("vault_write", edit).await;
    check(&written, "updated", true, "pushed", "");
    assert_eq!(scene.remote("b.md"), "x");
}

#[tokio::test]
async fn over_http_the_token_opens_the_server_and_shows_nowhere() {
    let proof = format!("Basic {}", STANDARD.encode("git:sesame-1234"));
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "-q", "--bare", "remote.git"]);
    let server = GitServer::start(place.path(), Manner::Guarded(proof.clone())).await;
    let at = |token: &'static str| {
        let url = format!("{}/remote.git", server.url);
        move |config: &mut VaultConfig| {
            config.git.url = Some(url);
            config.git.token = Some(token.into());
        }
    };
    let scene = cloned(at("sesame-1234"));
    let written = scene.write("a.md", "over the wire").await;
    check(&written, "up-to-date", true, "pushed", "");
    assert_eq!(git(&place.path().join("remote.git"), &["show", "main:a.md"]), "over the wire");
    assert!(
        server.heads().iter().any(|head| head.contains("POST /remote.git/git-receive-pack")),
        "{:?}",
        server.heads()
    );
    assert!(!scene.held("own/git/repository/config").contains("sesame"));
    let wrong = cloned(at("sesame-9999"));
    let written = wrong.write("a.md", "x").await;
    check(&written, "failed", true, "failed", "the push failed: the server does not let us in");
    assert_eq!(read(&wrong, "a.md").await[0], "x");
}

/// In the place of a connection by SSH: it writes down what it is told, and runs here what it should run elsewhere.
const SSH: &str = "#!/bin/sh
cd PLACE
echo \"$SSH_AUTH_SOCK $*\" >> told
[ -e trusted ] || { echo 'Host key verification failed.' >&2; exit 255; }
for command; do :; done
exec sh -c \"git ${command#git-}\"
";

#[tokio::test]
async fn over_ssh_a_note_goes_there_and_nobody_is_asked_anything() {
    let scene = cloned(|_| {});
    scene.put("bin/ssh", SSH.replace("PLACE", scene.place.path().to_str().unwrap()));
    fs::set_permissions(scene.host("bin/ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut config = VaultConfig { root: Some(scene.host("notes")), ..VaultConfig::default() };
    config.git.enabled = true;
    config.git.url = Some(format!("ssh://me@git.example.com:2222{}", scene.host("remote.git").display()));
    let scene = scene.with_programs("bin", &config);

    let written = scene.write("a.md", "x").await;
    check(&written, "failed", true, "failed", "the server's key is not known to the machine's user yet");
    scene.put("trusted", "");
    let written = scene.write("b.md", "y").await;
    check(&written, "up-to-date", true, "pushed", "");
    assert_eq!(scene.log("remote.git"), ["Update b.md", "Update a.md", "Begin"]);
    for told in scene.held("told").lines() {
        assert!(told.starts_with("/nowhere/agent ") && told.contains("-o BatchMode=yes"), "{told}");
        assert!(told.contains("-p 2222 me@git.example.com git-"), "{told}");
    }
}

#[tokio::test]
async fn a_token_does_not_follow_where_a_server_points() {
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "-q", "--bare", "remote.git"]);
    let thief = GitServer::start(place.path(), Manner::Open).await;
    let server = GitServer::start(place.path(), Manner::Elsewhere(thief.url.clone())).await;
    let scene = cloned(|config| {
        config.git.url = Some(format!("{}/remote.git", server.url));
        config.git.token = Some("sesame-1234".into());
    });
    let written = scene.write("a.md", "x").await;
    check(&written, "failed", true, "failed", "the push failed");
    assert!(server.heads().len() >= 2 && thief.heads().is_empty(), "{:?}", thief.heads());
}

#[tokio::test]
async fn a_failed_push_leaves_the_commit_which_goes_with_the_next() {
    let scene = cloned(|_| {});
    let hook = "remote.git/hooks/pre-receive";
    scene.put(hook, "#!/bin/sh\necho not today >&2\nexit 1\n");
    fs::set_permissions(scene.host(hook), fs::Permissions::from_mode(0o755)).unwrap();
    let written = scene.write("a.md", "one").await;
    check(&written, "up-to-date", true, "failed", "the server's own rules refuse it; the commit is kept");
    assert_eq!((scene.log("notes").len(), scene.log("remote.git").len()), (2, 1));
    fs::remove_file(scene.host(hook)).unwrap();
    let written = scene.write("b.md", "two").await;
    check(&written, "up-to-date", true, "pushed", "");
    assert_eq!(scene.log("remote.git"), ["Update b.md", "Update a.md", "Begin"]);
    fs::rename(scene.host("remote.git"), scene.host("gone.git")).unwrap();
    let written = scene.write("c.md", "three").await;
    check(&written, "failed", true, "failed", "there is no such repository");
    let stale = read(&scene, "c.md").await;
    assert!(
        stale.len() == 2
            && stale[0] == "three"
            && stale[1].starts_with("note: this may be out of date: the pull failed"),
        "{stale:?}"
    );
    let listed = scene.data("vault_list", json!({})).await;
    assert!(listed["not_pulled"].as_str().unwrap().contains("no such repository"));
    let found = scene.data("vault_search", json!({"query": "three"})).await;
    assert!(found["total"] == 1 && found["not_pulled"].is_string());
}

#[tokio::test]
async fn commits_on_both_sides_are_put_together_only_where_that_is_wanted() {
    for pull in [Pull::FfOnly, Pull::Rebase] {
        let scene = cloned(|config| config.git.pull = pull);
        scene.put("notes/mine.md", "mine");
        scene.git("notes", &["add", "."]);
        scene.git("notes", &["commit", "-qm", "Mine"]);
        scene.elsewhere("theirs.md", "theirs");
        let written = scene.write("a.md", "x").await;
        if pull == Pull::Rebase {
            check(&written, "rebased", true, "pushed", "");
            assert_eq!(scene.log("remote.git"), ["Update a.md", "Mine", "Elsewhere", "Begin"]);
            assert_eq!(scene.git("notes", &["status", "--porcelain", "--branch"]), "## main...origin/main");
        } else {
            check(
                &written,
                "failed",
                true,
                "failed",
                "1 commits here and 1 elsewhere have to be put together",
            );
            assert_eq!(scene.log("notes"), ["Update a.md", "Mine", "Begin"]);
        }
        assert_eq!(scene.held("notes/a.md"), "x");
    }
}

#[tokio::test]
async fn a_push_that_another_came_before_is_made_again() {
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "-q", "--bare", "remote.git"]);
    git(place.path(), &["clone", "-q", "remote.git", "other"]);
    git(&place.path().join("other"), &["commit", "-q", "--allow-empty", "-m", "Begin"]);
    git(&place.path().join("other"), &["push", "-q", "origin", "main"]);
    git(place.path(), &["clone", "-q", "remote.git", "notes"]);
    let server = GitServer::start(place.path(), Manner::Racing(place.path().join("other"))).await;
    let scene = Scene::over(place, |config| {
        config.git.enabled = true;
        config.git.pull = Pull::Rebase;
        config.git.url = Some(format!("{}/remote.git", server.url));
    });
    let written = scene.write("a.md", "x").await;
    check(&written, "rebased", true, "pushed", "");
    assert_eq!(scene.log("remote.git"), ["Update a.md", "Faster", "Begin"]);
    let id = written["git"]["commit"].as_str().unwrap();
    assert!(scene.git("remote.git", &["rev-parse", "main"]).starts_with(id), "the commit that is there");
}

#[tokio::test]
async fn a_conflict_is_told_and_leaves_everything_as_it_was() {
    let scene = cloned(|config| config.git.pull = Pull::Rebase);
    scene.put("notes/first.md", "mine\n");
    scene.git("notes", &["commit", "-qam", "Mine"]);
    scene.elsewhere("first.md", "theirs\n");
    let written = scene.write("a.md", "x").await;
    check(&written, "failed", true, "failed", "`first.md` changed both here and elsewhere");
    assert_eq!((scene.held("notes/first.md"), scene.held("notes/a.md")), ("mine\n".into(), "x".into()));
    assert_eq!(scene.log("notes"), ["Update a.md", "Mine", "Begin"]);
    assert_eq!(scene.git("notes", &["status", "--porcelain"]), "");
    assert_eq!(scene.git("notes", &["symbolic-ref", "HEAD"]), "refs/heads/main");
    // A change that nobody committed, of a note that changed elsewhere, is not overwritten.
    let scene = cloned(|_| {});
    scene.elsewhere("first.md", "theirs\n");
    scene.put("notes/first.md", "not committed\n");
    let read = read(&scene, "first.md").await;
    assert_eq!(read[0], "not committed\n");
    assert!(read[1].contains("changes here that nobody committed"), "{read:?}");
}

/// Everything in a repository that names a program, each of which would leave a mark.
fn trap(scene: &Scene, mark: &Path) {
    let evil = format!("touch {}", mark.display());
    let set = |key: &str, value: &str| scene.git("notes", &["config", key, value]);
    let script = scene.host("evil.sh");
    scene.put("evil.sh", format!("#!/bin/sh\n{evil}\ncat\n"));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap().to_owned();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.editor",
        "core.pager",
        "core.askPass",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "credential.helper",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "diff.x.textconv",
        "diff.x.command",
        "diff.external",
        "merge.x.driver",
        "gpg.program",
        "remote.origin.uploadpack",
        "remote.origin.receivepack",
        "uploadpack.packObjectsHook",
        "sequence.editor",
        "alias.add",
        "trailer.x.command",
    ] {
        set(key, &script);
    }
    set("commit.gpgSign", "true");
    set("remote.origin.proxy", "http://127.0.0.1:1");
    set("http.proxy", "http://127.0.0.1:1");
    set("url.ext::evil.insteadOf", "file://");
    set("protocol.ext.allow", "always");
    scene.put("more", format!("[core]\n\tfsmonitor = {script}\n"));
    set("include.path", scene.host("more").to_str().unwrap());
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "pre-push",
        "post-merge",
        "reference-transaction",
        "post-checkout",
        "post-index-change",
        "pre-rebase",
        "post-rewrite",
    ] {
        fs::copy(&script, scene.host(&format!("notes/.git/hooks/{hook}"))).unwrap();
    }
    scene.put("notes/.gitattributes", "* filter=x diff=x merge=x\n");
    scene.put("notes/.git/info/attributes", "* filter=x diff=x merge=x\n");
}

#[tokio::test]
async fn nothing_that_a_repository_says_is_run() {
    for pull in [Pull::FfOnly, Pull::Rebase] {
        let scene = cloned(|config| config.git.pull = pull);
        let mark = scene.host("mark");
        trap(&scene, &mark);
        // That the trap is one: a plain git steps into it.
        try_git(&scene.host("notes"), &["status"]);
        assert!(mark.exists(), "the trap does not work");
        fs::remove_file(&mark).unwrap();
        let written = scene.write("a.md", "x").await;
        check(&written, "up-to-date", true, "pushed", "");
        scene.elsewhere("first.md", "theirs\n");
        let written =
            scene.data("vault_write", json!({"path": "a.md", "content": "y", "mode": "append"})).await;
        check(&written, "updated", true, "pushed", "");
        if pull == Pull::Rebase {
            scene.elsewhere("second.md", "theirs\n");
            let own = [
                "-c",
                "core.hooksPath=/dev/null",
                "-c",
                "core.fsmonitor=false",
                "-c",
                "commit.gpgSign=false",
            ];
            let commit = [
                "-c",
                "filter.x.process=",
                "-c",
                "filter.x.clean=cat",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "Mine",
            ];
            scene.git("notes", &[&own[..], &commit].concat());
            fs::remove_file(&mark).ok();
            let written =
                scene.data("vault_write", json!({"path": "a.md", "content": "z", "mode": "append"})).await;
            check(&written, "rebased", true, "pushed", "");
        }
        assert_eq!(scene.remote("first.md"), "theirs");
        assert!(!mark.exists(), "something of the repository was run");
    }
}

#[tokio::test]
async fn of_the_own_configuration_only_the_address_counts_and_it_is_judged() {
    let scene = cloned(|config| config.git.url = None);
    let written = scene.write("a.md", "x").await;
    check(&written, "up-to-date", true, "pushed", "");
    let mark = scene.host("mark");
    for (url, expect) in [
        (format!("ext::sh -c touch% {}", mark.display()), "is no address of a repository"),
        ("https://me:sesame@example.com/x.git".into(), "holds a name or a password"),
        ("--upload-pack=touch".into(), "is no address of a repository"),
    ] {
        scene.git("notes", &["config", "remote.origin.url", &url]);
        let written = scene.write("b.md", &url.replace("sesame", "")).await;
        check(&written, "failed", false, "nothing", expect);
        assert!(problems(&written["git"]).contains("the note is written, but not committed"));
    }
    assert!(!mark.exists());
    scene.git("notes", &["remote", "remove", "origin"]);
    let written = scene.write("b.md", "no remote").await;
    check(&written, "failed", true, "failed", "there is no address to pull from and push to");
}

#[tokio::test]
async fn a_link_that_comes_in_leads_nowhere() {
    let scene = cloned(|_| {});
    scene.put("secret.md", "the secret outside");
    symlink("../secret.md", scene.host("other/link.md")).unwrap();
    symlink(".git/config", scene.host("other/config.md")).unwrap();
    scene.elsewhere("a.md", "apple");
    for path in ["link.md", "config.md"] {
        assert_eq!(refused(&scene, "vault_read", json!({"path": path})).await.0, Kind::Denied);
        assert_eq!(
            refused(&scene, "vault_write", json!({"path": path, "content": "x"})).await.0,
            Kind::Denied
        );
        assert!(scene.host("notes").join(path).is_symlink());
    }
    assert_eq!(scene.held("secret.md"), "the secret outside");
}

#[tokio::test]
async fn a_repository_that_cannot_be_worked_in_is_told_and_the_note_is_written() {
    #[expect(clippy::type_complexity, reason = "a table of cases")]
    let cases: [(fn(&Scene), &str); 5] = [
        (|scene| fs::remove_dir_all(scene.host("notes/.git")).unwrap(), "no git repository of its own"),
        (|scene| drop(scene.git("notes", &["checkout", "-q", "--detach"])), "on no branch"),
        (|scene| scene.put("notes/.git/MERGE_HEAD", "x"), "a merge or a rebase is under way"),
        (|scene| scene.put("notes/.git/index.lock", ""), "remove `.git/index.lock`"),
        (|scene| scene.put("notes/.git/config", "[core"), "reading `.git/config` failed"),
    ];
    for (spoil, expect) in cases {
        let scene = cloned(|config| config.git.pull = Pull::Off);
        spoil(&scene);
        let written = scene.write("a.md", "x").await;
        check(&written, "off", false, "nothing", expect);
        assert_eq!(scene.held("notes/a.md"), "x");
    }
    let linked = cloned(|config| config.git.pull = Pull::Off);
    fs::rename(linked.host("notes/.git"), linked.host("elsewhere.git")).unwrap();
    linked.put("notes/.git", format!("gitdir: {}\n", linked.host("elsewhere.git").display()));
    check(&linked.write("a.md", "x").await, "off", false, "nothing", "no git repository of its own");
}

#[tokio::test]
async fn what_is_ignored_or_committed_already_is_not_called_committed() {
    let scene = cloned(|config| config.git.push = false);
    scene.put("notes/.gitignore", "private/\n");
    let written = scene.write("private/a.md", "x").await;
    check(&written, "up-to-date", false, "off", "`.gitignore` leaves this path out");
    scene.put("notes/first.md", "changed and not committed");
    let back = scene.write("first.md", "first\n").await;
    check(&back, "up-to-date", false, "off", "");
    assert_eq!(scene.log("notes"), ["Begin"]);
}

#[tokio::test]
async fn a_vault_without_a_commit_begins_with_the_first_note() {
    for format in ["sha1", "sha256"] {
        let place = tempfile::tempdir().unwrap();
        let format = format!("--object-format={format}");
        git(place.path(), &["init", "-q", "--bare", &format, "remote.git"]);
        git(place.path(), &["init", "-q", &format, "notes"]);
        let scene = Scene::over(place, |config| {
            config.git.enabled = true;
            config.git.url = Some(at_remote(config));
        });
        let written = scene.write("a.md", "x").await;
        check(&written, "up-to-date", true, "pushed", "");
        assert_eq!(scene.remote("a.md"), "x");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let place = tempfile::tempdir().unwrap();
    let server = GitServer::start(place.path(), Manner::Silent).await;
    let scene = cloned(|config| {
        config.git.url = Some(format!("{}/remote.git", server.url));
        config.git.pull = Pull::Off;
        config.git.timeout_ms = 10_000;
    });
    let written = scene.write("a.md", "x").await;
    check(
        &written,
        "off",
        true,
        "failed",
        "git took longer than `vault.git.timeout_ms` allows, and was ended",
    );
    assert_eq!(server.heads().len(), 1);
    assert!(!scene.host("notes/.git/index.lock").exists());
}

#[tokio::test]
async fn several_processes_on_one_vault_take_turns() {
    let scene = cloned(|_| {});
    let at = scene.host("notes");
    let url = format!("file://{}", scene.host("remote.git").display());
    let place = scene.place.path();
    let second = {
        let mut config = VaultConfig { root: Some(at), ..VaultConfig::default() };
        config.git.enabled = true;
        config.git.url = Some(url);
        crate::peer::hub(crate::vault_scene::vault(&config, place).unwrap())
    };
    let there = async |n: usize| {
        let input = json!({"path": format!("there{n}.md"), "content": "x"});
        crate::peer::ask(&second, "vault_write", input).await.0.unwrap()
    };
    let all = tokio::join!(scene.write("a.md", "x"), there(1), scene.write("b.md", "x"), there(2));
    for written in [all.0, all.1, all.2, all.3] {
        check(&written, "up-to-date", true, "pushed", "");
    }
    assert_eq!(scene.log("remote.git").len(), 5);
}
