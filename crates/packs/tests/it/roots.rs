//! Which folder is the workspace.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Client, Error, Event, ListKind, NewConnection, Outcome, Principal, Transport};
use toolgate_host::Tasks;
use toolgate_packs::{Workspace, WorkspaceConfig};
use toolgate_testkit::{
    Driven, Expect as _, call, client_legacy, client_modern, drive, first_round, list_names, retry,
};

use crate::scene::{Scene, relisted, within};

const KEY: &str = "workspace_roots";

impl Scene {
    fn uri(&self, path: &str) -> String {
        format!("file://{}", self.host(path).display())
    }

    /// Writes a file as a client that has these roots.
    async fn write_as(&self, client: Arc<Client>, roots: &[String]) -> Driven {
        let call = call(client, "workspace_write", json!({"path": "f", "content": "x"}));
        within(drive(self.hub.start(call), [(KEY, answer(roots))])).await
    }

    /// Which of these folders has the file now; forgets it again.
    fn written(&self) -> Vec<&'static str> {
        let here = ["work", "own", "project", "other"].into_iter();
        here.filter(|folder| fs::remove_file(self.host(folder).join("f")).is_ok()).collect()
    }
}

fn answer(roots: &[String]) -> Value {
    json!({"roots": roots.iter().map(|uri| json!({"uri": uri})).collect::<Vec<_>>()})
}

/// A scene without a configured folder, and two folders that a client may have.
fn scene() -> Scene {
    let scene = Scene::with(|_| None);
    scene.put("project/.keep", "");
    scene.put("other/.keep", "");
    scene
}

#[tokio::test]
async fn a_configured_folder_is_used_and_nobody_is_asked() {
    let scene = Scene::new();
    let driven = scene.write_as(client_legacy(), &[scene.uri("outside")]).await;
    assert!(driven.events.is_empty());
    driven.complete();
    assert_eq!(scene.written(), ["work"]);
}

#[tokio::test]
async fn a_configured_folder_that_is_missing_is_an_error_for_who_configured_it() {
    let config = WorkspaceConfig { root: Some("/nowhere/at/all".into()), ..WorkspaceConfig::default() };
    let error = Workspace::new(config, PathBuf::from("/nowhere"), None, &Tasks::new()).unwrap_err();
    assert_eq!(error.to_string(), "cannot open the folder `/nowhere/at/all`");
}

#[tokio::test]
async fn a_client_on_stdio_is_asked_once_for_its_first_folder() {
    let scene = scene();
    let roots =
        [scene.uri("nowhere"), "https://example.com/".into(), scene.uri("project"), scene.uri("other")];
    let driven = scene.write_as(client_legacy(), &roots).await;
    assert_eq!(driven.events, ["ask workspace_roots roots/list {}"]);
    driven.complete();
    assert_eq!(scene.written(), ["project"]);
    let again = scene.write_as(client_legacy(), &[scene.uri("other")]).await;
    assert!(again.events.is_empty());
    assert_eq!(scene.written(), ["project"]);
    scene.workspace.roots_changed();
    scene.write_as(client_legacy(), &[scene.uri("other")]).await.complete();
    assert_eq!(scene.written(), ["other"]);
    assert!(!scene.host("own").exists());
}

#[tokio::test]
async fn a_modern_client_is_asked_by_a_result() {
    let scene = scene();
    let input = json!({"path": "f", "content": "x"});
    let (requests, state) =
        first_round(&scene.hub, call(client_modern(), "workspace_write", input.clone())).await.asked();
    assert_eq!(requests[KEY]["method"], "roots/list");
    let again = retry(
        call(client_modern(), "workspace_write", input),
        &state,
        json!({KEY: answer(&[scene.uri("project")])}),
    );
    within(drive(scene.hub.start(again), [])).await.complete();
    assert_eq!(scene.written(), ["project"]);
}

