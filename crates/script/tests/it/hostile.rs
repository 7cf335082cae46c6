//! Scripts that mean harm, while another caller goes on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use toolgate_core::Kind;
use toolgate_host::process_stats::ProcessStats;

use crate::scene::{Scene, answer};
use crate::server::echoing;

/// How long a script may take here.
const LIMIT_MS: u64 = 4000;

/// How long is waited for anything, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a script has to end: in these words, or, on a machine that is too slow for that, late.
type End = &'static str;
const LATE: End = "longer than 4 s";
const MEMORY: End = "memory";

/// Names and sources, and how each has to end.
fn scripts(port: u16) -> Vec<(&'static str, String, End)> {
    let main = |body: &str| format!("def main():\n    x = {}", body.replace('\n', "\n    "));
    vec![
        ("loop", main("0\nfor i in range(1000000000):\n    x = i"), "steps"),
        ("empty", main("0\nfor i in range(1000000000):\n    pass"), LATE),
        ("text", "result = 'a' * 10000000000".into(), "too big"),
        ("repeat", "result = 'a' * 2000000000".into(), MEMORY),
        ("max", "result = max(range(2000000000))".into(), LATE),
        ("square", main("7\nfor i in range(60):\n    x = x * x\nreturn x"), LATE),
        ("source", format!("result = {}", "(".repeat(30_000)), "levels deep"),
        ("words", format!("result = {} True", "not ".repeat(15_000)), "levels deep"),
        ("data", main("[]\nfor i in range(700000):\n    x = [x]\nreturn str(x)"), "nests so deeply"),
        ("json", main("[]\nfor i in range(1000):\n    x = [x]\nreturn x"), "levels deep"),
        ("double", main("'a'\nfor i in range(60):\n    x = x + x\nreturn x"), MEMORY),
        ("replace", "result = ('y' * 1000000).replace('y', 'z' * 1000000)".into(), MEMORY),
        ("list", "result = [0] * 100000000".into(), MEMORY),
        ("host", format!("# @hosts: *\nhttp.get('http://127.0.0.1:{port}/slow')"), LATE),
        ("tool", "# @tools: *\ntools.call('echo_sleep')".into(), LATE),
        ("sleep", "time.sleep(60)".into(), LATE),
        ("recurse", "def f(x):\n    return f(x + 1)\nf(0)".into(), "stack overflow"),
        ("output", "result = ['x' * 1000] * 100000".into(), "bytes as JSON"),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_scripts_end_within_their_limits_and_harm_nobody() {
    let port = echoing().await;
    let scene = Scene::set(|config| {
        config.timeout_ms = LIMIT_MS;
        config.max_steps = 1_000_000;
        config.allow_hosts = vec!["127.0.0.1".to_owned().try_into().unwrap()];
    });
    let all = scripts(port);
    for (name, source, ..) in &all {
        scene.approved(&format!("{name}.star"), source).await;
    }
    scene.approved("fine.star", "# @tools: echo_*\nresult = tools.call('echo_text', {'text': 'fine'})").await;
    assert_eq!(scene.run("fine").await.unwrap(), "fine");
    let before = resident();
    let (going, served) = (AtomicUsize::new(all.len()), AtomicUsize::new(0));
    let attack = async {
        // One principal may run four at once.
        for wave in all.chunks(4) {
            let runs = wave.iter().map(|(name, _, words)| {
                let (scene, going) = (&scene, &going);
                async move {
                    let run = scene.call_as("mallory", "script_run", json!({"name": name}));
                    let ended = tokio::time::timeout(PATIENCE, run).await;
                    let ended = answer(ended.unwrap_or_else(|_| panic!("`{name}` goes on")));
                    going.fetch_sub(1, Ordering::SeqCst);
                    let Err(error) = ended else { panic!("`{name}` ended well") };
                    let late = error.kind() == Kind::Timeout && error.message().contains(LATE);
                    assert!(late || error.message().contains(words), "`{name}` ended otherwise: {error}");
                    assert_eq!(late, error.kind() != Kind::InvalidInput);
                    if late && *words != LATE {
                        eprintln!("`{name}` was late: {error}");
                    }
                }
            });
            join_all(runs).await;
        }
    };
    let meanwhile = async {
        while going.load(Ordering::SeqCst) > 0 {
            let ended = tokio::time::timeout(PATIENCE, scene.run("fine")).await.expect("nobody is served");
            assert_eq!(ended.unwrap(), "fine");
            // Those that answer while the attack still goes on were not held up by it.
            if going.load(Ordering::SeqCst) > 0 {
                served.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    tokio::join!(attack, meanwhile);
    assert!(served.load(Ordering::SeqCst) >= 5, "only {served:?} were served meanwhile");
    let grown = resident().saturating_sub(before);
    assert!(grown < 96 << 20, "we grew by {grown} bytes");
}

fn resident() -> u64 {
    ProcessStats::read().expect("there is a `/proc`").resident_bytes
}
