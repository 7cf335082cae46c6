//! `workspace_read` through the hub.

use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use toolgate_core::Kind;

use crate::scene::{READ_LIMIT, Scene};

#[tokio::test]
async fn all_spellings_of_a_path_name_the_same_file() {
    let scene = Scene::new();
    scene.put("work/notes/today.md", "remember the milk\n");
    for path in
        ["notes/today.md", "./notes//today.md", "/workspace/notes/today.md", "/workspace//notes/./today.md"]
    {
        assert_eq!(
            scene.text("workspace_read", json!({"path": path})).await,
            "remember the milk\n",
            "{path}"
        );
    }
}

#[tokio::test]
async fn paths_that_lead_out_are_refused() {
    let scene = Scene::new();
    scene.put("work/inside.txt", "fine");
    scene.put("work/folder/x", "x");
    symlink("inside.txt", scene.host("work/good-link")).unwrap();
    symlink(scene.host("outside/secret.txt"), scene.host("work/absolute-link")).unwrap();
    symlink("../outside/secret.txt", scene.host("work/relative-link")).unwrap();
    symlink("../outside", scene.host("work/folder-link")).unwrap();
    assert_eq!(scene.text("workspace_read", json!({"path": "good-link"})).await, "fine");
    let long = format!("{}/x", "a".repeat(300));
    for (path, kind) in [
        ("/workspace/../etc/passwd", Kind::InvalidInput),
        ("../outside/secret.txt", Kind::InvalidInput),
        ("folder/../inside.txt", Kind::InvalidInput),
        ("/etc/passwd", Kind::Denied),
        ("/workspace-evil/secret.txt", Kind::Denied),
        ("../work-evil/secret.txt", Kind::InvalidInput),
        ("/work-evil/secret.txt", Kind::Denied),
        ("absolute-link", Kind::Denied),
        ("relative-link", Kind::Denied),
        ("folder-link/secret.txt", Kind::Denied),
        ("nul\0byte", Kind::InvalidInput),
        (long.as_str(), Kind::InvalidInput),
        (".toolgate-tmp-x", Kind::InvalidInput),
    ] {
        let error = scene.call("workspace_read", json!({"path": path})).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{path:?}: {error}");
    }
    let host = scene.host("work/inside.txt");
    let error = scene.hub_error(json!({"path": host.to_str().unwrap()})).await;
    assert_eq!(error, Kind::Denied, "a place on the host is no path here");
}

#[tokio::test]
async fn only_regular_files_are_read_and_a_pipe_is_not_waited_for() {
    let scene = Scene::new();
    scene.put("work/folder/x", "x");
    mknodat(CWD, scene.host("work/pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    for path in ["folder", "pipe", "", ".", "/workspace"] {
        let error = scene.call("workspace_read", json!({"path": path})).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidInput, "{path:?}");
        assert!(error.message().ends_with("is not a regular file"), "{error}");
    }
    let error = scene.call("workspace_read", json!({"path": "folder/x/y"})).await.unwrap_err();
    assert_eq!(error.message(), "`folder/x/y` is not a folder");
}

#[tokio::test]
async fn a_missing_file_says_how_to_see_what_exists() {
    let scene = Scene::new();
    let error = scene.call("workspace_read", json!({"path": "nope.md"})).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::FileNotFound, "`nope.md` does not exist"));
    assert_eq!(error.next_step(), Some("call `workspace_list` to see what exists"));
}

#[tokio::test]
async fn binary_files_are_read_as_base64_and_text_says_so() {
    let scene = Scene::new();
    scene.put("work/image.png", [0x89, b'P', b'N', b'G', 0, 255]);
    let error = scene.call("workspace_read", json!({"path": "image.png"})).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::InvalidInput, "`image.png` is not UTF-8 text"));
    assert_eq!(error.next_step(), Some("call again with `encoding` = `base64`"));
    let base64 = json!({"path": "image.png", "encoding": "base64"});
    assert_eq!(scene.text("workspace_read", base64).await, "iVBORwD/");
    scene.put("work/empty", "");
    assert_eq!(scene.text("workspace_read", json!({"path": "empty"})).await, "");
    assert_eq!(scene.text("workspace_read", json!({"path": "empty", "encoding": "base64"})).await, "");
}

