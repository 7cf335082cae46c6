//! New settings, and what is secret in them.

use toolgate_core::Filter as _;
use toolgate_secrets::Redactor;

use super::*;

fn settings(folder: &std::path::Path, token: &str) -> Settings {
    let server = serde_json::json!({
        "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": token}, "enabled": false,
    });
    let mcp = [("docs".to_owned(), serde_json::from_value(server).unwrap())].into_iter().collect();
    Settings { data_dir: folder.to_owned(), packs: Vec::new(), mcp, ..Settings::default() }
}

fn header(gate: &Gate) -> &str {
    &gate.settings.mcp["docs"].headers["Authorization"]
}

#[tokio::test]
async fn sources_stay_as_they_are_where_their_new_secrets_cannot_be_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let (tasks, redactor) = (Tasks::new(), Redactor::with_room(2000));
    let process = Process { tasks: tasks.clone(), redactor: redactor.clone() };
    let mut gate = Gate::new(&settings(folder.path(), "Bearer first-token"), false, &process).await.unwrap();
    let source = |gate: &Gate| gate.upstreams.sources()[0].clone();
    let first = source(&gate);

    let long = format!("Bearer {}", "longer-than-there-is-room-for".repeat(100));
    let troubles = gate.apply(&Arc::new(settings(folder.path(), &long)), None).await;
    let told: Vec<String> = troubles.iter().map(|error| format!("{error:#}")).collect();
    let why = "the secrets are too many to look for: their forms take more than 2000 bytes";
    assert_eq!(
        told,
        [format!("nothing of it is used, because what is secret in it cannot be hidden: {why}")]
    );
    assert!(Arc::ptr_eq(&source(&gate), &first), "it goes on with what it had");
    // A secret that changes meanwhile makes sources of what is in force.
    assert_eq!(header(&gate), "Bearer first-token");
    assert_eq!(redactor.text("first-token").unwrap(), "[REDACTED:UPSTREAM]");

    assert!(gate.apply(&Arc::new(settings(folder.path(), "Bearer second-token")), None).await.is_empty());
    assert!(!Arc::ptr_eq(&source(&gate), &first));
    assert_eq!(header(&gate), "Bearer second-token");
    assert_eq!(redactor.text("second-token").unwrap(), "[REDACTED:UPSTREAM]");
    tasks.stopping().cancel();
}
