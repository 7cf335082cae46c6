//! `vault_read`, `vault_write` and `vault_list` through the hub.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};
use toolgate_core::{Kind, Outcome, local_client};
use toolgate_packs::vault::VaultConfig;
use toolgate_testkit::call;

use crate::scene::{text, within};
use crate::vault_scene::{Scene, paths, refused, vault};

async fn read(scene: &Scene, arguments: Value) -> Result<String, (Kind, String)> {
    match within(scene.hub.start(call(local_client(), "vault_read", arguments)).outcome()).await {
        Outcome::Complete(raw) => Ok(text(&raw.to::<Value>().unwrap()).to_owned()),
        Outcome::Failed(error) => Err((error.kind(), error.message().to_owned())),
        other @ (Outcome::InputRequired { .. } | Outcome::Task(_)) => panic!("{other:?}"),
    }
}

/// Every path that must lead nowhere, and how it is refused.
fn attacks(scene: &Scene) -> Vec<(&'static str, Kind)> {
    scene.put("notes/.git/config", "[core]");
    scene.put("notes/.obsidian/app.json", "{}");
    scene.put("notes/a.md", "a");
    symlink("../outside/secret.md", scene.host("notes/out.md")).unwrap();
    symlink(scene.host("outside/secret.md"), scene.host("notes/absolute.md")).unwrap();
    symlink("../outside", scene.host("notes/folder")).unwrap();
    symlink(".git/config", scene.host("notes/config.md")).unwrap();
    symlink(".git", scene.host("notes/git")).unwrap();
    symlink("/proc/self/root", scene.host("notes/top")).unwrap();
    vec![
        (".git/config", Kind::Denied),
        ("/vault/.git/config", Kind::Denied),
        ("./.git/../a.md", Kind::InvalidInput),
        (".GIT/config", Kind::Denied),
        (".obsidian/app.json", Kind::Denied),
        ("x/.hidden/a.md", Kind::Denied),
        ("config.md", Kind::Denied),
        ("git/config", Kind::Denied),
        ("out.md", Kind::Denied),
        ("absolute.md", Kind::Denied),
        ("folder/secret.md", Kind::Denied),
        ("top/etc/hostname", Kind::Denied),
        ("../notes-evil/secret.md", Kind::InvalidInput),
        ("../outside/secret.md", Kind::InvalidInput),
        ("/vault-evil/secret.md", Kind::Denied),
        ("/etc/passwd", Kind::Denied),
        ("a\u{0}.md", Kind::InvalidInput),
    ]
}

#[tokio::test]
async fn no_path_leads_out_or_into_what_is_hidden() {
    let scene = Scene::new();
    for (path, kind) in attacks(&scene) {
        assert_eq!(read(&scene, json!({"path": path})).await.unwrap_err().0, kind, "read {path}");
        let (denied, _) = refused(&scene, "vault_write", json!({"path": path, "content": "evil"})).await;
        assert_eq!(denied, kind, "write {path}");
        let (denied, _) = refused(&scene, "vault_list", json!({"path": path})).await;
        assert_eq!(denied, kind, "list {path}");
    }
    assert_eq!(
        refused(&scene, "vault_write", json!({"path": ".git/hooks/pre-commit", "content": "x"})).await.0,
        Kind::Denied
    );
    assert_eq!(
        refused(&scene, "vault_write", json!({"path": "git/hooks/x", "content": "x"})).await.0,
        Kind::Denied
    );
    assert_eq!(scene.held("notes/.git/config"), "[core]");
    assert!(!scene.host("notes/.git/hooks").exists());
    assert_eq!(scene.found("core").await, [""; 0]);
    assert_eq!(scene.found("secret").await, [""; 0]);
    scene.assert_outside_untouched();
}