#[tokio::test]
async fn a_client_that_is_elsewhere_never_chooses_a_folder_here() {
    let scene = scene();
    for transport in [Transport::Http, Transport::Sse, Transport::Local] {
        let client = Arc::new(Client { transport, ..(*client_legacy()).clone() });
        let driven = scene.write_as(client, &[scene.uri("project")]).await;
        assert!(driven.events.is_empty(), "{transport:?}");
        assert_eq!(scene.written(), ["own"]);
    }
    let mode = fs::metadata(scene.host("own")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[tokio::test]
async fn attached_clients_have_a_folder_each_and_the_list_stays_that_of_the_hub() {
    let scene = scene();
    let attached = || {
        scene.hub.connect(NewConnection {
            transport: Transport::Attached,
            principal: Principal::local(),
            process: None,
        })
    };
    let (first, second) = (attached(), attached());
    let client = Arc::new(Client { transport: Transport::Attached, ..(*client_legacy()).clone() });
    for (connected, folder, asked) in
        [(&first, "project", 1), (&second, "other", 1), (&first, "project", 0), (&second, "other", 0)]
    {
        let input = json!({"path": "f", "content": "x"});
        let mut call = call(client.clone(), "workspace_write", input);
        call.connection = Some(connected.id());
        let driven = within(drive(scene.hub.start(call), [(KEY, answer(&[scene.uri(folder)]))])).await;
        assert_eq!(driven.events.len(), asked, "{folder}");
        driven.complete();
        assert_eq!(scene.written(), [folder]);
    }
    scene.put("own/ours.md", "");
    assert_eq!(list_names(&scene.hub, ListKind::Resources).await, ["workspace:///ours.md"]);
}

#[tokio::test]
async fn a_client_without_a_folder_works_in_our_own() {
    for roots in [vec![], vec!["file:///".to_owned()], vec!["file://elsewhere/tmp".to_owned()]] {
        let scene = scene();
        scene.write_as(client_legacy(), &roots).await.complete();
        assert_eq!(scene.written(), ["own"], "{roots:?}");
        assert!(scene.write_as(client_legacy(), &[scene.uri("project")]).await.events.is_empty());
    }
}

#[tokio::test]
async fn a_client_that_fails_to_answer_works_in_our_own_folder() {
    let scene = scene();
    let mut run =
        scene.hub.start(call(client_legacy(), "workspace_write", json!({"path": "f", "content": "x"})));
    let Some(Event::Ask(ask)) = run.next().await else { panic!("no question") };
    ask.answer(Err(Error::new(toolgate_core::Kind::Upstream, "method not found")));
    assert!(matches!(within(run.outcome()).await, Outcome::Complete(_)));
    assert_eq!(scene.written(), ["own"]);
}

#[tokio::test]
async fn a_client_that_goes_away_writes_nothing() {
    let scene = scene();
    let call = call(client_legacy(), "workspace_write", json!({"path": "f", "content": "x"}));
    within(drive(scene.hub.start(call), [])).await.failed();
    assert_eq!(scene.written(), [""; 0]);
    scene.write_as(client_legacy(), &[scene.uri("project")]).await.complete();
    assert_eq!(scene.written(), ["project"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_answers_is_not_waited_for_long() {
    let scene = scene();
    let mut run =
        scene.hub.start(call(client_legacy(), "workspace_write", json!({"path": "f", "content": "x"})));
    let Some(Event::Ask(_unanswered)) = run.next().await else { panic!("no question") };
    let asked = tokio::time::Instant::now();
    assert!(matches!(run.outcome().await, Outcome::Complete(_)));
    assert!(asked.elapsed().as_secs() < 20);
    assert_eq!(scene.written(), ["own"]);
}

#[tokio::test]
async fn the_list_of_resources_follows_the_workspace() {
    let scene = scene();
    scene.put("own/ours.md", "");
    scene.put("project/theirs.md", "");
    scene.put("other/else.md", "");
    let mut changes = scene.changes();
    relisted(&scene.hub, &mut changes, &["workspace:///ours.md"]).await;
    scene.write_as(client_legacy(), &[scene.uri("project")]).await.complete();
    relisted(&scene.hub, &mut changes, &["workspace:///f", "workspace:///theirs.md"]).await;
    scene.put("project/later.md", "");
    let expect = ["workspace:///f", "workspace:///later.md", "workspace:///theirs.md"];
    relisted(&scene.hub, &mut changes, &expect).await;
    // What is listed stays until the client has said where it is now.
    scene.hub.roots_changed();
    assert_eq!(list_names(&scene.hub, ListKind::Resources).await, expect);
    scene.write_as(client_legacy(), &[scene.uri("other")]).await.complete();
    relisted(&scene.hub, &mut changes, &["workspace:///else.md", "workspace:///f"]).await;
}
