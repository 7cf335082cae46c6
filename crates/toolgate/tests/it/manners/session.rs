//! A person's first minutes: the commands of the README, typed into a shell on a terminal.

use crate::process::Place;
use crate::terminal::Terminal;
use crate::web::Ask;

const README: &str = include_str!("../../../../../README.md");

/// The lines of the README's blocks of commands that begin so.
fn lines(begin: &str) -> Vec<&'static str> {
    let blocks = README.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).filter(|line| line.starts_with(begin)).collect()
}

#[test]
fn the_first_minutes_go_as_the_readme_says() {
    let place = Place::new();
    let server = Terminal::new(100);
    let mut shell = server.shell(&place);
    // The test has built it already, and port 3000 may be another's.
    let first = lines("cargo run --release -- ")[0].replace("cargo run --release --", "toolgate");
    server.enter(&format!("{first} --port 0"));
    server.wait_for("Ctrl-C ends it.");
    let screen = server.screen();
    let greeting = server.wait_for("listens on http://");
    let address = greeting.split_once("/mcp").unwrap().0.parse().unwrap();
    assert!(
        screen.contains("73 tools: workspace 3, memory 2, web 1, opencode 29, script 4, browser 34"),
        "{screen}"
    );
    assert!(screen.contains(&format!(r#""url": "http://{address}/mcp""#)), "{screen}");

    let asked = lines("curl ")[0].split_once("-d '").unwrap().1.trim_end_matches('\'');
    let listed = Ask::new(address, "POST", "/mcp").body(asked).send().json();
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 73, "{listed}");

    let other = Terminal::new(100);
    let mut second = other.shell(&place);
    let typed = lines("toolgate tools");
    assert!(typed.len() >= 4, "{typed:?}");
    for line in typed {
        other.clear();
        other.enter(&format!("{line}; echo ended: $?"));
        other.wait_for("ended: 0");
    }
    assert!(other.screen().contains("\r\nremember the milk\r\n"), "{}", other.screen());
    other.enter("exit");
    assert_eq!(second.code(), Some(0));

    server.clear();
    server.press("\x03");
    server.enter("echo ended: $?");
    server.wait_for("ended: 0");
    server.enter("exit");
    assert_eq!(shell.code(), Some(0));
}
