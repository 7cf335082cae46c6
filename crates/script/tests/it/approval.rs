//! Who may run what: exactly the bytes that were approved.

use serde_json::json;
use toolgate_core::Kind;
use toolgate_script::{Hash, State};

use crate::scene::{Scene, answer, check_failed, text};

#[tokio::test]
async fn what_is_not_approved_does_not_run_and_says_how_it_stands() {
    let scene = Scene::new();
    scene.write("new_feature.star", "result = 1");
    let error = scene.run("new_feature").await.unwrap_err();
    assert_eq!(error.kind(), Kind::NeedsApproval);
    let said = text(&error);
    let seed = "Error: Script 'new_feature.star' is pending approval. An administrator must review and approve this \
        script before it can be executed.";
    assert!(said.starts_with(seed), "{said}");
    assert!(
        said.contains("State: pending") && said.contains("toolgate script approve new_feature.star"),
        "{said}"
    );
}

#[tokio::test]
async fn an_approval_and_a_rejection_count_at_once() {
    let scene = Scene::new();
    scene.approved("a.star", "result = 1").await;
    assert_eq!(scene.run("a").await.unwrap(), 1);
    let seen = scene.scripts.look("a").await.unwrap().script.hash;
    scene.scripts.reject("a", &seen, "admin", Some("too bold")).await.unwrap();
    check_failed(scene.run("a").await, Kind::NeedsApproval, &["State: rejected", "Reason: too bold"]);
    scene.scripts.approve("a", &seen, "admin").await.unwrap();
    assert_eq!(scene.run("a").await.unwrap(), 1);
    scene.write("a.star", "result = 2");
    check_failed(scene.run("a").await, Kind::NeedsApproval, &["State: modified"]);
    let looked = scene.scripts.look("a").await.unwrap();
    assert_eq!((looked.info.state, looked.approved.as_deref()), (State::Modified, Some("result = 1")));
    assert_eq!(looked.decided.unwrap().0, "admin");
    scene.write("a.star", "result = 1");
    assert_eq!(scene.run("a").await.unwrap(), 1);
}

#[tokio::test]
async fn what_changed_since_it_was_looked_at_is_neither_approved_nor_rejected() {
    let scene = Scene::new();
    scene.write("a.star", "result = 'harmless'");
    let seen = scene.scripts.look("a").await.unwrap().script.hash;
    scene.write("a.star", "result = 'harmful'");
    for refused in [
        scene.scripts.approve("a", &seen, "admin").await,
        scene.scripts.reject("a", &seen, "admin", None).await,
    ] {
        let error = refused.unwrap_err();
        assert!(error.message().contains("not what was looked at"), "{error}");
    }
    check_failed(scene.run("a").await, Kind::NeedsApproval, &["State: pending"]);
}

#[tokio::test]
async fn what_was_approved_last_is_told_also_after_a_rejection() {
    let scene = Scene::new();
    scene.approved("a.star", "result = 1").await;
    let approved = async || scene.scripts.look("a").await.unwrap().approved;
    assert_eq!(approved().await, None, "it is what was approved");
    for version in ["result = 2", "result = 3"] {
        scene.write("a.star", version);
        scene.scripts.reject("a", &Hash::of(version.as_bytes()), "admin", None).await.unwrap();
        assert_eq!(approved().await.as_deref(), Some("result = 1"));
    }
    scene.write("a.star", "result = 4");
    assert_eq!(approved().await.as_deref(), Some("result = 1"));
    // What was approved once is not so for ever: a no to something else has come since.
    scene.write("a.star", "result = 1");
    check_failed(scene.run("a").await, Kind::NeedsApproval, &["State: pending"]);
    scene.scripts.reject("a", &Hash::of(b"result = 1"), "admin", None).await.unwrap();
    scene.write("a.star", "result = 5");
    assert_eq!(approved().await, None, "it was taken back");
}

