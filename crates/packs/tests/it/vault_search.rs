//! `vault_search` through the hub: what it finds, and that it stays right when notes change underneath.

use std::fs;
use std::time::Duration;

use serde_json::json;
use toolgate_core::Kind;

use crate::scene::within;
use crate::vault_scene::{Scene, paths, refused};

fn garden() -> Scene {
    let scene = Scene::new();
    scene.put(
        "notes/garden/Tomatoes.md",
        "---\ntags: [garden, food/vegetable]\nstatus: growing\n---\n# Tomatoes\n\nWater them. See [[Greenhouse]].\nThey like the greenhouse.\n",
    );
    scene.put("notes/garden/Greenhouse.md", "Built in spring. #garden\n\n[back](../index.md)\n");
    scene.put("notes/index.md", "# Index\n- [[Tomatoes]]\n- [[garden/Greenhouse|glass]]\n");
    scene.put("notes/日記.md", "今日は東京で会議がありました。\n明日は休みです。\n");
    scene.put("notes/.trash/old.md", "greenhouse");
    scene.put("notes/image.png", "greenhouse");
    scene
}

#[tokio::test]
async fn what_is_found_comes_with_lines_tags_front_matter_and_links() {
    let scene = garden();
    let found = scene.data("vault_search", json!({"query": "greenhouse water", "links": true})).await;
    assert_eq!(paths(&found), ["garden/Tomatoes.md", "garden/Greenhouse.md", "index.md"]);
    assert_eq!((&found["total"], &found["notes"], &found["unread"]), (&json!(3), &json!(4), &json!(0)));
    let first = &found["items"][0];
    assert_eq!(first["title"], "Tomatoes");
    assert_eq!(first["tags"], json!(["food/vegetable", "garden"]));
    assert_eq!(first["properties"], json!({"tags": "garden, food/vegetable", "status": "growing"}));
    assert_eq!(
        first["excerpts"],
        json!([{"line": 7, "text": "Water them. See [[Greenhouse]]."}, {"line": 8, "text": "They like the greenhouse."}])
    );
    assert_eq!(
        (&first["links"], &first["backlinks"]),
        (&json!(["garden/Greenhouse.md"]), &json!(["index.md"]))
    );
    let second = &found["items"][1];
    assert_eq!(second["backlinks"], json!(["garden/Tomatoes.md", "index.md"]));
    assert_eq!(second["links"], json!(["index.md"]));
    let plain = scene.data("vault_search", json!({"query": "greenhouse"})).await;
    assert!(plain["items"][0].get("links").is_none());
}

#[tokio::test]
async fn words_without_spaces_are_found() {
    let scene = garden();
    let found = scene.data("vault_search", json!({"query": "会議"})).await;
    assert_eq!(paths(&found), ["日記.md"]);
    assert_eq!(found["items"][0]["excerpts"], json!([{"line": 1, "text": "今日は東京で会議がありました。"}]));
    assert_eq!(scene.found("日記").await, ["日記.md"]);
    assert_eq!(scene.found("休").await, ["日記.md"]);
    assert_eq!(scene.found("大阪").await, [""; 0]);
}

#[tokio::test]
async fn tags_front_matter_folders_and_links_narrow_it() {
    let scene = garden();
    let check = async |input: serde_json::Value, expect: &[&str]| {
        let mut found = paths(&scene.data("vault_search", input.clone()).await);
        found.sort_unstable();
        assert_eq!(found, expect, "{input}");
    };
    check(json!({"tags": ["#Garden"]}), &["garden/Greenhouse.md", "garden/Tomatoes.md"]).await;
    check(json!({"tags": ["food", "garden"]}), &["garden/Tomatoes.md"]).await;
    check(json!({"properties": ["status"]}), &["garden/Tomatoes.md"]).await;
    check(json!({"properties": ["Status=GROW"]}), &["garden/Tomatoes.md"]).await;
    check(json!({"properties": ["status=done"]}), &[]).await;
    check(
        json!({"query": "greenhouse", "path": "/vault/garden"}),
        &["garden/Greenhouse.md", "garden/Tomatoes.md"],
    )
    .await;
    check(json!({"links_to": "garden/Greenhouse.md"}), &["garden/Tomatoes.md", "index.md"]).await;
    check(json!({"links_to": "garden/Greenhouse", "query": "water"}), &["garden/Tomatoes.md"]).await;
    check(json!({"linked_from": "index.md"}), &["garden/Greenhouse.md", "garden/Tomatoes.md"]).await;
    check(json!({"query": "zebra"}), &[]).await;
}

#[tokio::test]
async fn pages_follow_each_other() {
    let scene = Scene::new();
    for n in 0..25 {
        scene.put(&format!("notes/{n:02}.md"), "the same words");
    }
    let (mut seen, mut offset) = (Vec::new(), json!(0));
    loop {
        let page = scene.data("vault_search", json!({"query": "same", "offset": offset})).await;
        assert_eq!(page["total"], 25);
        seen.extend(paths(&page));
        let Some(next) = page.get("next_offset") else { break };
        offset = next.clone();
    }
    assert_eq!(seen, (0..25).map(|n| format!("{n:02}.md")).collect::<Vec<_>>());
    let beyond = scene.data("vault_search", json!({"query": "same", "offset": 99})).await;
    assert_eq!((paths(&beyond).len(), &beyond["total"], beyond.get("next_offset")), (0, &json!(25), None));
}