#[tokio::test]
async fn a_note_is_read_as_it_is_also_without_its_ending_and_in_part() {
    let scene = Scene::new();
    scene.put("notes/a/Plan.md", "one\r\ntwo\nthree");
    scene.put("notes/plain", "x");
    scene.put("notes/empty.md", "");
    scene.put("notes/image.md", [0xff, 0xd8]);
    scene.put("notes/long.md", "0123456789\n".repeat(2_000));
    symlink("a/Plan.md", scene.host("notes/inside.md")).unwrap();
    for path in ["a/Plan.md", "/vault/a/Plan.md", "a/Plan", "inside.md"] {
        assert_eq!(read(&scene, json!({"path": path})).await.unwrap(), "one\r\ntwo\nthree", "{path}");
    }
    assert_eq!(read(&scene, json!({"path": "plain"})).await.unwrap(), "x");
    assert_eq!(read(&scene, json!({"path": "empty.md"})).await.unwrap(), "");
    for (from, lines, expect) in [(1, 1, "one\r\n"), (2, 1, "two\n"), (3, 9, "three"), (4, 1, "")] {
        let part = json!({"path": "a/Plan.md", "from_line": from, "lines": lines});
        assert_eq!(read(&scene, part).await.unwrap(), expect);
    }
    let part = read(&scene, json!({"path": "long.md", "from_line": 1_999, "lines": 1})).await;
    assert_eq!(part.unwrap(), "0123456789\n");
    for (input, kind, expect) in [
        (json!({"path": "none.md"}), Kind::FileNotFound, "`none.md` does not exist"),
        (json!({"path": "none"}), Kind::FileNotFound, "`none` does not exist"),
        (json!({"path": "a"}), Kind::InvalidInput, "`a` is not a regular file"),
        (json!({"path": ""}), Kind::InvalidInput, "`.` is not a regular file"),
        (json!({"path": "image.md"}), Kind::InvalidInput, "`image.md` is not UTF-8 text"),
        (json!({"path": "long.md"}), Kind::InvalidInput, "`long.md` has 22000 bytes, the limit is 10000"),
        (
            json!({"path": "long.md", "from_line": 2}),
            Kind::InvalidInput,
            "these lines have 21989 bytes, the limit is 10000",
        ),
    ] {
        assert_eq!(read(&scene, input.clone()).await.unwrap_err(), (kind, expect.to_owned()), "{input}");
    }
    assert_eq!(
        read(&scene, json!({"path": "a/Plan.md", "from_line": 0})).await.unwrap_err().0,
        Kind::InvalidInput
    );
}

#[tokio::test]
async fn a_note_is_written_in_each_of_the_ways() {
    let scene = Scene::new();
    let made = scene.write("new/folder/a.md", "---\nx: 1\n---\nbody").await;
    assert_eq!(made, json!({"path": "new/folder/a.md", "size": 17, "created": true}));
    let steps = [
        (json!({"mode": "append", "content": "end"}), "---\nx: 1\n---\nbody\nend"),
        (json!({"mode": "prepend", "content": "start"}), "---\nx: 1\n---\nstart\nbody\nend"),
        (json!({"mode": "edit", "passage": "body", "content": "größe"}), "---\nx: 1\n---\nstart\ngröße\nend"),
        (json!({"mode": "edit", "passage": "start\n", "content": ""}), "---\nx: 1\n---\ngröße\nend"),
        (json!({"content": ""}), ""),
        (json!({"mode": "replace", "content": "whole"}), "whole"),
    ];
    for (mut input, expect) in steps {
        input["path"] = json!("new/folder/a.md");
        let written = scene.data("vault_write", input.clone()).await;
        assert_eq!(
            written,
            json!({"path": "new/folder/a.md", "size": expect.len(), "created": false}),
            "{input}"
        );
        assert_eq!(scene.held("notes/new/folder/a.md"), expect);
    }
    let made = scene.data("vault_write", json!({"path": "b.md", "content": "x", "mode": "create"})).await;
    assert_eq!(made["created"], true);
}

/// That a write is refused for a reason, and leaves `a.md` whole.
async fn check_refused(scene: &Scene, input: Value, kind: Kind, expect: &str) {
    let error = refused(scene, "vault_write", input.clone()).await;
    assert_eq!(error, (kind, expect.to_owned()), "{input}");
    assert_eq!(scene.held("notes/a.md"), "one two one");
}

