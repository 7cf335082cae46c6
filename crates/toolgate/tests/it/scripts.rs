//! Scripts as their users meet them: a server that runs, and an administrator at the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::process::{Ended, Place, Server, TOOLGATE, by_command, replace, run, unlimited, until};
use crate::terminal::Terminal;

/// A server, and commands that work on the same data.
struct Desk {
    server: Server,
    home: PathBuf,
}

impl Desk {
    /// A server whose scripts are in the workspace, where agents can write.
    fn start(toml: &str) -> Self {
        let place = Place::configured(&unlimited(&format!(
            "[workspace]\nroot = 'w'\n[memory]\nroot = 'm'\n[scripts]\ndir = 'w/scripts'\nallow_hosts = ['127.0.0.1']\n{toml}"
        )));
        let home = place.path().to_owned();
        fs::create_dir_all(home.join("w/scripts")).unwrap();
        fs::create_dir_all(home.join("m")).unwrap();
        Self { server: Server::start_in(place, &[]), home }
    }

    fn command(&self, arguments: &[&str]) -> Ended {
        self.command_with(arguments, b"")
    }

    fn command_with(&self, arguments: &[&str], input: &[u8]) -> Ended {
        let mut command: Command = Place::command_in(&self.home, TOOLGATE);
        command.args(arguments);
        run(command, input)
    }

    #[track_caller]
    fn done(&self, arguments: &[&str]) -> String {
        let ended = self.command(arguments);
        assert_eq!(ended.code, 0, "{arguments:?}: {}", ended.stderr);
        ended.stdout
    }

    fn write(&self, name: &str, source: &str) {
        fs::write(self.home.join("w/scripts").join(name), source).unwrap();
    }

    /// The result of a tool over HTTP.
    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = self.server.post(message.to_string()).send();
        let answer: Value =
            serde_json::from_str(&answer.text()).unwrap_or_else(|_| panic!("{}", answer.text()));
        answer["result"].clone()
    }

    fn text(&self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}")).to_owned()
    }

    /// What a script answers.
    #[track_caller]
    fn run(&self, arguments: &Value) -> Value {
        let result = self.call("script_run", arguments);
        assert_eq!(result["isError"], false, "{result:#}");
        result["structuredContent"]["result"].clone()
    }
}

#[test]
fn an_administrator_decides_beside_a_server_that_runs() {
    let desk = Desk::start("");
    let agent = |content: &str| {
        desk.text("workspace_write", &json!({"path": "scripts/job.star", "content": content}));
    };
    agent("result = 'first'");
    let refused = desk.text("script_run", &json!({"name": "job"}));
    assert!(
        refused.starts_with("Error: Script 'job.star' is pending approval. An administrator must"),
        "{refused}"
    );

    // Without a person at a terminal nothing is approved by accident.
    let unasked = desk.command(&["script", "approve", "job"]);
    assert_eq!(unasked.code, 2, "{unasked:?}");
    let shown: Value = serde_json::from_str(&desk.done(&["script", "show", "job", "--json"])).unwrap();
    assert_eq!((&shown["state"], &shown["source"]), (&json!("pending"), &json!("result = 'first'")));
    let hash = shown["hash"].as_str().unwrap();

    // What changed between the look and the yes is not what was seen.
    agent("result = 'second'");
    let changed = desk.command(&["script", "approve", "job", "--yes", "--hash", hash]);
    assert_eq!(changed.code, 1);
    assert!(changed.stderr.contains("is not what was looked at"), "{}", changed.stderr);

    agent("result = 'first'");
    desk.done(&["script", "approve", "job", "--yes", "--hash", hash]);
    assert_eq!(desk.run(&json!({"name": "job"})), "first");
    assert!(desk.done(&["script", "run", "job", "--json"]).contains("\"first\""));

    // An agent that overwrites it has made something that waits.
    agent("result = 'evil'");
    let refused = desk.text("script_run", &json!({"name": "job"}));
    assert!(refused.contains("State: modified"), "{refused}");
    let diff = desk.done(&["script", "diff", "job"]);
    assert!(diff.contains("-result = 'first'") && diff.contains("+result = 'evil'"), "{diff}");
    desk.done(&["script", "reject", "job", "--reason", "no, never"]);
    let refused = desk.text("script_run", &json!({"name": "job"}));
    assert!(refused.contains("State: rejected") && refused.contains("no, never"), "{refused}");
    let listed = desk.done(&["script", "list"]);
    assert!(listed.contains("job.star  rejected"), "{listed}");
    let dir = desk.done(&["script", "dir"]);
    assert!(Path::new(dir.trim()).ends_with("w/scripts"), "{dir}");
    // Refusals changed nothing, so they are not among the changes.
    let evil: Value = serde_json::from_str(&desk.done(&["script", "show", "job", "--json"])).unwrap();
    let evil = evil["hash"].as_str().unwrap();
    let found = desk.done(&["audit", "search", "--target", "method:command/*", "--json"]);
    let found = by_command(&serde_json::from_str(&found).unwrap());
    assert_eq!(found, [format!("script approve job.star {hash}"), format!("script reject job.star {evil}")]);
}