#[tokio::test]
async fn a_new_version_takes_the_place_of_what_was_seen_and_has_to_be_approved() {
    let scene = Scene::new();
    let put = async |source: &str, seen: Option<&str>| {
        let seen = seen.map(|seen| Hash::of(seen.as_bytes()));
        scene.scripts.put("job", source.to_owned(), seen.as_ref()).await
    };
    let made = put("result = 1", None).await.unwrap();
    assert_eq!((made.name.as_str(), made.state), ("job.star", State::Pending));
    scene.approved("job.star", "result = 1").await;
    assert_eq!(scene.run("job").await.unwrap(), 1);
    let kept = || std::fs::read_to_string(scene.scripts.folder().join("job.star")).unwrap();
    for (seen, says) in
        [(None, "there is a script `job.star` already"), (Some("result = 0"), "it is now sha256:")]
    {
        let error = put("result = 2", seen).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Conflict, "{error}");
        assert!(error.message().contains(says), "{error}");
        assert_eq!(kept(), "result = 1");
    }
    assert_eq!(put("result = 2", Some("result = 1")).await.unwrap().state, State::Modified);
    assert_eq!(kept(), "result = 2");
    check_failed(scene.run("job").await, Kind::NeedsApproval, &["State: modified"]);
    // These very bytes are approved.
    assert_eq!(put("result = 1", Some("result = 2")).await.unwrap().state, State::Approved);
    std::fs::remove_file(scene.scripts.folder().join("job.star")).unwrap();
    let error = put("result = 2", Some("result = 1")).await.unwrap_err();
    assert!(error.message().contains("it is gone"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_a_script_is_not_put_into_the_folder() {
    let scene = Scene::new();
    let huge = "#".repeat(70_000);
    for (name, source) in
        [("../x", "result = 1"), ("exec:0123", "result = 1"), ("", "result = 1"), ("x", huge.as_str())]
    {
        let error = scene.scripts.put(name, source.to_owned(), None).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidInput, "{name}: {error}");
    }
    std::os::unix::fs::symlink("/etc/hostname", scene.scripts.folder().join("out.star")).unwrap();
    let error = scene.scripts.put("out", "result = 1".into(), None).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Denied, "{error}");
    assert_eq!(std::fs::read_dir(scene.scripts.folder()).unwrap().count(), 1);
}

#[tokio::test]
async fn of_many_who_change_the_same_version_one_does() {
    let scene = Scene::new();
    scene.write("job.star", "result = 0");
    let seen = Hash::of(b"result = 0");
    let put = |number: usize| {
        let (scripts, seen) = (scene.scripts.clone(), seen.clone());
        async move { scripts.put("job", format!("result = {}", number + 1), Some(&seen)).await }
    };
    let all = futures_util::future::join_all((0..8).map(put)).await;
    let (done, refused): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
    assert_eq!((done.len(), refused.len()), (1, 7));
    for error in refused.into_iter().filter_map(Result::err) {
        assert_eq!(error.kind(), Kind::Conflict, "{error}");
    }
}

/// OpenPact cached what `script_list` had read, and ran that after the approved text had been put back.
#[tokio::test]
async fn swapping_the_file_around_a_listing_runs_nothing_else() {
    let scene = Scene::new();
    let (good, evil) = ("result = 'good'", "result = 'evil'");
    scene.approved("job.star", good).await;
    scene.write("job.star", evil);
    let listed = scene.call("script_list", json!({})).await.unwrap();
    assert_eq!(listed["items"][0]["state"], "modified");
    scene.call("script_reload", json!({})).await.unwrap();
    check_failed(scene.run("job").await, Kind::NeedsApproval, &["modified"]);
    scene.write("job.star", good);
    assert_eq!(scene.run("job").await.unwrap(), "good");
}

/// What runs is what was hashed, also while somebody swaps the file all the time.
#[tokio::test(flavor = "multi_thread")]
async fn a_race_for_the_file_runs_nothing_else() {
    let scene = Scene::new();
    let (good, evil) = ("result = 'good'", "result = 'evil'");
    scene.approved("job.star", good).await;
    let path = scene.scripts.folder().join("job.star");
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (stopped, swapped) = (stop.clone(), path.clone());
    let swapping = std::thread::spawn(move || {
        let temp = swapped.with_extension("tmp");
        for turn in 0_u64.. {
            if stopped.load(std::sync::atomic::Ordering::Relaxed) {
                return;
            }
            std::fs::write(&temp, if turn % 2 == 0 { evil } else { good }).unwrap();
            std::fs::rename(&temp, &swapped).unwrap();
        }
    });
    let (mut ran, mut refused) = (0, 0);
    for _ in 0..2000 {
        match scene.run("job").await {
            Ok(result) => {
                assert_eq!(result, "good");
                ran += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), Kind::NeedsApproval, "{error}");
                refused += 1;
            }
        }
        if ran > 20 && refused > 20 {
            break;
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(ran > 0 && refused > 0, "{ran} ran, {refused} were refused");
}

