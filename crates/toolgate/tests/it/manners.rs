//! How the binary behaves towards a person: help, colour, width, progress, greeting, suggestions, exit codes.

mod pages;
mod session;

use std::process::Stdio as Pipe;

use rustix::process::Signal;

use crate::process::{Ended, Place, Running, run};
use crate::terminal::Terminal;

fn ended(arguments: &[&str]) -> Ended {
    run(Place::new().toolgate(arguments), b"")
}

#[test]
fn help_is_coloured_only_on_a_terminal_and_only_if_wanted() {
    let place = Place::new();
    let help = || place.toolgate(&["tools", "--help"]);
    let (code, coloured) = Terminal::run(100, help());
    assert!(code == Some(0) && coloured.contains("\x1b["), "{coloured:?}");
    let mut plain = help();
    plain.env("NO_COLOR", "1");
    let (code, plain) = Terminal::run(100, plain);
    assert!(code == Some(0) && plain.contains("Examples:") && !plain.contains('\x1b'), "{plain:?}");
    let piped = run(help(), b"");
    assert!(piped.code == 0 && !piped.stdout.contains('\x1b') && piped.stderr.is_empty(), "{piped:?}");
}

#[test]
fn a_table_fits_the_terminal_and_is_whole_in_a_pipe() {
    let place = Place::new();
    let list = || place.toolgate(&["tools", "list"]);
    let (code, screen) = Terminal::run(60, list());
    assert_eq!(code, Some(0));
    // What the tools cost is a sentence below the table, and wraps.
    let (narrow, _) = screen.split_once("note: these 73 tools cost").unwrap();
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
    assert!(narrow.contains('…'), "{narrow}");
    let piped = run(list(), b"").stdout;
    assert!(!piped.contains('…') && piped.lines().any(|line| line.chars().count() > 60), "{piped}");
    assert_eq!(narrow.trim_end().lines().count(), piped.lines().count());
}

#[test]
fn a_call_that_takes_its_time_says_so_on_a_terminal_only() {
    let place = Place::new();
    let call = || place.toolgate(&["--fixtures", "tools", "call", "test_slow", "seconds=2.5"]);
    let (code, screen) = Terminal::run(80, call());
    assert_eq!(code, Some(0));
    // A busy machine may leave a second out.
    let says_so = (1..60).any(|seconds| screen.contains(&format!("test_slow: {seconds} s ")));
    assert!(says_so && screen.contains("/2.5"), "{screen:?}");
    // The line is gone before the answer comes.
    assert!(screen.ends_with("\r\x1b[KSlept for 2.5 s\n"), "{screen:?}");
    let piped = run(call(), b"");
    assert_eq!((piped.stdout.as_str(), piped.stderr.as_str()), ("Slept for 2.5 s\n", ""));
}

#[test]
fn a_call_that_is_interrupted_is_cancelled_and_says_so() {
    let place = Place::new();
    for signal in [Signal::INT, Signal::TERM] {
        let terminal = Terminal::new(80);
        let mut running =
            terminal.start(place.toolgate(&["--fixtures", "tools", "call", "test_slow", "seconds=600"]));
        terminal.wait_for("test_slow: ");
        running.signal(signal);
        assert_eq!(running.code(), Some(1), "{}", terminal.screen());
        terminal.wait_for("error: ");
    }
}

#[test]
fn a_pack_that_lacks_its_secret_or_folder_does_not_keep_the_others() {
    let place = Place::configured(
        "[opencode]\npassword = '{secret:NONE}'\n[workspace]\nroot = '/nowhere/at/all'\n\
         [vault]\nroot = '/nowhere/else'\n",
    );
    let listed = run(place.toolgate(&["tools", "list"]), b"");
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(
        listed.stdout.contains("memory_read") && !listed.stdout.contains("opencode_"),
        "{}",
        listed.stdout
    );
    for words in [
        "`opencode` is left out: `opencode.password` cannot be used: there is no secret `NONE`",
        "`workspace` is left out: cannot open the folder `/nowhere/at/all`",
        "`vault` is left out: cannot open the folder `/nowhere/else`",
    ] {
        assert!(listed.stderr.contains(words), "{}", listed.stderr);
    }
}

#[test]
fn a_person_who_types_serve_is_told_what_waits() {
    let place = Place::new();
    let terminal = Terminal::new(80);
    let mut command = place.toolgate(&["serve"]);
    command.stdin(terminal.end()).stdout(Pipe::piped()).stderr(terminal.end());
    let mut serve = Running::start(command);
    terminal.wait_for("toolgate waits for the messages of an MCP client");
    terminal.press("\x04");
    assert_eq!(serve.code(), Some(0));
    assert_eq!(serve.stdout(), "");
}

#[test]
fn what_is_mistyped_is_met_with_what_was_meant() {
    #[track_caller]
    fn check(arguments: &[&str], code: i32, expect: &str) {
        let ended = ended(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{ended:?}");
        assert!(ended.stderr.contains(expect), "{ended:?}");
    }
    check(&["tolls"], 2, "'tools'");
    check(&["docter"], 2, "'doctor'");
    check(&["tools", "lsit"], 2, "'list'");
    check(&["serve", "--htpp"], 2, "'--http'");
    check(&["completions", "bahs"], 2, "'bash'");
    check(&["tools", "call", "workspace_raed"], 2, "did you mean `workspace_read`?");
    check(&["tools", "show", "workspace_raed"], 2, "did you mean `workspace_read`?");
    check(&["tools", "show", "workspace_raed"], 2, "unknown tool `workspace_raed`");
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    let place = Place::new();
    let mut command = place.toolgate(&["tools", "list", "--json"]);
    command.stdin(Pipe::null()).stdout(Pipe::piped()).stderr(Pipe::piped());
    let mut list = Running::start(command);
    list.close_stdout();
    assert_eq!(list.code(), Some(0));
}

#[test]
fn a_tool_that_breaks_down_is_logged_and_the_program_is_not_blamed_twice() {
    let ended = ended(&["--fixtures", "tools", "call", "test_panic"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (70, ""));
    assert!(ended.stderr.contains("a tool panicked: this tool panics on purpose"), "{}", ended.stderr);
    assert!(ended.stderr.ends_with("error: the tool broke down\n"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("our bug"), "{}", ended.stderr);
}
