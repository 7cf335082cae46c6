//! Whose folders changed, and who is told.

use std::sync::Arc;

use toolgate_testkit::{FakeSource, hub};

use crate::tasks::http::served_by;

const CHANGED: &str = "notifications/roots/list_changed";

#[test]
fn that_its_folders_changed_is_told_of_a_client_that_is_elsewhere() {
    let source = Arc::new(FakeSource::new("a"));
    let scene = || hub([source.clone()]);
    served_by(scene, async |mut ann, hub| {
        // Without a session nobody asks it for them.
        assert_eq!(ann.notify(CHANGED).await, "202");
        ann.greet().await;
        assert_eq!(ann.notify(CHANGED).await, "202");
        let connection = hub.connections()[0].id;
        assert_eq!(source.changed_roots(), [("ann".to_owned(), connection)]);
    });
}
