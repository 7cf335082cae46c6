//! Signing in: in a browser, by pasting, as a client that is known, described or registered.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_upstream::{Holder, OauthReason, State};

use super::{Guarded, browse, oauth, sign_in};

#[tokio::test]
async fn a_person_signs_in_and_the_upstream_that_waits_connects_by_itself() {
    for behaviour in ["legacy", "modern", "oldest"] {
        let guarded = Guarded::start(behaviour, json!({})).await;
        guarded.is(State::NeedsAuth).await;
        let status = guarded.rig.status();
        assert_eq!(status.hint.as_deref(), Some("run `toolgate mcp auth fake`"), "{behaviour}");
        assert!(status.challenge.unwrap().contains("resource_metadata="), "{behaviour}");

        let login = guarded.authorizer.begin(Holder::Shared).await.unwrap();
        let (done, page) = tokio::join!(login.wait(), browse(&login));
        done.unwrap();
        assert!(page.contains("You are signed in"), "{page}");
        guarded.is(State::Connected).await;
        assert_eq!(guarded.echo().await["structuredContent"]["arguments"]["b"], "x", "{behaviour}");

        let registered = &guarded.realm.asked("/register")[0];
        assert_eq!(registered["application_type"], "\"native\"");
        let asked = &guarded.realm.asked("/authorize")[0];
        let exchanged = &guarded.realm.grants("authorization_code")[0];
        for form in [asked, exchanged] {
            assert_eq!(form["resource"], guarded.web.url, "{behaviour}");
            assert_eq!(form["redirect_uri"], login.redirect().as_str());
        }
        assert_eq!((&*asked["code_challenge_method"], &*asked["scope"]), ("S256", "described"));
        assert!(asked["state"].len() >= 43 && exchanged["code_verifier"].len() >= 43);
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn an_authorization_server_is_found_where_openid_puts_it() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.realm.behave("openid");
    guarded.sign_in().await;
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn what_to_be_allowed_comes_from_the_table_the_challenge_or_the_description() {
    #[track_caller]
    fn check(guarded: &Guarded, expect: &str) {
        assert_eq!(guarded.realm.asked("/authorize").last().unwrap()["scope"], expect);
    }
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    check(&guarded, "described");
    guarded.rig.upstream.stop().await;

    for (more, expect) in
        [(json!({}), "basic offline_access"), (oauth(json!({"scope": "mine"})), "mine offline_access")]
    {
        let realm = super::Realm::start("scoped").await;
        *realm.metadata.lock().unwrap() = json!({"scopes_supported": ["offline_access", "other"]});
        let web = realm.web("legacy").await;
        let guarded = Guarded::over(realm, web, more, Arc::default());
        guarded.sign_in().await;
        check(&guarded, expect);
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_machine_without_a_browser_signs_in_by_pasting() {
    async fn pasted(
        behaviour: &str,
        metadata: Value,
        cut: impl Fn(&str) -> String,
    ) -> Result<(), OauthReason> {
        let guarded = Guarded::start("legacy", json!({})).await;
        guarded.realm.behave(behaviour);
        *guarded.realm.metadata.lock().unwrap() = metadata;
        let login = guarded.authorizer.begin(Holder::Shared).await.unwrap();
        let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let sent = browser.get(login.url().clone()).send().await.unwrap();
        let arrived = sent.headers()["location"].to_str().unwrap().to_owned();
        let done = login.finish(&cut(&arrived)).await.map_err(|error| error.reason());
        guarded.rig.upstream.stop().await;
        done
    }
    let code = |url: &str| url.split("code=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let no_iss = json!({"authorization_response_iss_parameter_supported": false});
    assert_eq!(pasted("", json!({}), |url| format!("  {url}\n")).await, Ok(()));
    assert_eq!(pasted("", json!({}), |url| url.split_once('?').unwrap().1.to_owned()).await, Ok(()));
    assert_eq!(pasted("no-iss", no_iss, code).await, Ok(()));
    // It says that its answers name it, and a code alone does not.
    assert_eq!(pasted("", json!({}), code).await, Err(OauthReason::WrongAnswer));
    let forged = |url: &str| url.replace("state=", "state=x");
    assert_eq!(pasted("", json!({}), forged).await, Err(OauthReason::WrongAnswer));
    assert_eq!(pasted("", json!({}), |_| String::new()).await, Err(OauthReason::WrongAnswer));
}

#[tokio::test]
async fn whoever_does_not_know_the_word_is_sent_away_and_the_sign_in_goes_on() {
    let guarded = Guarded::start("legacy", json!({})).await;
    let login = guarded.authorizer.begin(Holder::Shared).await.unwrap();
    let visits = async {
        // A browser may open a connection that it never uses.
        let _silent =
            tokio::net::TcpStream::connect(("127.0.0.1", login.redirect().port().unwrap())).await.unwrap();
        let browser = reqwest::Client::new();
        for (query, status) in [("?code=stolen&state=guessed", 400), ("?code=stolen", 400), ("", 400)] {
            let url = format!("{}{query}", login.redirect());
            assert_eq!(browser.get(url).send().await.unwrap().status().as_u16(), status);
        }
        let other = login.redirect().join("/favicon.ico").unwrap();
        assert_eq!(browser.get(other).send().await.unwrap().status().as_u16(), 404);
        browse(&login).await
    };
    let (done, _) = tokio::join!(login.wait(), visits);
    done.unwrap();
    assert_eq!(guarded.realm.grants("authorization_code").len(), 1);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn a_client_that_is_known_needs_no_registration() {
    for (methods, is_basic) in
        [(json!(["client_secret_basic", "client_secret_post"]), true), (json!(["client_secret_post"]), false)]
    {
        let more = oauth(json!({"client_id": "known", "client_secret": "sesame"}));
        let guarded = Guarded::start("legacy", more).await;
        guarded.realm.know("known", Some("sesame"));
        *guarded.realm.metadata.lock().unwrap() =
            json!({"registration_endpoint": null, "token_endpoint_auth_methods_supported": methods});
        guarded.sign_in().await;
        assert!(guarded.realm.asked("/register").is_empty());
        let form = &guarded.realm.grants("authorization_code")[0];
        assert_eq!(
            (form.contains_key("authorization"), form.contains_key("client_secret")),
            (is_basic, !is_basic)
        );
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_client_described_at_an_address_is_used_where_that_is_understood() {
    let id = "https://toolgate.example.com/client.json";
    for (understood, registrations) in [(true, 0), (false, 1)] {
        let guarded = Guarded::start("legacy", oauth(json!({"client_id": id}))).await;
        *guarded.realm.metadata.lock().unwrap() =
            json!({"client_id_metadata_document_supported": understood});
        guarded.sign_in().await;
        assert_eq!(guarded.realm.asked("/register").len(), registrations);
        assert_eq!(guarded.realm.asked("/authorize")[0]["client_id"] == id, understood);
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_registration_with_a_secret_is_used_as_the_server_wants() {
    for method in ["client_secret_basic", "client_secret_post", "none"] {
        let guarded = Guarded::start("legacy", json!({})).await;
        *guarded.realm.metadata.lock().unwrap() = json!({"token_endpoint_auth_methods_supported": [method]});
        guarded.sign_in().await;
        assert_eq!(
            guarded.realm.asked("/register")[0]["token_endpoint_auth_method"],
            format!("\"{method}\"")
        );
        guarded.rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn what_registered_itself_once_does_not_do_so_again() {
    let guarded = Guarded::start("legacy", json!({})).await;
    guarded.sign_in().await;
    sign_in(&guarded.authorizer, Holder::Shared).await.unwrap();
    assert_eq!(guarded.realm.asked("/register").len(), 1);
    assert_eq!(guarded.realm.asked("/authorize").len(), 2);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn where_nobody_can_register_the_status_names_the_key_to_set() {
    let realm = super::Realm::start("").await;
    *realm.metadata.lock().unwrap() = json!({"registration_endpoint": null});
    let web = realm.web("legacy").await;
    let guarded = Guarded::over(realm, web, json!({}), Arc::default());
    guarded.is(State::NeedsClientRegistration).await;
    let status = guarded.rig.status();
    assert!(status.hint.as_deref().unwrap().contains("`mcp.fake.oauth.client_id`"), "{status:?}");
    let error = guarded.authorizer.begin(Holder::Shared).await.err().unwrap();
    assert_eq!(error.reason(), OauthReason::NeedsClientRegistration);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn the_browser_comes_back_to_the_port_that_is_configured() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    let guarded = Guarded::start("legacy", oauth(json!({"callback_port": port}))).await;
    let taken = guarded.authorizer.begin(Holder::Shared).await.err().unwrap();
    assert!(taken.hint().contains("callback_port"), "{taken}");
    drop(free);
    let login = guarded.authorizer.begin(Holder::Shared).await.unwrap();
    assert_eq!(login.redirect().port(), Some(port));
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn an_authorization_server_behind_a_proxy_is_reached_through_it() {
    let guarded = Guarded::start("legacy", json!({})).await;
    // Nobody but the proxy knows this name; the proxy passes on what it is sent.
    let authority = format!("http://{}", guarded.realm.issuer.trim_start_matches("http://"));
    let proxied = json!({"proxy": authority, "oauth": {
        "client_id": "known",
        "auth_url": "https://login.invalid/authorize",
        "token_url": "https://login.invalid/token",
    }});
    guarded.realm.know("known", None);
    let login = guarded.elsewhere(proxied).begin(Holder::Shared).await.unwrap();
    let state = login.url().query_pairs().find(|(key, _)| key == "state").unwrap().1.into_owned();
    let error = login.finish(&format!("code=x&state={state}")).await.unwrap_err();
    assert_eq!(error.reason(), OauthReason::Unavailable, "{error}");
    assert_eq!(guarded.realm.tunnels(), ["login.invalid:443"]);
    guarded.rig.upstream.stop().await;
}

#[tokio::test]
async fn endpoints_that_are_configured_need_not_be_found() {
    // Who answers may be named too, with the last slash and without.
    for end in [None, Some(""), Some("/")] {
        let realm = super::Realm::start("undescribed openid").await;
        realm.know("known", None);
        let mut table = json!({
            "client_id": "known",
            "auth_url": format!("{}/authorize", realm.issuer),
            "token_url": format!("{}/token", realm.issuer),
        });
        if let Some(end) = end {
            table["issuer"] = format!("{}{end}", realm.issuer).into();
        }
        let web = realm.web("legacy").await;
        let guarded = Guarded::over(realm, web, oauth(table), Arc::default());
        guarded.sign_in().await;
        guarded.rig.upstream.stop().await;
    }
}