#[tokio::test]
async fn large_files_are_read_in_parts() {
    let scene = Scene::new();
    let whole: String = (0..1_200).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
    scene.put("work/large.txt", &whole);
    let error = scene.call("workspace_read", json!({"path": "large.txt"})).await.unwrap_err();
    assert_eq!(error.message(), format!("`large.txt` has 1200 bytes, the limit is {READ_LIMIT}"));
    assert_eq!(error.next_step(), Some("read a part of it with `offset` and `length`"));
    let check = async |offset: u64, length: Option<u64>, expect: &str| {
        for encoding in ["text", "base64"] {
            let mut input = json!({"path": "large.txt", "offset": offset, "encoding": encoding});
            if let Some(length) = length {
                input["length"] = json!(length);
            }
            let text = scene.text("workspace_read", input).await;
            if encoding == "text" {
                assert_eq!(text, expect, "{offset} {length:?}");
            } else {
                assert_eq!(text.len(), expect.len().div_ceil(3) * 4, "{offset} {length:?}");
            }
        }
    };
    check(0, Some(5), "abcde").await;
    check(26, Some(3), "abc").await;
    check(200, None, &whole[200..]).await;
    check(1_195, Some(500), &whole[1_195..]).await;
    check(1_000, Some(u64::MAX), &whole[1_000..]).await;
    check(0, Some(READ_LIMIT), &whole[..1_000]).await;
    check(0, Some(0), "").await;
    check(1_200, None, "").await;
    check(u64::MAX, Some(10), "").await;
    for encoding in ["text", "base64"] {
        let input = json!({"path": "large.txt", "length": READ_LIMIT + 1, "encoding": encoding});
        let error = scene.call("workspace_read", input).await.unwrap_err();
        assert_eq!(error.message(), format!("`large.txt` has 1200 bytes, the limit is {READ_LIMIT}"));
    }
}

#[tokio::test]
async fn a_huge_file_costs_only_the_part_that_is_read() {
    let scene = Scene::new();
    let file = std::fs::File::create(scene.host("work/huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    let error = scene.call("workspace_read", json!({"path": "huge"})).await.unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidInput);
    let part = json!({"path": "huge", "offset": (1_u64 << 40) - 3, "encoding": "base64"});
    assert_eq!(scene.text("workspace_read", part).await, "AAAA");
}

#[tokio::test]
async fn a_character_belongs_to_the_range_in_which_it_begins() {
    let scene = Scene::new();
    scene.put("work/text", "a€b");
    for (offset, length, expect) in
        [(0, 1, "a"), (0, 2, "a€"), (1, 1, "€"), (2, 1, ""), (2, 3, "b"), (4, 9, "b")]
    {
        let input = json!({"path": "text", "offset": offset, "length": length});
        assert_eq!(scene.text("workspace_read", input).await, expect, "{offset} {length}");
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named() {
    let scene = Scene::new();
    scene.put("work/a", "a");
    for (arguments, named) in [
        (json!({}), "path"),
        (json!({"path": 7}), "`path`"),
        (json!({"path": "a", "lenght": 3}), "lenght"),
        (json!({"path": "a", "offset": -1}), "`offset`"),
        (json!({"path": "a", "offset": "0"}), "`offset`"),
        (json!({"path": "a", "encoding": "latin1"}), "`encoding`"),
    ] {
        let error = scene.call("workspace_read", arguments.clone()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidInput, "{arguments}");
        assert!(error.message().contains(named), "{arguments}: {error}");
    }
}

impl Scene {
    /// The kind of error when the arguments themselves name a place on the host.
    async fn hub_error(&self, arguments: Value) -> Kind {
        use toolgate_testkit::Expect as _;
        let call = toolgate_testkit::call(toolgate_core::local_client(), "workspace_read", arguments);
        self.hub.start(call).outcome().await.failed().kind()
    }
}
