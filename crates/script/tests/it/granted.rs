//! What a script reaches: what its approved header names, and no more.

use serde_json::json;
use toolgate_core::{Answers, Call, Error, Event, Kind, Outcome, Principal, Target, Verdict};
use toolgate_testkit::{FakeGate, client_legacy};
use toolgate_wire::Raw;

use crate::scene::{Scene, answer, check_failed};
use crate::server::echoing;

#[tokio::test]
async fn only_named_secrets_are_seen_and_as_they_are_now() {
    let scene = Scene::new();
    let set = |name: &str, value: &str| scene.secrets.lock().unwrap().insert(name.into(), value.into());
    set("API_KEY", "first-value");
    set("OTHER", "other-value");
    scene.approved("s.star", "# @secrets: API_KEY, LATER\nresult = [secrets.get('API_KEY'), secrets.get('LATER'), secrets.list()]").await;
    assert_eq!(scene.run("s").await.unwrap(), json!(["first-value", null, ["API_KEY"]]));
    set("API_KEY", "second-value");
    set("LATER", "late-value");
    assert_eq!(scene.run("s").await.unwrap(), json!(["second-value", "late-value", ["API_KEY", "LATER"]]));
    check_failed(
        scene.run_source("# @secrets: API_KEY\nsecrets.get('OTHER')").await,
        Kind::InvalidInput,
        &["the secret `OTHER` is not among the `@secrets`"],
    );
}

#[tokio::test]
async fn only_named_tools_are_called_as_the_caller() {
    let scene = Scene::new();
    let source = r#"# @tools: echo_*
def main():
    names = [tool["name"] for tool in tools.list()]
    failed = tools.try_call("echo_fail", {"text": "luck"})
    return [tools.call("echo_data", {"text": "a"}), tools.call("echo_text", {"text": "b"}), failed, names]
"#;
    scene.approved("t.star", source).await;
    let expect = |who: &str| {
        json!([
            {"text": "a", "by": who},
            "b",
            {"ok": false, "error": "no luck"},
            ["echo_data", "echo_fail", "echo_sleep", "echo_text"],
        ])
    };
    for who in ["ada", "grace"] {
        let answered = answer(scene.call_as(who, "script_run", json!({"name": "t"})).await).unwrap();
        assert_eq!(answered["result"], expect(who));
    }
    for (source, words) in [
        ("# @tools: echo_text\ntools.call('echo_data')", "the tool `echo_data` is not among the `@tools`"),
        ("tools.call('echo_data')", "the tool `echo_data` is not among the `@tools`"),
        ("# @tools: *\ntools.call('script_run', {'name': 'test'})", "by `load`"),
        ("# @tools: *\ntools.call('script_exec', {'code': '1'})", "by `load`"),
        ("# @tools: *\ntools.call('nothing')", "unknown tool `nothing`"),
        ("# @tools: *\ntools.call('tools_call', {'name': 'echo_text'})", "unknown tool `tools_call`"),
        ("# @tools: *\ntools.call('echo_text', [1])", "are a dict"),
        ("# @tools: *\ntools.call('echo_text', {'text': 1})", "text"),
        ("# @tools: *\ntools.call('echo_fail', {'text': 'x'})", "no x"),
    ] {
        check_failed(scene.run_source(source).await, Kind::InvalidInput, &[words]);
    }
}

#[tokio::test]
async fn the_callers_policy_holds_for_what_a_script_calls() {
    let gate = FakeGate::new(|judged| {
        let denied =
            judged.call.target.name() == "echo_data" && judged.call.principal.id.as_str() == "mallory";
        if denied { Verdict::Deny(Error::new(Kind::Denied, "not for mallory")) } else { Verdict::Pass }
    });
    let scene = Scene::with(|_| {}, |builder| builder.gate(Box::new(gate)));
    scene.approved("t.star", "# @tools: *\nresult = tools.call('echo_data')['by']").await;
    let run = |who: &'static str| scene.call_as(who, "script_run", json!({"name": "t"}));
    assert_eq!(answer(run("ada").await).unwrap()["result"], "ada");
    check_failed(answer(run("mallory").await), Kind::InvalidInput, &["not for mallory"]);
}

#[tokio::test]
async fn calls_and_requests_are_counted() {
    let scene = Scene::set(|config| {
        config.max_tool_calls = 3;
        config.max_http_calls = 0;
    });
    let source =
        "# @tools: *\ndef main():\n    return [tools.call('echo_text', {'text': str(i)}) for i in range(N)]";
    assert_eq!(scene.run_source(&source.replace('N', "3")).await.unwrap(), json!(["0", "1", "2"]));
    check_failed(
        scene.run_source(&source.replace('N', "4")).await,
        Kind::InvalidInput,
        &["no more than 3 calls"],
    );
    let source = "def main():\n    for i in range(6000):\n        secrets.list()";
    check_failed(
        scene.run_source(source).await,
        Kind::InvalidInput,
        &["no more than 5000 requests of any kind"],
    );
    let source = "# @hosts: *\nhttp.get('http://127.0.0.1/')";
    check_failed(scene.run_source(source).await, Kind::InvalidInput, &["no more than 0 requests"]);
}