#[tokio::test]
async fn what_cannot_be_searched_for_is_an_error_that_names_the_field() {
    let scene = garden();
    for (input, kind, expect) in [
        (json!({}), Kind::InvalidInput, "`query` has no words to look for"),
        (json!({"query": " … "}), Kind::InvalidInput, "`query` has no words to look for"),
        (json!({"query": "?!", "tags": ["garden"]}), Kind::InvalidInput, "`query` has no words to look for"),
        (json!({"query": "x", "tags": ["a b"]}), Kind::InvalidInput, "`tags` holds `a b`, which is no tag"),
        (
            json!({"query": "x", "properties": ["=y"]}),
            Kind::InvalidInput,
            "`properties` holds `=y`, which has no key",
        ),
        (
            json!({"links_to": "none.md"}),
            Kind::FileNotFound,
            "there is no note `none.md`, which `links_to` names",
        ),
        (
            json!({"linked_from": "image.png"}),
            Kind::FileNotFound,
            "there is no note `image.png`, which `linked_from` names",
        ),
        (
            json!({"query": "x", "path": "../x"}),
            Kind::InvalidInput,
            "`../x` is not a valid path: `..` is not allowed, not even where it would stay inside",
        ),
        (
            json!({"query": "x", "path": ".trash"}),
            Kind::Denied,
            "`.trash` is hidden, and no part of the vault",
        ),
    ] {
        assert_eq!(
            refused(&scene, "vault_search", input.clone()).await,
            (kind, expect.to_owned()),
            "{input}"
        );
    }
    for input in [json!({"query": "x", "limit": 0}), json!({"query": "x", "limit": 101}), json!({"query": 5})]
    {
        assert_eq!(refused(&scene, "vault_search", input).await.0, Kind::InvalidInput);
    }
    let long = scene.data("vault_search", json!({"query": "greenhouse ".repeat(5_000)})).await;
    assert_eq!(long["total"], 3);
}

#[tokio::test]
async fn what_is_written_here_is_found_at_once() {
    let scene = garden();
    assert_eq!(scene.found("zucchini").await, [""; 0]);
    scene.write("new/place/z.md", "zucchini").await;
    assert_eq!(scene.found("zucchini").await, ["new/place/z.md"]);
    scene.write("new/place/z.md", "zucchinl").await;
    assert_eq!(scene.found("zucchini").await, [""; 0]);
    assert_eq!(scene.found("zucchinl").await, ["new/place/z.md"]);
}

/// Searches until this is found: what the system tells, it tells when it does.
async fn comes_to(scene: &Scene, query: &str, expect: &[&str]) {
    within(async {
        while scene.found(query).await != expect {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn files_that_come_go_and_take_the_place_of_others_are_seen_at_once() {
    let scene = garden();
    assert_eq!(scene.found("zucchini").await, [""; 0]);
    scene.put("notes/deep/er/z.md", "zucchini");
    assert_eq!(scene.found("zucchini").await, ["deep/er/z.md"]);
    fs::rename(scene.host("notes/deep"), scene.host("notes/moved")).unwrap();
    assert_eq!(scene.found("zucchini").await, ["moved/er/z.md"]);
    // As editors save: a new file takes the place of the old one.
    scene.put("notes/moved/er/z.tmp", "cucumber");
    fs::rename(scene.host("notes/moved/er/z.tmp"), scene.host("notes/moved/er/z.md")).unwrap();
    assert_eq!(scene.found("zucchini").await, [""; 0]);
    assert_eq!(scene.found("cucumber").await, ["moved/er/z.md"]);
    fs::remove_dir_all(scene.host("notes/moved")).unwrap();
    assert_eq!(scene.found("cucumber").await, [""; 0]);
    scene.put("notes/target/node_modules/t.md", "pumpkin");
    assert_eq!(scene.found("pumpkin").await, ["target/node_modules/t.md"]);
    scene.put("notes/target/node_modules/t.md", "squash, another size");
    assert_eq!(scene.found("squash").await, ["target/node_modules/t.md"]);
}

#[tokio::test]
async fn a_note_that_is_changed_in_place_is_not_shown_for_what_it_was() {
    let scene = garden();
    assert_eq!(scene.found("spring").await, ["garden/Greenhouse.md"]);
    scene.put("notes/garden/Greenhouse.md", "Torn down in autumn, after long years.");
    assert_eq!(scene.found("spring").await, [""; 0]);
    comes_to(&scene, "autumn", &["garden/Greenhouse.md"]).await;
}

#[tokio::test]
async fn a_large_or_broken_note_is_known_by_its_name() {
    let scene = garden();
    scene.put("notes/Huge zebra.md", "stripes ".repeat(5_000));
    scene.put("notes/odd.md", [b"lion \xff\xfe tiger".as_slice(), &[0]].concat());
    let found = scene.data("vault_search", json!({"query": "zebra"})).await;
    assert_eq!((paths(&found), &found["unread"]), (vec!["Huge zebra.md".to_owned()], &json!(1)));
    assert_eq!(found["items"][0]["excerpts"], json!([]));
    assert_eq!(scene.found("stripes").await, [""; 0]);
    assert_eq!(scene.found("tiger").await, ["odd.md"]);
    scene.put("notes/Huge zebra.md", "stripes");
    comes_to(&scene, "stripes", &["Huge zebra.md"]).await;
}

#[tokio::test]
async fn searches_at_once_all_get_their_answer() {
    let scene = garden();
    let one = || scene.found("greenhouse");
    let all = tokio::join!(one(), one(), one(), one(), one(), one());
    for found in [&all.0, &all.1, &all.2, &all.3, &all.4, &all.5] {
        assert_eq!(found.len(), 3);
    }
}
