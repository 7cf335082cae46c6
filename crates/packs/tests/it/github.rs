//! The tools of `github` through the hub, to a server that plays GitHub.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use toolgate_core::{Error, Hub, Kind};
use toolgate_host::Secret;
use toolgate_packs::{Github, GithubConfig, Unready};

use crate::peer::{Answer, Peer, TOKEN, ask, cancelled_while_waiting, hub, json_answer, page};

fn config(url: &str, repos: &[&str]) -> GithubConfig {
    let repos = repos.iter().map(ToString::to_string).collect();
    GithubConfig { token: Some("{secret:GH}".into()), base_url: format!("{url}/api/v3"), repos }
}

fn github(config: &GithubConfig) -> Result<Github, Unready> {
    Github::new(config, |text| {
        assert_eq!(text, "{secret:GH}");
        Ok(Secret::new(TOKEN.into()))
    })
}

fn hub_at(peer: &Peer) -> Hub {
    hub(github(&config(&peer.url, &[])).unwrap())
}

/// An issue as GitHub writes it, in what matters.
fn issue(number: u64) -> Value {
    json!({
        "id": number + 1000, "number": number, "title": format!("issue {number}"), "state": "open", "locked": false,
        "user": {"login": "ada", "id": 1}, "labels": [{"id": 1, "name": "bug", "color": "f00"}, "plain"],
        "assignees": [{"login": "bob", "id": 2}], "comments": 2, "body": "What happens", "draft": false,
        "created_at": "2026-07-01T08:00:00Z", "updated_at": "2026-07-28T09:30:00Z", "closed_at": null,
        "html_url": format!("https://github.example/octo/repo/issues/{number}"),
        "repository_url": "https://github.example/api/v3/repos/octo/repo",
    })
}

fn pull(number: u64) -> Value {
    let mut pull = issue(number);
    pull["pull_request"] = json!({"url": "https://github.example/api/v3/repos/octo/repo/pulls/1"});
    pull
}

fn with_next(answer: Answer) -> Answer {
    let link = "<https://github.example/api/v3/repositories/1/issues?page=2>; rel=\"next\", \
        <https://github.example/api/v3/repositories/1/issues?page=9>; rel=\"last\"";
    answer.header("link", link).header("x-ratelimit-remaining", 4999)
}

fn at_repo(extra: Value) -> Value {
    let mut input = json!({"owner": "octo", "repo": "repo"});
    input.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    input
}