#[tokio::test]
async fn a_write_that_changes_nothing_says_so() {
    let scene = Scene::new();
    scene.put("notes/a.md", "one two one");
    let wrong = Kind::InvalidInput;
    let write = |mode: &str, content: &str| json!({"path": "a.md", "content": content, "mode": mode});
    let edit = |passage: &str| json!({"path": "a.md", "content": "two", "mode": "edit", "passage": passage});
    let same = "nothing changed: `a.md` holds just that already";
    check_refused(&scene, write("replace", "one two one"), wrong, same).await;
    check_refused(&scene, write("append", ""), wrong, same).await;
    check_refused(&scene, write("prepend", ""), wrong, same).await;
    check_refused(&scene, edit("two"), wrong, same).await;
    check_refused(&scene, edit("three"), wrong, "`a.md` does not hold the passage").await;
    let twice = "`a.md` holds the passage 2 times: in line 1, 1";
    check_refused(&scene, edit("one"), wrong, twice).await;
    let missing = "`passage` is missing, and `edit` needs it";
    check_refused(&scene, write("edit", "x"), wrong, missing).await;
    let stray = json!({"path": "a.md", "content": "x", "passage": "one"});
    check_refused(&scene, stray, wrong, "`passage` is for `mode` = `edit` only").await;
    check_refused(&scene, write("create", "x"), wrong, "`a.md` exists already").await;
    let elsewhere = json!({"path": "no/a.md", "content": "x", "mode": "edit", "passage": "y"});
    check_refused(&scene, elsewhere, Kind::FileNotFound, "`no/a.md` does not exist").await;
    assert!(!scene.host("notes/no").exists());
}

#[tokio::test]
async fn a_write_that_fails_says_so_and_leaves_the_note_whole() {
    let scene = Scene::new();
    scene.put("notes/a.md", "one two one");
    scene.put("notes/kept.md", "kept");
    fs::set_permissions(scene.host("notes/kept.md"), fs::Permissions::from_mode(0o444)).unwrap();
    scene.put("notes/folder/x.md", "");
    scene.put("notes/binary.md", [0xff]);
    let wrong = Kind::InvalidInput;
    let to = |path: &str| json!({"path": path, "content": "x", "mode": "append"});
    check_refused(&scene, to("kept.md"), Kind::Denied, "no permission for `kept.md`").await;
    check_refused(&scene, to("folder"), wrong, "`folder` is not a regular file").await;
    check_refused(&scene, to(""), wrong, "`.` is not a regular file").await;
    check_refused(&scene, to("a.md/b.md"), wrong, "`a.md/b.md` is not a folder").await;
    check_refused(&scene, to("binary.md"), wrong, "`binary.md` is not UTF-8 text").await;
    let much = json!({"path": "a.md", "content": "x".repeat(20_001)});
    check_refused(&scene, much, wrong, "`a.md` has 20001 bytes, the limit is 20000").await;
    let talk = json!({"path": "b.md", "content": "x", "commit_message": "m".repeat(5_000)});
    check_refused(&scene, talk, wrong, "`commit_message` is too long, or holds a NUL byte").await;
    assert_eq!(scene.held("notes/kept.md"), "kept");
    assert!(!scene.host("notes/b.md").exists());
    for input in [
        json!({"path": "a.md"}),
        json!({"content": "x"}),
        json!({"path": "a.md", "content": "x", "mode": "delete"}),
    ] {
        assert_eq!(refused(&scene, "vault_write", input).await.0, wrong);
    }
}

#[tokio::test]
async fn writes_at_once_lose_nothing() {
    let scene = Scene::new();
    let append = |n: usize| {
        scene.data("vault_write", json!({"path": "log.md", "content": n.to_string(), "mode": "append"}))
    };
    tokio::join!(append(0), append(1), append(2), append(3), append(4), append(5));
    let held = scene.held("notes/log.md");
    let mut lines: Vec<_> = held.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0", "1", "2", "3", "4", "5"]);
}