#[tokio::test]
async fn only_named_hosts_are_asked_and_through_the_guard() {
    let (one, two) = (echoing().await, echoing().await);
    let scene = Scene::set(|config| config.allow_hosts = vec!["127.0.0.1".to_owned().try_into().unwrap()]);
    let source = format!(
        "# @hosts: 127.0.0.1\nreply = http.post('http://127.0.0.1:{one}/x', {{'a': 1}}, headers = {{'X-Key': 'k', 'Host': 'evil'}})\n\
         result = [reply['status'], reply['headers']['x-test'], reply['body']]"
    );
    let result = scene.run_source(&source).await.unwrap();
    assert_eq!((&result[0], &result[1]), (&json!(200), &json!("yes")));
    let echoed = result[2].as_str().unwrap().to_ascii_lowercase();
    assert!(echoed.starts_with("post /x http/1.1\r\n") && echoed.ends_with("{\"a\":1}"), "{echoed}");
    assert!(echoed.contains("x-key: k") && echoed.contains("content-type: application/json"), "{echoed}");
    assert!(!echoed.contains("evil"), "{echoed}");

    for method in ["get", "put", "patch", "delete"] {
        let source =
            format!("# @hosts: 127.0.0.1\nresult = http.{method}('http://127.0.0.1:{one}/')['body']");
        let echoed = scene.run_source(&source).await.unwrap();
        assert!(echoed.as_str().unwrap().starts_with(&format!("{} / ", method.to_uppercase())), "{echoed}");
    }
    // A redirect is a new address: it needs the same grant, and takes no headers along to another origin.
    let moved = format!(
        "# @hosts: 127.0.0.1\nresult = http.get('http://127.0.0.1:{one}/moved/127.0.0.1:{two}', headers = {{'X-Key': 'k'}})['body']"
    );
    let echoed = scene.run_source(&moved).await.unwrap();
    assert!(!echoed.as_str().unwrap().contains("x-key"), "{echoed}");
    let moved = format!("# @hosts: 127.0.0.1\nhttp.get('http://127.0.0.1:{one}/moved/localhost:{two}')");
    check_failed(scene.run_source(&moved).await, Kind::InvalidInput, &["denied"]);
    for (header, url, words) in [
        ("", "http://127.0.0.1/", "the host `127.0.0.1` is not among the `@hosts`"),
        ("# @hosts: example.com", "http://127.0.0.1/", "is not among"),
        ("# @hosts: *", "http://127.0.0.2/", "no public address"),
        ("# @hosts: 127.0.0.3", "http://127.0.0.3/", "no public address"),
        ("# @hosts: *", "http://[::ffff:127.0.0.2]/", "no public address"),
        ("# @hosts: *", "file:///etc/passwd", "not among"),
        ("# @hosts: *", "nonsense", "no address"),
        ("# @hosts: *", "http://a:b@127.0.0.1/", "password"),
    ] {
        let source = format!("{header}\nhttp.get('{url}')");
        check_failed(scene.run_source(&source).await, Kind::InvalidInput, &[words]);
    }
}

#[tokio::test]
async fn scripts_that_wait_for_a_person_leave_their_places_to_others() {
    let gate = FakeGate::new(|judged| match judged.call.target.name() {
        "echo_data" => Verdict::Ask("it is data".into()),
        _ => Verdict::Pass,
    });
    let scene = Scene::with(|_| {}, |builder| builder.gate(Box::new(gate)));
    scene.approved("asks.star", "# @tools: *\nresult = tools.call('echo_data')['by']").await;
    scene.approved("plain.star", "result = 1").await;
    let mut waiting = Vec::new();
    // As many as there are places, and as many of each as one principal may have.
    for who in ["ada", "ada", "ada", "ada", "grace", "grace", "grace", "grace"] {
        let params = Raw::of(&json!({"name": "script_run", "arguments": {"name": "asks"}}));
        let target = Target::Tool("script_run".parse().unwrap());
        let mut run = scene.hub.start(Call::new(Principal::named(who), client_legacy(), target, params));
        let ask = loop {
            match run.next().await.unwrap() {
                Event::Ask(ask) => break ask,
                Event::Done(outcome) => panic!("{outcome:?}"),
                Event::Progress(_) | Event::Log(_) | Event::Other { .. } | Event::HangUp => {}
            }
        };
        waiting.push((who, run, ask));
    }
    let plain = scene.call_as("joan", "script_run", json!({"name": "plain"})).await;
    assert_eq!(answer(plain).unwrap()["result"], 1);
    for (who, run, ask) in waiting {
        let mut answers = Answers::default();
        answers.insert(&ask.questions[0].key, Raw::of(&json!({"action": "accept"})));
        ask.answer(Ok(answers));
        let Outcome::Complete(result) = run.outcome().await else { panic!("{who} does not go on") };
        assert!(result.as_str().contains(who), "{}", result.as_str());
    }
}