#[test]
fn code_waits_for_the_administrator_too() {
    let desk = Desk::start("");
    let refused = desk.text("script_exec", &json!({"code": "result = 6 * 7"}));
    let name = refused.split('\'').nth(1).unwrap().to_owned();
    assert!(name.starts_with("exec:"), "{refused}");
    assert!(desk.done(&["script", "list"]).contains(&name));
    desk.done(&["script", "approve", &name, "--yes"]);
    let result = desk.call("script_exec", &json!({"code": "result = 6 * 7"}));
    assert_eq!(result["structuredContent"]["result"], 42, "{result}");
}

#[test]
fn a_secret_is_there_at_once_and_hidden_in_the_answer() {
    let desk = Desk::start("");
    desk.write(
        "s.star",
        "# @secrets: HORSE\nkey = secrets.get('HORSE')\nresult = [key == None, key, secrets.list()]",
    );
    desk.done(&["script", "approve", "s", "--yes"]);
    assert_eq!(desk.run(&json!({"name": "s"})), json!([true, null, []]));
    let set = desk.command_with(&["secret", "set", "HORSE"], b"correct horse battery");
    assert_eq!(set.code, 0, "{}", set.stderr);
    until("the secret is seen", || {
        desk.run(&json!({"name": "s"})) == json!([false, "[REDACTED:HORSE]", ["HORSE"]])
    });
    // It does not slip out in what a script prints or fails with, either.
    desk.write("t.star", "# @secrets: HORSE\nprint(secrets.get('HORSE'))\nfail(secrets.get('HORSE'))");
    desk.done(&["script", "approve", "t", "--yes"]);
    let failed = desk.text("script_run", &json!({"name": "t"}));
    assert!(failed.contains("[REDACTED:HORSE]") && !failed.contains("horse"), "{failed}");
}

#[test]
fn a_script_is_held_to_the_policy_of_its_caller_and_recorded() {
    let rules = "[[policy.rules]]\nname = 'no writes'\nthen = 'deny'\ntargets = ['workspace_write']\nwhen = \"args.path == 'x'\"\n";
    let desk = Desk::start(rules);
    desk.write(
        "t.star",
        "# @tools: *\nresult = tools.try_call('workspace_write', {'path': 'x', 'content': 'y'})['ok']",
    );
    desk.done(&["script", "approve", "t", "--yes"]);
    assert_eq!(desk.run(&json!({"name": "t"})), false);
    assert!(!desk.home.join("w/x").exists());
    let record = desk.done(&["audit", "export", "--target", "tool:workspace_write"]);
    assert!(record.contains("no writes") && record.contains("denied"), "{record}");
    // The script is named with the hash of what ran: where it was run, and with what it called.
    let shown: Value = serde_json::from_str(&desk.done(&["script", "show", "t", "--json"])).unwrap();
    let code = format!("\"code\":\"t.star {}\"", shown["hash"].as_str().unwrap());
    let runs = desk.done(&["audit", "export", "--target", "tool:script_run"]);
    assert!(runs.contains(&code) && record.contains(&code), "{runs}{record}");
    // And where it was refused, too.
    desk.write("new.star", "result = 1");
    desk.text("script_run", &json!({"name": "new"}));
    let listed = desk.done(&["audit", "search", "--target", "tool:script_run"]);
    assert!(listed.contains("needsApproval") && listed.contains("code new.star sha256:"), "{listed}");
}

