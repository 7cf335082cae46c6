//! Setting up, logging in, being thrown out.

use std::time::Duration;

use serde_json::json;
use toolgate_admin::{AdminConfig, NewLink, Reach, Role};

use crate::stage::{PASSWORD, Reply, Stage, User};

async fn first_link(stage: &Stage) -> String {
    let new = NewLink { account: None, role: Role::Admin, first: true, by: "a test".into() };
    stage.accounts().link(new).await.unwrap().0.expose().to_owned()
}

async fn set_up(stage: &Stage, link: &str, account: Option<&str>, password: &str) -> Reply {
    let mut body = json!({"link": link, "password": password});
    if let Some(account) = account {
        body["account"] = account.into();
    }
    stage.ask("POST", "/setup").csrf("0").json(&body).send().await
}

async fn log_in(stage: &Stage, account: &str, password: &str) -> Reply {
    let body = json!({"account": account, "password": password});
    stage.ask("POST", "/session").csrf("0").json(&body).send().await
}

async fn is_in(stage: &Stage, user: &User) -> bool {
    stage.ask("GET", "/session").by(user).send().await.status == 200
}

#[tokio::test]
async fn the_first_account_needs_the_link_and_the_link_is_good_for_one() {
    let stage = Stage::new();
    assert_eq!(stage.ask("GET", "/setup").send().await.json(), json!({"needed": true}));
    for wrong in ["", "abc", &"x".repeat(43)] {
        let reply = set_up(&stage, wrong, Some("ada"), PASSWORD).await;
        assert_eq!((reply.status, reply.problem().as_str()), (403, "link"));
    }
    let link = first_link(&stage).await;
    let weak = set_up(&stage, &link, Some("ada"), "short").await;
    assert_eq!((weak.status, weak.json()["fields"][0]["name"].as_str()), (422, Some("password")));
    for name in ["", "A", "a b", "a/b", &"a".repeat(65)] {
        let bad = set_up(&stage, &link, Some(name), PASSWORD).await;
        assert_eq!((bad.status, bad.json()["fields"][0]["name"].as_str()), (422, Some("account")), "{name}");
    }
    let ada = set_up(&stage, &link, Some("ada"), PASSWORD).await.user();
    assert!(is_in(&stage, &ada).await);
    assert_eq!(set_up(&stage, &link, Some("eve"), PASSWORD).await.problem(), "link");
    assert_eq!(stage.ask("GET", "/setup").send().await.json(), json!({"needed": false}));
    assert_eq!(stage.accounts().list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_link_of_a_start_before_is_void_once_there_is_an_account() {
    let stage = Stage::new();
    let (one, other) = (first_link(&stage).await, first_link(&stage).await);
    set_up(&stage, &one, Some("ada"), PASSWORD).await.user();
    assert_eq!(set_up(&stage, &other, Some("eve"), PASSWORD).await.problem(), "link");
}

#[tokio::test]
async fn a_link_is_good_for_a_day() {
    let stage = Stage::new();
    let link = first_link(&stage).await;
    stage.clock.advance(Duration::from_secs(24 * 3600));
    assert_eq!(set_up(&stage, &link, Some("ada"), PASSWORD).await.problem(), "link");
}

#[tokio::test]
async fn a_link_of_the_command_line_takes_nobody_s_account_and_is_good_for_one() {
    let stage = Stage::new();
    stage.admin().await;
    let new = NewLink { account: None, role: Role::Viewer, first: false, by: "a test".into() };
    let (link, _) = stage.accounts().link(new).await.unwrap();
    let taken = set_up(&stage, link.expose(), Some("admin0"), PASSWORD).await;
    assert_eq!((taken.status, taken.json()["fields"][0]["detail"].as_str()), (422, Some("is taken")));
    set_up(&stage, link.expose(), Some("new"), PASSWORD).await.user();
    let again = set_up(&stage, link.expose(), Some("another"), PASSWORD).await;
    assert_eq!(again.problem(), "link", "it was used");
}

#[tokio::test]
async fn a_link_dies_with_the_role_of_whoever_made_it() {
    for taken in ["DELETE", "PUT"] {
        let stage = Stage::new();
        let (ada, eve) = (stage.admin().await, stage.admin().await);
        let invite = json!({"account": "eve2", "role": "admin"});
        let made = stage.post(&eve, "/accounts", &invite).await.json();
        let link = made["path"].as_str().unwrap().split(['=', '&']).nth(1).unwrap().to_owned();
        let path = if taken == "PUT" { "/accounts/admin1/role" } else { "/accounts/admin1" };
        let ask = stage.ask(taken, path).by(&ada);
        let ask = if taken == "PUT" { ask.json(&json!({"role": "viewer"})) } else { ask };
        assert!(ask.send().await.status < 300);
        assert_eq!(set_up(&stage, &link, None, PASSWORD).await.problem(), "link", "{taken}");
    }
}

#[tokio::test]
async fn a_cookie_is_for_this_page_alone() {
    let stage = Stage::new();
    let link = first_link(&stage).await;
    let reply = set_up(&stage, &link, Some("ada"), PASSWORD).await;
    let cookie = reply.header("set-cookie");
    assert!(cookie.starts_with("toolgate-3000="), "{cookie}");
    assert!(cookie.ends_with("; Path=/admin; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!reply.text().contains(cookie.split(['=', ';']).nth(1).unwrap()), "the page never sees it");
}

#[tokio::test]
async fn logging_in_needs_name_and_password() {
    let stage = Stage::new();
    stage.admin().await;
    for (account, password) in [("admin0", "wrong"), ("nobody", PASSWORD), ("", ""), ("admin0\0", PASSWORD)] {
        let reply = log_in(&stage, account, password).await;
        assert_eq!(reply.status, 401, "{account}");
        assert_eq!(reply.json()["detail"], "name or password is wrong", "{account}");
    }
    let user = log_in(&stage, "admin0", PASSWORD).await.user();
    let session = stage.get(&user, "/session").await;
    assert_eq!((&session["account"], &session["role"]), (&json!("admin0"), &json!("admin")));
}

#[tokio::test]
async fn who_guesses_has_to_wait_even_with_the_right_password() {
    let stage = Stage::new();
    stage.admin().await;
    for _ in 0..5 {
        assert_eq!(log_in(&stage, "admin0", "wrong").await.status, 401);
    }
    let reply = log_in(&stage, "admin0", PASSWORD).await;
    assert_eq!((reply.status, reply.header("retry-after")), (429, "2"));
    stage.clock.advance(Duration::from_secs(2));
    log_in(&stage, "admin0", PASSWORD).await.user();
}

#[tokio::test]
async fn behind_a_proxy_one_guesser_does_not_keep_the_others_waiting() {
    let stage = Stage::new();
    stage.admin().await;
    let reach = Reach { public_url: Some("https://tools.example".into()), ..Reach::default() };
    stage.admin.set(&AdminConfig::default(), &reach);
    let guess = async |host: &str, name: String, address: &str| {
        let body = json!({"account": name, "password": "wrong"});
        let ask = stage.ask("POST", "/session").csrf("0").json(&body).header("host", host);
        ask.header("x-forwarded-for", address).send().await.status
    };
    for count in 0..5 {
        assert_eq!(guess("tools.example", format!("a{count}"), "198.51.100.9, 192.0.2.1").await, 401);
    }
    assert_eq!(guess("tools.example", "b".into(), "203.0.113.3, 192.0.2.1").await, 429);
    assert_eq!(guess("tools.example", "b".into(), "192.0.2.1, 192.0.2.2").await, 401);
    // Without a proxy anyone may claim anything.
    for count in 0..5 {
        guess("localhost", format!("c{count}"), &format!("192.0.2.1{count}")).await;
    }
    assert_eq!(guess("localhost", "d".into(), "192.0.2.99").await, 429);
}

#[tokio::test]
async fn many_guesses_at_once_are_many_guesses() {
    let stage = Stage::new();
    stage.admin().await;
    let guesses = (0..40).map(|_| log_in(&stage, "admin0", "wrong"));
    let mut refused = 0;
    for reply in futures(guesses).await {
        refused += usize::from(reply.status == 429);
    }
    assert!(refused >= 35, "{refused}");
}

/// All at once, as far as one thread goes.
async fn futures<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = all.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, done) in all.iter_mut().filter(|(_, done)| done.is_none()) {
            if let std::task::Poll::Ready(output) = future.as_mut().poll(context) {
                *done = Some(output);
            }
        }
        let ready = all.iter().all(|(_, done)| done.is_some());
        if ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    all.into_iter().filter_map(|(_, done)| done).collect()
}

#[tokio::test]
async fn logging_out_ends_that_login_and_no_other() {
    let stage = Stage::new();
    let here = stage.admin().await;
    let there = log_in(&stage, "admin0", PASSWORD).await.user();
    let reply = stage.ask("DELETE", "/session").by(&here).send().await;
    assert_eq!(reply.status, 204);
    assert!(reply.header("set-cookie").ends_with("Max-Age=0"));
    assert!(!is_in(&stage, &here).await && is_in(&stage, &there).await);
}

#[tokio::test]
async fn a_login_ends_when_it_is_not_used_and_after_some_hours_in_any_case() {
    let stage = Stage::new();
    let idle = stage.admin().await;
    stage.clock.advance(Duration::from_secs(59 * 60));
    assert!(is_in(&stage, &idle).await);
    stage.clock.advance(Duration::from_secs(61 * 60));
    assert!(!is_in(&stage, &idle).await);
    let busy = log_in(&stage, "admin0", PASSWORD).await.user();
    for _ in 0..23 {
        stage.clock.advance(Duration::from_secs(30 * 60));
        assert!(is_in(&stage, &busy).await);
    }
    stage.clock.advance(Duration::from_secs(31 * 60));
    assert!(!is_in(&stage, &busy).await);
}

#[tokio::test]
async fn another_password_ends_all_other_logins() {
    let stage = Stage::new();
    let here = stage.admin().await;
    let there = log_in(&stage, "admin0", PASSWORD).await.user();
    let put = |body: serde_json::Value| stage.ask("PUT", "/session/password").by(&here).json(&body);
    let wrong = put(json!({"old": "wrong", "new": "another long password"})).send().await;
    assert_eq!((wrong.status, wrong.json()["fields"][0]["name"].as_str()), (422, Some("old")));
    let weak = put(json!({"old": PASSWORD, "new": "weak"})).send().await;
    assert_eq!((weak.status, weak.json()["fields"][0]["name"].as_str()), (422, Some("new")));
    assert!(is_in(&stage, &there).await, "nothing changed yet");
    let now = put(json!({"old": PASSWORD, "new": "another long password"})).send().await.user();
    assert!(is_in(&stage, &now).await);
    assert!(!is_in(&stage, &here).await && !is_in(&stage, &there).await);
    assert_eq!(log_in(&stage, "admin0", PASSWORD).await.status, 401);
    log_in(&stage, "admin0", "another long password").await.user();
}

#[tokio::test]
async fn an_account_has_only_so_many_logins() {
    let stage = Stage::new();
    let first = stage.admin().await;
    for _ in 0..16 {
        stage.clock.advance(Duration::from_millis(1));
        log_in(&stage, "admin0", PASSWORD).await.user();
    }
    assert!(!is_in(&stage, &first).await);
}

#[tokio::test]
async fn someone_is_invited_and_given_another_role_and_removed() {
    let stage = Stage::new();
    let admin = stage.admin().await;
    let made = stage.post(&admin, "/accounts", &json!({"account": "ada", "role": "viewer"})).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let path = made.json()["path"].as_str().unwrap().to_owned();
    let (link, account) = path.strip_prefix("/admin#setup=").unwrap().split_once("&account=").unwrap();
    assert_eq!(account, "ada");
    let other = set_up(&stage, link, Some("eve"), PASSWORD).await;
    assert_eq!(other.json()["fields"][0]["name"], "account");
    let ada = set_up(&stage, link, None, PASSWORD).await.user();
    assert_eq!(stage.get(&ada, "/session").await["role"], "viewer");
    let role = |role: &str| stage.ask("PUT", "/accounts/ada/role").by(&admin).json(&json!({"role": role}));
    assert_eq!(role("approver").send().await.json()["role"], "approver");
    assert_eq!(stage.get(&ada, "/session").await["role"], "approver", "from the next request on");
    let again = stage.post(&admin, "/accounts", &json!({"account": "ada", "role": "admin"})).await;
    assert_eq!(again.status, 422);
    assert_eq!(stage.ask("DELETE", "/accounts/ada").by(&admin).send().await.status, 204);
    assert!(!is_in(&stage, &ada).await);
    assert_eq!(log_in(&stage, "ada", PASSWORD).await.status, 401);
}

#[tokio::test]
async fn a_new_password_is_chosen_by_a_link_which_dies_with_the_account() {
    let stage = Stage::new();
    let (admin, ada) = (stage.admin().await, stage.user(Role::Viewer).await);
    let link = async || {
        let made = stage.ask("POST", "/accounts/viewer1/link").by(&admin).send().await;
        let path = made.json()["path"].as_str().unwrap().to_owned();
        path.strip_prefix("/admin#setup=").unwrap().split_once('&').unwrap().0.to_owned()
    };
    let (one, other) = (link().await, link().await);
    let anew = set_up(&stage, &one, None, "another long password").await.user();
    assert_eq!(stage.get(&anew, "/session").await["role"], "viewer");
    assert!(!is_in(&stage, &ada).await);
    assert_eq!(stage.ask("DELETE", "/accounts/viewer1").by(&admin).send().await.status, 204);
    assert_eq!(set_up(&stage, &other, None, PASSWORD).await.problem(), "link");
    assert_eq!(stage.ask("POST", "/accounts/viewer1/link").by(&admin).send().await.status, 404);
}

#[tokio::test]
async fn somebody_is_always_left_who_may_change_everything() {
    let stage = Stage::new();
    let admin = stage.admin().await;
    let remove = stage.ask("DELETE", "/accounts/admin0").by(&admin).send().await;
    assert_eq!((remove.status, remove.problem().as_str()), (409, "conflict"));
    let demote = stage.ask("PUT", "/accounts/admin0/role").by(&admin).json(&json!({"role": "viewer"}));
    assert_eq!(demote.send().await.status, 409);
    stage.admin().await;
    assert_eq!(stage.ask("DELETE", "/accounts/admin0").by(&admin).send().await.status, 204);
}

#[tokio::test]
async fn of_two_who_take_each_other_s_place_at_the_same_moment_one_is_left() {
    let demoted = Some(Role::Viewer);
    for (first, second) in [(demoted, demoted), (None, None), (demoted, None)] {
        let stage = Stage::new();
        for _ in 0..2 {
            stage.admin().await;
        }
        stage.store.gather(2);
        let take = async |name: &str, role: Option<Role>| match role {
            Some(role) => stage.accounts().set_role(name, role).await.map(drop),
            None => stage.accounts().remove(name).await,
        };
        let (one, other) = tokio::join!(take("admin0", first), take("admin1", second));
        let refused = [&one, &other].into_iter().filter_map(|taken| taken.as_ref().err());
        let refused: Vec<_> = refused.map(|error| error.to_string()).collect();
        assert!(refused.len() == 1 && refused[0].contains("is the last account"), "{refused:?}");
        let all = stage.accounts().list().await.unwrap();
        assert_eq!(all.iter().filter(|account| account.role == Role::Admin).count(), 1, "{all:?}");
    }
}

#[tokio::test]
async fn all_logins_of_an_account_are_ended_at_once() {
    let stage = Stage::new();
    let (admin, ada) = (stage.admin().await, stage.user(Role::Viewer).await);
    assert_eq!(stage.ask("DELETE", "/accounts/viewer1/sessions").by(&admin).send().await.status, 204);
    assert!(!is_in(&stage, &ada).await && is_in(&stage, &admin).await);
    log_in(&stage, "viewer1", PASSWORD).await.user();
}

#[tokio::test]
async fn nobody_gets_in_while_the_store_is_away() {
    let stage = Stage::new();
    let admin = stage.admin().await;
    stage.store.fail(true);
    let reply = stage.ask("GET", "/session").by(&admin).send().await;
    assert_eq!((reply.status, reply.problem().as_str()), (503, "store"));
    assert!(log_in(&stage, "admin0", PASSWORD).await.status >= 500);
    stage.store.fail(false);
    assert!(is_in(&stage, &admin).await);
}