/// OpenPact's allow list named files, so that who could write one could run anything.
#[tokio::test]
async fn an_allow_list_pins_bytes_and_not_names() {
    let allowed = "# @secrets: KEY\nresult = 'allowed'";
    let scene = Scene::set(|config| config.allow = vec![Hash::of(allowed.as_bytes())]);
    scene.write("daily.star", allowed);
    assert_eq!(scene.run("daily").await.unwrap(), "allowed");
    scene.write("daily.star", "result = 'evil'");
    check_failed(scene.run("daily").await, Kind::NeedsApproval, &["State: pending"]);
    // A person's no counts for more.
    scene.write("daily.star", allowed);
    scene.scripts.reject("daily", &Hash::of(allowed.as_bytes()), "admin", None).await.unwrap();
    check_failed(scene.run("daily").await, Kind::NeedsApproval, &["State: rejected"]);
}

/// OpenPact ran any code with all secrets and hosts.
#[tokio::test]
async fn code_runs_only_once_approved_and_never_sees_secrets() {
    let scene = Scene::new();
    scene.secrets.lock().unwrap().insert("KEY".into(), "hunter22".into());
    let code = "# @secrets: KEY\nresult = [secrets.list(), secrets.get('KEY')]";
    let refused = scene.call("script_exec", json!({"code": code})).await.unwrap_err();
    let name = format!("exec:{}", Hash::of(code.as_bytes()).short());
    assert!(
        text(&refused).starts_with(&format!("Error: Script '{name}' is pending approval.")),
        "{}",
        text(&refused)
    );
    let waiting = scene.scripts.look(&name).await.unwrap();
    assert_eq!((waiting.script.source.as_str(), waiting.info.state), (code, State::Pending));
    assert!(waiting.info.secrets.is_empty());
    scene.scripts.approve(&name, &waiting.script.hash, "admin").await.unwrap();
    check_failed(
        scene.call("script_exec", json!({"code": code})).await,
        Kind::InvalidInput,
        &["the secret `KEY`"],
    );

    let harmless = "result = secrets.list()";
    scene.call("script_exec", json!({"code": harmless})).await.unwrap_err();
    let name = format!("exec:{}", Hash::of(harmless.as_bytes()).short());
    scene.scripts.approve(&name, &Hash::of(harmless.as_bytes()), "admin").await.unwrap();
    assert_eq!(scene.call("script_exec", json!({"code": harmless})).await.unwrap()["result"], json!([]));
    check_failed(
        scene.call("script_exec", json!({"code": format!("{harmless}\n")})).await,
        Kind::NeedsApproval,
        &["pending"],
    );
}

#[tokio::test]
async fn no_flood_of_code_fills_the_store() {
    let scene = Scene::new();
    // One principal has a share, and leaves the rest to the others.
    for (who, most) in [("ada", 20), ("grace", 40), ("joan", 60), ("ida", 80), ("eva", 100), ("lea", 100)] {
        for number in 0..21 {
            let call = json!({"code": format!("result = '{who} {number}'")});
            let refused = answer(scene.call_as(who, "script_exec", call).await);
            check_failed(refused, Kind::NeedsApproval, &["State: pending"]);
        }
        assert_eq!(scene.scripts.list().await.unwrap().len(), most, "{who}");
    }
    let more = scene.call("script_exec", json!({"code": "result = 'more'"})).await;
    check_failed(more, Kind::NeedsApproval, &["was not kept"]);
    let huge = "#".repeat(70_000);
    check_failed(
        scene.call("script_exec", json!({"code": huge})).await,
        Kind::InvalidInput,
        &["more than 65536 bytes"],
    );
}

#[tokio::test]
async fn a_header_that_cannot_be_granted_cannot_be_approved() {
    let scene = Scene::new();
    let source = "# @hosts: https://example.com/\nresult = 1";
    scene.write("a.star", source);
    let error = scene.scripts.approve("a", &Hash::of(source.as_bytes()), "admin").await.unwrap_err();
    assert!(error.message().contains("cannot be the name of a host"), "{error}");
    let listed = scene.call("script_list", json!({})).await.unwrap();
    assert!(listed["items"][0]["remark"].as_str().unwrap().contains("host"), "{listed}");
}