#[test]
fn a_script_is_no_way_around_the_limits() {
    let limits = "[limits]\nrate = 0.001\nburst = 4\n[[limits.targets]]\ntargets = ['workspace_list']\nrate = 0.001\nburst = 3\n";
    let desk = Desk::start(limits);
    let source = "# @tools: *\nresult = [tools.try_call(NAME).get('error', 'ok') for _ in range(5)]";
    for (name, tool) in [("list", "'workspace_list'"), ("read", "'memory_read'")] {
        desk.write(&format!("{name}.star"), &source.replace("NAME", tool));
        desk.done(&["script", "approve", name, "--yes"]);
    }
    // A limit of the target counts what scripts call.
    let answers = desk.run(&json!({"name": "list"}));
    assert_eq!(answers[2], "ok", "{answers}");
    let refused = answers[3].as_str().unwrap();
    assert!(refused.starts_with("Rate limit exceeded.") && refused.contains("again in "), "{refused}");
    // The caller's own pace counts the run, and not each of its calls.
    assert_eq!(desk.run(&json!({"name": "read"})), json!(["ok", "ok", "ok", "ok", "ok"]));
    desk.run(&json!({"name": "read"}));
    desk.run(&json!({"name": "read"}));
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "script_run"}});
    assert_eq!(desk.server.post(message.to_string()).send().json()["error"]["code"], -32000);
}

#[test]
fn the_configuration_approves_bytes_and_no_names() {
    let hash = "sha256:1b6a7d30c7bf5cef4e8cf492f3c805b278702e21214e7561b0401b51d2065e7b";
    let desk = Desk::start(&format!("allow = ['{hash}']\n"));
    let agent = |content: &str| {
        desk.text("workspace_write", &json!({"path": "scripts/daily.star", "content": content}));
    };
    agent("result = 'daily'");
    assert_eq!(desk.run(&json!({"name": "daily"})), "daily");
    agent("result = 'evil'");
    let refused = desk.text("script_run", &json!({"name": "daily"}));
    assert!(refused.contains("State: pending"), "{refused}");
    agent("result = 'daily'");
    assert_eq!(desk.run(&json!({"name": "daily"})), "daily");
    // What the configuration takes back does not run any more, without a restart.
    let file = desk.home.join("toolgate.toml");
    let text = fs::read_to_string(&file).unwrap();
    replace(&file, &text.replace(hash, &format!("sha256:{}", "0".repeat(64))));
    until("it does not run", || {
        desk.text("script_run", &json!({"name": "daily"})).contains("State: pending")
    });
}

/// Sources that mean harm, and in which words each ends if it is not simply late.
const HOSTILE: [(&str, &str); 13] = [
    ("def main():\n    for i in range(1000000000):\n        x = i", "steps"),
    ("def main():\n    for i in range(1000000000):\n        pass", "longer than"),
    ("result = 'a' * 10000000000", "too big"),
    ("result = 'a' * 2000000000", "memory"),
    ("result = max(range(2000000000))", "longer than"),
    ("def main():\n    x = 7\n    for i in range(60):\n        x = x * x\n    return x", "longer than"),
    ("def main():\n    x = 'a'\n    for i in range(60):\n        x = x + x\n    return x", "memory"),
    (
        "def main():\n    x = []\n    for i in range(700000):\n        x = [x]\n    return str(x)",
        "nests so deeply",
    ),
    ("result = ('y' * 1000000).replace('y', 'z' * 1000000)", "memory"),
    ("result = [0] * 100000000", "memory"),
    ("result = ['x' * 1000] * 100000", "bytes as JSON"),
    ("time.sleep(60)", "longer than"),
    ("def f(x):\n    return f(x + 1)\nf(0)", "stack overflow"),
];

