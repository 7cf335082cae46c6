//! Programs of either era: found out, listed, called, asked by, killed.

use serde_json::json;
use toolgate_core::{ListKind, Outcome};
use toolgate_testkit::{Expect as _, client_legacy, client_modern};

use crate::fake::{GOLDEN, GOLDEN_TOOL};
use crate::rig::{Rig, text};

#[tokio::test]
async fn servers_of_either_era_are_listed_and_called() {
    for (behaviour, era) in [("legacy", "legacy"), ("modern", "modern"), ("both", "modern")] {
        let rig = Rig::fake(behaviour);
        let names = rig.names(ListKind::Tools).await;
        assert!(
            names.contains(&"fake_echo".to_owned()) && names.contains(&"fake_golden".to_owned()),
            "{names:?}"
        );
        assert_eq!(rig.status().era, Some(era), "{behaviour}");
        for client in [client_legacy(), client_modern()] {
            let result = rig.call(client, "fake_echo", json!({"b": "x"}), None).await.complete();
            assert_eq!(result["structuredContent"]["name"], "echo");
            assert_eq!(result["structuredContent"]["arguments"], json!({"b": "x"}));
        }
        rig.upstream.stop().await;
    }
}
