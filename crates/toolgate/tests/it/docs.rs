//! The documents, held to what they say: their commands are run, their examples read.

use std::hash::{BuildHasher as _, RandomState};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use crate::process::{Place, TOOLGATE, run};

/// Commands that are not run from a page, and what runs them instead.
const RUN_ELSEWHERE: [(&str, &str); 2] = [
    ("cargo install --path crates/toolgate --locked", "it builds what this test runs"),
    ("cargo xtask test", "it runs this test"),
];

/// A fenced block of a page.
struct Block {
    language: String,
    text: String,
    line: usize,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The README and every page of the guide.
fn pages() -> Vec<PathBuf> {
    let guide = std::fs::read_dir(repository().join("docs/guide")).unwrap();
    let mut pages: Vec<PathBuf> = guide.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "md"));
    pages.push(repository().join("README.md"));
    pages.sort();
    pages
}

fn blocks(page: &Path) -> Vec<Block> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => {
                open = Some(Block { language: language.into(), text: String::new(), line: number + 1 });
            }
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{}: a block is not closed", page.display());
    blocks
}

/// A block as a script that fails where a command does not do what the page says.
fn script(text: &str) -> String {
    let lines = text.lines().map(|line| match line.strip_prefix("! ") {
        Some(command) => format!("if {command}; then echo 'it should have failed'; exit 1; fi"),
        None if RUN_ELSEWHERE.iter().any(|(command, _)| line == *command) => "true".into(),
        None => line.replace("cargo run --release --", "toolgate"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A place where `toolgate` is on the search path.
fn place_with_toolgate() -> (Place, String) {
    let place = Place::new();
    let bin = place.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(TOOLGATE, bin.join("toolgate")).unwrap();
    (place, bin.display().to_string())
}

#[test]
fn every_command_block_works_as_it_stands() {
    for page in pages() {
        let (place, bin) = place_with_toolgate();
        let port = free_port();
        let mut servers = String::new();
        for block in blocks(&page).iter().filter(|block| block.language == "sh") {
            let text = script(&block.text).replace("3000", &port.to_string());
            if text.contains("serve --http") {
                // It serves the rest of the page.
                servers = format!(
                    "{text} & server=$!\ntrap 'kill $server; wait $server || true' EXIT\n\
                     until curl --silent --fail http://127.0.0.1:{port}/health >/dev/null; do\n\
                     kill -0 $server; sleep 0.05; done\n",
                    text = text.trim_end(),
                );
                continue;
            }
            let whole = format!(
                "set -euo pipefail\nexport PATH={bin}:$PATH TOOLGATE_HTTP_PORT={port}\n{servers}{text}"
            );
            let mut command = place.command("/bin/bash");
            command.args(["-c", &whole]);
            let ended = run(command, b"");
            assert_eq!(ended.code, 0, "{}:{}: {ended:#?}", page.display(), block.line);
        }
    }
}

#[test]
fn every_example_file_is_right() {
    for page in pages() {
        for block in blocks(&page) {
            let place = format!("{}:{}", page.display(), block.line);
            match block.language.as_str() {
                "toml" => check_configuration(&block.text, &place),
                "json" => drop(serde_json::from_str::<serde_json::Value>(&block.text).expect(&place)),
                "sh" => {}
                "" => check_commands(&block.text, &place),
                other => panic!("{place}: nobody checks a block of `{other}`"),
            }
        }
    }
}

/// Commands that cannot be run here, since they are about something of a person's; their arguments are right.
fn check_commands(text: &str, at: &str) {
    let (place, bin) = place_with_toolgate();
    for line in text.lines().filter(|line| line.starts_with("toolgate ")) {
        let line = line.split(" #").next().unwrap_or(line);
        let mut command = place.command("/bin/bash");
        command.args(["-c", &format!("PATH={bin}:$PATH; {line} --help")]);
        let ended = run(command, b"");
        assert_eq!(ended.code, 0, "{at}: {line}: {ended:#?}");
    }
}

fn check_configuration(text: &str, at: &str) {
    let place = Place::configured(text);
    let ended = run(place.toolgate(&["config", "check"]), b"");
    assert_eq!(ended.code, 0, "{at}: {ended:#?}");
}

#[test]
fn what_is_run_elsewhere_is_still_on_a_page() {
    let all: String = pages().iter().flat_map(|page| blocks(page)).map(|block| block.text).collect();
    for (command, why) in RUN_ELSEWHERE {
        assert!(all.lines().any(|line| line == command), "no page says `{command}` any more ({why})");
    }
}

/// A port that nobody has. It is none of those that the system gives out by itself: before the server of a page listens
/// there, it would give it to another test.
fn free_port() -> u16 {
    let any = |round: u16| 10_000 + u16::try_from(RandomState::new().hash_one(round) % 20_000).unwrap();
    (0..100).map(any).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}