#[tokio::test]
async fn a_folder_is_listed_in_order_and_page_by_page() {
    let scene = Scene::new();
    for path in ["b.md", "a/x.md", "a/deep/y.md", "a.md", ".obsidian/app.json", ".git/HEAD", "ab/z.png"] {
        scene.put(&format!("notes/{path}"), "four");
    }
    fs::create_dir(scene.host("notes/empty")).unwrap();
    symlink("b.md", scene.host("notes/link.md")).unwrap();
    let all = ["a", "a/deep", "a/deep/y.md", "a/x.md", "a.md", "ab", "ab/z.png", "b.md", "empty", "link.md"];
    let flat = scene.data("vault_list", json!({})).await;
    assert_eq!(paths(&flat), ["a", "a.md", "ab", "b.md", "empty", "link.md"]);
    let kinds: Vec<_> =
        flat["items"].as_array().unwrap().iter().map(|item| item["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["folder", "file", "folder", "file", "folder", "symlink"]);
    assert_eq!((&flat["items"][1]["size"], flat.get("next")), (&json!(4), None));
    let whole = scene.data("vault_list", json!({"recursive": true})).await;
    assert_eq!(paths(&whole), all);
    let below = scene.data("vault_list", json!({"path": "/vault/a", "recursive": true})).await;
    assert_eq!(paths(&below), ["a/deep", "a/deep/y.md", "a/x.md"]);
    for limit in 1..=all.len() {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let mut input = json!({"recursive": true, "limit": limit});
            after.iter().for_each(|after| input["after"] = json!(after));
            let page = scene.data("vault_list", input).await;
            assert!(paths(&page).len() <= limit);
            seen.extend(paths(&page));
            let Some(next) = page.get("next") else { break };
            after = Some(next.as_str().unwrap().to_owned());
        }
        assert_eq!(seen, all, "in pages of {limit}");
    }
    // A page goes on behind what is gone meanwhile.
    fs::remove_file(scene.host("notes/a.md")).unwrap();
    let page = scene.data("vault_list", json!({"recursive": true, "after": "a.md", "limit": 2})).await;
    assert_eq!(paths(&page), ["ab", "ab/z.png"]);
    assert_eq!(paths(&scene.data("vault_list", json!({"path": "empty"})).await), [""; 0]);
    for (input, kind) in [
        (json!({"path": "nope"}), Kind::FileNotFound),
        (json!({"path": "b.md"}), Kind::InvalidInput),
        (json!({"limit": 0}), Kind::InvalidInput),
        (json!({"limit": 1_001}), Kind::InvalidInput),
        (json!({"after": "../x"}), Kind::InvalidInput),
        (json!({"after": ".git"}), Kind::Denied),
    ] {
        assert_eq!(refused(&scene, "vault_list", input.clone()).await.0, kind, "{input}");
    }
}

#[tokio::test]
async fn a_vault_that_cannot_be_meant_is_no_vault() {
    let place = tempfile::tempdir().unwrap();
    let check = |change: fn(&mut VaultConfig), expect: &str| {
        let mut config = VaultConfig { root: Some(place.path().to_owned()), ..VaultConfig::default() };
        change(&mut config);
        let told = vault(&config, place.path()).map(drop).unwrap_err().to_string();
        assert!(told.contains(expect) && !told.contains("sesame"), "{told}");
    };
    check(|config| config.root = None, "set `vault.root`");
    check(|config| config.root = Some("/nowhere/at/all".into()), "cannot open the folder `/nowhere/at/all`");
    check(|config| config.git.url = Some("ext::sh -c id".into()), "`vault.git.url` is no address");
    check(|config| config.git.url = Some("https://me:sesame@h/x".into()), "`vault.git.token`");
    check(
        |config| (config.git.enabled, config.git.token) = (true, Some("sesame".into())),
        "`vault.git.token` would go wherever `.git/config` says",
    );
    check(|config| config.git.author = "nobody".into(), "`vault.git.author`");
    check(|config| config.git.username = "a:b".into(), "`vault.git.username`");
    let open = |config: &mut VaultConfig| {
        config.git.url = Some("http://git.example/x".into());
        config.git.token = Some("sesame".into());
    };
    check(open, "travel in the clear");
}