#[tokio::test]
async fn issues_are_listed_without_pull_requests() {
    let peer = Peer::start([with_next(json_answer(200, &json!([issue(7), pull(6), issue(5)])))]).await;
    let (listed, _) = ask(&hub_at(&peer), "github_list_issues", at_repo(json!({}))).await;
    let listed = listed.unwrap();
    let expect = json!({
        "number": 7, "title": "issue 7", "state": "open", "author": "ada", "labels": ["bug", "plain"],
        "assignees": ["bob"], "comments": 2, "created": "2026-07-01T08:00:00Z", "updated": "2026-07-28T09:30:00Z",
        "url": "https://github.example/octo/repo/issues/7",
    });
    assert_eq!(listed["items"][0], expect);
    assert_eq!((&listed["items"][1]["number"], listed["items"].as_array().unwrap().len()), (&json!(5), 2));
    let rest = (&listed["pulls_left_out"], &listed["next_page"], &listed["requests_left"]);
    assert_eq!(rest, (&json!(1), &json!(2), &json!(4999)));
    let asked = &peer.asked()[0];
    assert_eq!(asked.line, "GET /api/v3/repos/octo/repo/issues?state=open&page=1&per_page=30");
    for header in [
        &format!("authorization: Bearer {TOKEN}"),
        "accept: application/vnd.github+json",
        "x-github-api-version: 2022-11-28",
        concat!("user-agent: toolgate/", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(asked.has(header), "{header}");
    }
}

#[tokio::test]
async fn filters_reach_github_as_they_are_meant() {
    let peer = Peer::start([json_answer(200, &json!([]))]).await;
    let filters = json!({"state": "all", "labels": ["good first issue", "a&b"], "assignee": "*",
        "since": "2026-07-28", "page": 3, "per_page": 100});
    let (listed, _) = ask(&hub_at(&peer), "github_list_issues", at_repo(filters)).await;
    assert_eq!(listed.unwrap(), json!({"items": [], "pulls_left_out": 0}));
    let expect = "GET /api/v3/repos/octo/repo/issues?state=all&labels=good+first+issue%2Ca%26b&assignee=*\
        &since=2026-07-28T00%3A00%3A00Z&page=3&per_page=100";
    assert_eq!(peer.lines(), [expect]);
}

#[tokio::test]
async fn pages_of_nothing_but_pull_requests_are_passed_over() {
    let only_pulls = || with_next(json_answer(200, &json!([pull(9), pull(8)])));
    let peer =
        Peer::start([only_pulls(), only_pulls(), with_next(json_answer(200, &json!([pull(5), issue(4)])))])
            .await;
    let (listed, _) = ask(&hub_at(&peer), "github_list_issues", at_repo(json!({}))).await;
    let listed = listed.unwrap();
    assert_eq!((&listed["items"][0]["number"], &listed["pulls_left_out"]), (&json!(4), &json!(5)));
    assert_eq!(listed["next_page"], 4);

    let peer = Peer::start((0..9).map(|_| only_pulls())).await;
    let (listed, _) = ask(&hub_at(&peer), "github_list_issues", at_repo(json!({"page": 2}))).await;
    let listed = listed.unwrap();
    assert_eq!((&listed["items"], &listed["next_page"], peer.asked().len()), (&json!([]), &json!(7), 5));
}

#[tokio::test]
async fn names_that_are_none_never_reach_github() {
    let peer = Peer::start([]).await;
    let hub = hub_at(&peer);
    for (owner, repo) in [
        ("octo/repo/../..", "user"),
        ("octo", "../../user"),
        ("octo", "repo/issues?state=all#"),
        ("octo", ".."),
        ("", "repo"),
        ("octo%2f", "repo"),
    ] {
        for (tool, more) in [
            ("github_list_issues", json!({})),
            ("github_get_issue", json!({"number": 1})),
            ("github_create_issue", json!({"title": "x"})),
            ("github_comment", json!({"number": 1, "body": "x"})),
            ("github_list_pulls", json!({})),
            ("github_search_issues", json!({"query": "x"})),
        ] {
            let mut input = json!({"owner": owner, "repo": repo});
            input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert_eq!(
                ask(&hub, tool, input).await.0.unwrap_err().kind(),
                Kind::InvalidInput,
                "{tool} {owner}/{repo}"
            );
        }
    }
    for wrong in [
        json!({"labels": ["a,b"]}),
        json!({"assignee": "a b"}),
        json!({"since": "yesterday"}),
        json!({"state": "any"}),
        json!({"per_page": 101}),
        json!({"page": 0}),
        json!({"number": 1}),
    ] {
        let (listed, _) = ask(&hub, "github_list_issues", at_repo(wrong.clone())).await;
        assert_eq!(listed.unwrap_err().kind(), Kind::InvalidInput, "{wrong}");
    }
    assert_eq!(peer.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn an_issue_comes_with_its_comments() {
    let comment = |id: u64| {
        json!({"id": id, "user": null, "body": "täxt".repeat(10), "created_at": "2026-07-02T00:00:00Z",
        "html_url": format!("https://github.example/c/{id}")})
    };
    let peer = Peer::start([
        json_answer(200, &pull(7)),
        with_next(json_answer(200, &json!([comment(1), comment(2)]))),
    ])
    .await;
    let input = at_repo(json!({"number": 7, "page": 2, "per_page": 2, "max_body": 6}));
    let got = ask(&hub_at(&peer), "github_get_issue", input).await.0.unwrap();
    assert_eq!(
        (&got["issue"]["number"], &got["is_pull_request"], &got["next_page"]),
        (&json!(7), &json!(true), &json!(3))
    );
    assert_eq!(got["body"], "What h… [6 more characters; raise `max_body` to see them]");
    let expect = json!({"author": "ghost", "created": "2026-07-02T00:00:00Z", "url": "https://github.example/c/2",
        "body": "täxttä… [34 more characters; raise `max_body` to see them]"});
    assert_eq!(got["comments"][1], expect);
    let expect = [
        "GET /api/v3/repos/octo/repo/issues/7",
        "GET /api/v3/repos/octo/repo/issues/7/comments?page=2&per_page=2",
    ];
    assert_eq!(peer.lines(), expect);

    let mut silent = issue(8);
    silent["comments"] = json!(0);
    let peer = Peer::start([json_answer(200, &silent)]).await;
    let got = ask(&hub_at(&peer), "github_get_issue", at_repo(json!({"number": 8}))).await.0.unwrap();
    assert_eq!((&got["body"], &got["comments"]), (&json!("What happens"), &json!([])));
}

#[tokio::test]
async fn an_issue_is_created_and_what_github_left_out_is_told() {
    let peer = Peer::start([json_answer(201, &issue(8))]).await;
    let input = at_repo(
        json!({"title": "It breaks", "body": "Often", "labels": ["Bug", "urgent"], "assignees": ["eve"]}),
    );
    let created = ask(&hub_at(&peer), "github_create_issue", input).await.0.unwrap();
    assert_eq!((&created["issue"]["number"], &created["not_set"]), (&json!(8), &json!(["urgent", "eve"])));
    let asked = &peer.asked()[0];
    assert_eq!(asked.line, "POST /api/v3/repos/octo/repo/issues");
    let expect =
        json!({"title": "It breaks", "body": "Often", "labels": ["Bug", "urgent"], "assignees": ["eve"]});
    assert_eq!(asked.body, expect);

    let (empty, _) = ask(&hub_at(&peer), "github_create_issue", at_repo(json!({"title": " "}))).await;
    assert_eq!(empty.unwrap_err().message(), "`title` is empty");
}

#[tokio::test]
async fn a_comment_is_made() {
    let made = json!({"id": 31, "body": "Me too", "html_url": "https://github.example/c/31"});
    let peer = Peer::start([json_answer(201, &made)]).await;
    let made = ask(&hub_at(&peer), "github_comment", at_repo(json!({"number": 7, "body": "Me too"})))
        .await
        .0
        .unwrap();
    assert_eq!(made, json!({"id": 31, "url": "https://github.example/c/31"}));
    assert_eq!(peer.lines(), ["POST /api/v3/repos/octo/repo/issues/7/comments"]);
    assert_eq!(peer.asked()[0].body, json!({"body": "Me too"}));
}

#[tokio::test]
async fn pull_requests_are_listed() {
    let mut merged = issue(3);
    merged["merged_at"] = json!("2026-07-29T00:00:00Z");
    merged["head"] = json!({"label": "ada:topic", "ref": "topic"});
    merged["base"] = json!({"label": "octo:main", "ref": "main"});
    let peer = Peer::start([with_next(json_answer(200, &json!([merged])))]).await;
    let input = at_repo(json!({"state": "closed", "head": "ada:topic", "base": "main"}));
    let listed = ask(&hub_at(&peer), "github_list_pulls", input).await.0.unwrap();
    let first = &listed["items"][0];
    assert_eq!(
        (&first["state"], &first["head"], &first["base"]),
        (&json!("merged"), &json!("ada:topic"), &json!("main"))
    );
    assert_eq!(listed["next_page"], 2);
    let expect =
        "GET /api/v3/repos/octo/repo/pulls?state=closed&head=ada%3Atopic&base=main&page=1&per_page=30";
    assert_eq!(peer.lines(), [expect]);
    let (listed, _) = ask(&hub_at(&peer), "github_list_pulls", at_repo(json!({"head": "topic"}))).await;
    assert_eq!(listed.unwrap_err().next_step(), Some("write `OWNER:topic`"));
}

fn found(items: &[Value]) -> Answer {
    json_answer(200, &json!({"total_count": items.len(), "incomplete_results": false, "items": items}))
}

#[tokio::test]
async fn a_search_stays_where_it_is_told_to() {
    let mut elsewhere = issue(2);
    elsewhere["repository_url"] = json!("https://github.example/api/v3/repos/other/repo");
    let peer = Peer::start([found(&[issue(1), elsewhere.clone()]), found(&[issue(1), elsewhere])]).await;
    let hub = hub_at(&peer);
    let everywhere = ask(&hub, "github_search_issues", json!({"query": "crash & burn"})).await.0.unwrap();
    assert_eq!(everywhere["items"][1]["repo"], "other/repo");
    let here = ask(&hub, "github_search_issues", at_repo(json!({"query": "crash", "kind": "pull_request"})))
        .await
        .0
        .unwrap();
    assert_eq!(
        (&here["items"][0]["repo"], here["items"].as_array().unwrap().len()),
        (&json!("octo/repo"), 1)
    );
    let expect = [
        "GET /api/v3/search/issues?q=crash+%26+burn+is%3Aissue&page=1&per_page=30",
        "GET /api/v3/search/issues?q=crash+is%3Apull-request+repo%3Aocto%2Frepo&page=1&per_page=30",
    ];
    assert_eq!(peer.lines(), expect);
    for wrong in [json!({"query": "x", "owner": "octo"}), json!({"query": " "})] {
        assert_eq!(ask(&hub, "github_search_issues", wrong).await.0.unwrap_err().kind(), Kind::InvalidInput);
    }
}

#[tokio::test]
async fn only_listed_repositories_are_used() {
    let mut elsewhere = issue(2);
    elsewhere["repository_url"] = json!("https://github.example/api/v3/repos/other/repo");
    let peer = Peer::start([found(&[elsewhere, issue(1)])]).await;
    let hub = hub(github(&config(&peer.url, &["Octo/Repo"])).unwrap());
    for (tool, input, kind) in [
        ("github_list_issues", json!({"owner": "octo", "repo": "repo2"}), Kind::Denied),
        ("github_create_issue", json!({"owner": "other", "repo": "repo", "title": "x"}), Kind::Denied),
        ("github_search_issues", json!({"query": "x"}), Kind::InvalidInput),
        ("github_search_issues", json!({"query": "x", "owner": "other", "repo": "repo"}), Kind::Denied),
        ("github_search_issues", at_repo(json!({"query": "x repo:other/repo"})), Kind::Denied),
        ("github_search_issues", at_repo(json!({"query": "(x OR Org:other)"})), Kind::Denied),
        ("github_search_issues", at_repo(json!({"query": "x OR y"})), Kind::Denied),
    ] {
        assert_eq!(ask(&hub, tool, input.clone()).await.0.unwrap_err().kind(), kind, "{tool} {input}");
    }
    assert_eq!(peer.lines(), Vec::<String>::new());
    let here = ask(&hub, "github_search_issues", at_repo(json!({"query": "x"}))).await.0.unwrap();
    assert_eq!(
        (&here["items"][0]["repo"], here["items"].as_array().unwrap().len()),
        (&json!("octo/repo"), 1)
    );
}

fn said(status: u16, message: &str) -> Answer {
    json_answer(
        status,
        &json!({"message": message, "documentation_url": "https://docs.github.com/rest", "status": status.to_string()}),
    )
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

#[tokio::test]
async fn short_waits_are_waited_and_told() {
    let second = said(403, "You have exceeded a secondary rate limit").header("retry-after", 1);
    let peer = Peer::start([second, json_answer(201, &issue(8))]).await;
    let (created, told) = ask(&hub_at(&peer), "github_create_issue", at_repo(json!({"title": "x"}))).await;
    assert_eq!(created.unwrap()["issue"]["number"], 8);
    assert_eq!((told, peer.asked().len()), (vec!["GitHub asks to wait 1 s".to_owned()], 2));

    let long = said(429, "slow down").header("retry-after", 29);
    let peer = Peer::start([long]).await;
    let error = cancelled_while_waiting(&hub_at(&peer), "github_list_issues", at_repo(json!({}))).await;
    assert_eq!((error.kind(), peer.asked().len()), (Kind::Cancelled, 1));
}

#[tokio::test]
async fn a_limit_that_is_used_up_is_left_alone_until_it_is_renewed() {
    let used_up = said(403, "API rate limit exceeded for user ID 1.")
        .header("x-ratelimit-remaining", 0)
        .header("x-ratelimit-reset", now() + 1800);
    let peer = Peer::start([used_up, found(&[])]).await;
    let hub = hub_at(&peer);
    for _ in 0..3 {
        let error = ask(&hub, "github_list_issues", at_repo(json!({}))).await.0.unwrap_err();
        assert_eq!((error.kind(), error.next_step()), (Kind::RateLimited, Some("try again in 30 min")));
    }
    assert_eq!(peer.asked().len(), 1, "GitHub is not asked while it does not want to be");
    // Searches are counted on their own.
    ask(&hub, "github_search_issues", json!({"query": "x"})).await.0.unwrap();

    let last = json_answer(200, &json!([]))
        .header("x-ratelimit-remaining", 0)
        .header("x-ratelimit-reset", now() + 60);
    let peer = Peer::start([last]).await;
    let hub = hub_at(&peer);
    assert_eq!(ask(&hub, "github_list_issues", at_repo(json!({}))).await.0.unwrap()["requests_left"], 0);
    let error = ask(&hub, "github_list_issues", at_repo(json!({}))).await.0.unwrap_err();
    assert_eq!((error.kind(), peer.asked().len()), (Kind::RateLimited, 1));
}

async fn refused(tool: &str, more: Value, answer: Answer) -> Error {
    let peer = Peer::start([answer]).await;
    let (got, _) = ask(&hub_at(&peer), tool, at_repo(more)).await;
    assert_eq!(peer.asked().len(), 1, "nothing is tried again");
    got.unwrap_err()
}

#[tokio::test]
async fn refusals_are_put_in_words() {
    #[track_caller]
    fn check(error: &Error, kind: Kind, message: &str) {
        assert_eq!((error.kind(), error.message()), (kind, message));
    }
    let list = |answer| refused("github_list_issues", json!({}), answer);
    check(&list(said(401, "Bad credentials")).await, Kind::Unauthorized, "GitHub does not accept the token");
    let error = list(said(403, &format!("Resource not accessible by {TOKEN}"))).await;
    check(&error, Kind::Denied, "GitHub does not let the token do that: Resource not accessible by [token]");
    let error = list(said(404, "Not Found")).await;
    check(&error, Kind::NotFound, "GitHub does not know it, or the token may not see it");
    let moved = said(301, "Moved Permanently").header("location", "http://127.0.0.1:1/repositories/1/issues");
    check(&list(moved).await, Kind::NotFound, "the repository has another name by now");
    check(
        &list(said(410, "Issues are disabled")).await,
        Kind::NotFound,
        "it is gone or switched off: Issues are disabled",
    );
    check(&list(page(502)).await, Kind::ConnectionFailed, "GitHub answered 502");
    check(&list(page(200)).await, Kind::Upstream, "GitHub answered 200 with something else than it should");
    let odd = json_answer(200, &json!({"message": "no list"}));
    check(&list(odd).await, Kind::Upstream, "GitHub answered 200 with something else than it should");
    check(&list(Answer::CutOff).await, Kind::ConnectionFailed, "GitHub broke off its answer");
    check(&list(Answer::Silence).await, Kind::Timeout, "GitHub did not answer in time");
    let large = json_answer(200, &json!(["x".repeat(2 << 20)]));
    let error = list(large).await;
    assert_eq!(error.next_step(), Some("ask for fewer at once with `per_page`"));
    let wrong = json_answer(
        422,
        &json!({"message": "Validation Failed",
        "errors": [{"resource": "Issue", "field": "assignees", "code": "invalid"}, {"message": "no"}]}),
    );
    let error = refused("github_create_issue", json!({"title": "x"}), wrong).await;
    check(&error, Kind::InvalidInput, "GitHub does not take it: Validation Failed (assignees: invalid; no)");
}

#[tokio::test]
async fn what_may_have_been_created_is_not_said_to_be_retryable() {
    for answer in [page(500), page(201), Answer::CutOff] {
        for (tool, more) in [
            ("github_create_issue", json!({"title": "x"})),
            ("github_comment", json!({"number": 1, "body": "x"})),
        ] {
            let error = refused(tool, more, answer.clone()).await;
            assert!(error.message().starts_with("it may have been created or not: "), "{error}");
            assert!(!error.kind().retryable());
        }
    }
}

#[test]
fn a_configuration_says_what_it_lacks_and_what_is_wrong() {
    let here = "http://127.0.0.1:1";
    let error = Github::new(&GithubConfig::default(), |_| panic!("there is nothing to fill")).unwrap_err();
    assert!(matches!(&error, Unready::Needs(needs) if needs == "set `github.token`"), "{error}");
    let error = github(&config(here, &["octo"])).unwrap_err();
    assert!(matches!(&error, Unready::Wrong { key, .. } if key == "github.repos"), "{error}");
    let error = github(&config("http://github.example", &[])).unwrap_err();
    assert!(matches!(&error, Unready::Wrong { key, .. } if key == "github.base_url"), "{error}");
}
