//! What stands in the record of what is done on the page.

use std::future::Future as _;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use serde_json::json;
use toolgate_core::{Entry, Recorder, Result};

use crate::stage::{PASSWORD, Stage};

/// A record that keeps who did what.
#[derive(Default)]
struct Notes(Mutex<Vec<(String, String)>>);

impl Notes {
    fn last(&self) -> (String, String) {
        self.0.lock().unwrap().last().cloned().unwrap_or_default()
    }
}

impl Recorder for Notes {
    fn ready(&self) -> Result<()> {
        Ok(())
    }

    fn wants_arguments(&self) -> bool {
        false
    }

    fn record(&self, entry: &Entry<'_>) {
        let done = format!("{} {}", entry.name, entry.outcome);
        self.0.lock().unwrap().push((entry.principal.id.as_str().to_owned(), done));
    }
}

fn stage() -> (Stage, Arc<Notes>) {
    let notes = Arc::new(Notes::default());
    let kept = notes.clone();
    (Stage::with(|hub| hub.recorder(kept)), notes)
}

#[tokio::test]
async fn who_comes_in_is_recorded() {
    let (stage, notes) = stage();
    stage.admin().await;
    assert_eq!(notes.last(), ("admin:admin0".into(), "admin/POST /setup complete".into()));
    let log_in = stage.ask("POST", "/session").csrf("0");
    log_in.json(&json!({"account": "admin0", "password": PASSWORD})).send().await.user();
    assert_eq!(notes.last(), ("admin:admin0".into(), "admin/POST /session complete".into()));
}

#[tokio::test]
async fn a_change_goes_on_and_is_recorded_when_its_client_hangs_up() {
    let (stage, notes) = stage();
    let user = stage.admin().await;
    let safe = stage.desk.safe.lock().await;
    {
        let ask = stage.ask("PUT", "/secrets/ONE").by(&user).json(&json!({"value": "a value"}));
        let mut asked = pin!(ask.send());
        // As far as it goes, and then nobody waits for it.
        for _ in 0..100 {
            assert!(asked.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            tokio::task::yield_now().await;
        }
    }
    drop(safe);
    while !notes.last().1.starts_with("admin/PUT /secrets") {
        tokio::task::yield_now().await;
    }
    assert_eq!(notes.last(), ("admin:admin0".into(), "admin/PUT /secrets/ONE complete".into()));
}
