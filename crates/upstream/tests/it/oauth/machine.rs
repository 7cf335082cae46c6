//! Machines that sign in by themselves.

use serde_json::json;
use toolgate_upstream::{Holder, State};

use super::{Guarded, oauth};

fn machine() -> serde_json::Value {
    oauth(
        json!({"grant": "client_credentials", "client_id": "robot", "client_secret": "sesame", "scope": "work"}),
    )
}

#[tokio::test]
async fn a_machine_signs_in_by_itself_and_again_when_it_has_to() {
    for behaviour in ["legacy", "modern"] {
        let realm = super::Realm::start("").await;
        realm.know("robot", Some("sesame"));
        let web = realm.web(behaviour).await;
        let guarded = Guarded::over(realm, web, machine(), std::sync::Arc::default());
        guarded.is(State::Connected).await;
        guarded.echo().await;
        let form = &guarded.realm.grants("client_credentials")[0];
        assert_eq!((&*form["scope"], &*form["resource"]), ("work", &*guarded.web.url));
        guarded.realm.forget(true);
        guarded.echo().await;
        guarded.realm.later(2 * 3600);
        guarded.echo().await;
        assert_eq!(guarded.realm.grants("client_credentials").len(), 3, "{behaviour}");
        assert!(guarded.realm.asked("/authorize").is_empty() && guarded.realm.asked("/register").is_empty());
        assert!(guarded.authorizer.begin(Holder::Shared).await.is_err());
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_machine_that_is_not_known_is_told_so() {
    let guarded = Guarded::start("legacy", machine()).await;
    guarded.is(State::NeedsAuth).await;
    let status = guarded.rig.status();
    assert!(status.error.unwrap().contains("invalid_client"));
    assert!(status.hint.unwrap().contains("`mcp.fake.oauth.client_secret`"));
    guarded.realm.know("robot", Some("sesame"));
    guarded.is(State::Connected).await;
    guarded.rig.upstream.stop().await;
}