#[test]
fn hostile_scripts_harm_neither_the_server_nor_another_client() {
    let desk = Desk::start("timeout_ms = 6000\nmax_steps = 1000000\n");
    for (place, (source, _)) in HOSTILE.iter().enumerate() {
        desk.write(&format!("hostile{place}.star"), source);
        desk.done(&["script", "approve", &format!("hostile{place}"), "--yes"]);
    }
    desk.write("fine.star", "# @tools: *\nresult = tools.call('workspace_list')");
    desk.done(&["script", "approve", "fine", "--yes"]);
    let fine = desk.run(&json!({"name": "fine"}));
    let memory = |key: &str| -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", desk.server.running.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(key)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let (before, next, mut served) = (memory("VmRSS:"), AtomicUsize::new(0), 0);
    std::thread::scope(|scope| {
        // One principal may run four at once: the other client has the fourth.
        let attack = || {
            loop {
                let place = next.fetch_add(1, Ordering::SeqCst);
                let Some((_, words)) = HOSTILE.get(place) else { return };
                let result = desk.call("script_run", &json!({"name": format!("hostile{place}")}));
                let said = result["content"][0]["text"].as_str().unwrap();
                assert!(said.contains(words) || said.contains("longer than 6 s"), "{place}: {said}");
                assert_eq!(result["isError"], true, "{place}");
            }
        };
        let attackers: Vec<_> = (0..3).map(|_| scope.spawn(attack)).collect();
        while !attackers.iter().all(|attacker| attacker.is_finished()) {
            assert_eq!(desk.run(&json!({"name": "fine"})), fine);
            served += 1;
        }
    });
    assert!(served >= 3, "only {served} were served meanwhile");
    // At its highest, not only now.
    let grown = memory("VmHWM:").saturating_sub(before);
    assert!(grown < 64 << 10, "the server grew by {grown} kB");
}

#[test]
fn the_examples_do_what_they_say() {
    let desk = Desk::start("");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scripts");
    let mut names = Vec::new();
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        desk.write(&name, &fs::read_to_string(&path).unwrap());
        desk.done(&["script", "approve", &name, "--yes"]);
        names.push(name);
    }
    names.sort();
    assert_eq!(names, ["digest.star", "services.star", "text.star", "word_count.star"]);
    fs::write(desk.home.join("w/a.md"), "# One\n\ntwo three").unwrap();
    fs::write(desk.home.join("w/b.md"), "four").unwrap();
    fs::write(desk.home.join("w/c.txt"), "not counted").unwrap();
    let counted = desk.run(&json!({"name": "word_count"}));
    assert_eq!(counted, json!({"files": {"a.md": 3, "b.md": 1}, "words": 4}));

    fs::write(desk.home.join("m/MEMORY.md"), "Coffee, then tests. Tests and coffee. Tests!").unwrap();
    let digest = desk.call("script_run", &json!({"name": "digest"}));
    assert_eq!(
        digest["structuredContent"]["result"],
        json!({"tests": 3, "coffee": 2, "then": 1}),
        "{digest}"
    );
    let written = fs::read_to_string(desk.home.join("w/digest.md")).unwrap();
    assert!(written.starts_with("# Digest of 20") && written.contains("- tests, 3 times\n"), "{written}");

    let port = desk.server.address.port();
    let states = desk.run(&json!({"name": "services", "kwargs": {"ports": [port]}}));
    assert_eq!(states, json!({port.to_string(): {"well": true, "status": 200}}));
}

#[test]
fn a_person_sees_the_whole_script_before_they_say_yes() {
    let place = Place::configured("[scripts]\ndir = 'scripts'\n");
    fs::create_dir(place.path().join("scripts")).unwrap();
    let source =
        "# @hosts: api.example.com\nresult = 'plain\u{1b}[8mhidden\u{202e}turned\u{e0041}\u{2060}'\n";
    fs::write(place.path().join("scripts/a.star"), source).unwrap();
    for (typed, code, state) in [("", 1, "pending"), ("n", 1, "pending"), ("y", 0, "approved")] {
        let terminal = Terminal::new(100);
        let mut asked = terminal.start(place.toolgate(&["script", "approve", "a"]));
        terminal.wait_for("approve exactly this? [y/N]");
        let screen = terminal.screen();
        assert!(screen.contains("hosts        api.example.com"), "{screen}");
        assert!(screen.contains("plain\u{fffd}[8mhidden\u{fffd}turned\u{fffd}\u{fffd}'"), "{screen}");
        terminal.enter(typed);
        assert_eq!(asked.code(), Some(code));
        let shown = run(place.toolgate(&["script", "show", "a", "--json"]), b"");
        let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
        assert_eq!(shown["state"], state, "{typed}");
    }
}
