//! Completions that shells understand, and manual pages that formatters do.

use std::fs;

use super::ended;
use crate::process::{Place, run};

#[test]
fn completions_complete_in_bash() {
    let place = Place::new();
    fs::write(place.path().join("toolgate.bash"), ended(&["completions", "bash"]).stdout).unwrap();
    #[track_caller]
    fn check(place: &Place, words: &str, expect: &[&str]) {
        let script = format!(
            "source ./toolgate.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _toolgate toolgate \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut bash = place.command("bash");
        bash.args(["-euc", &script]);
        let ended = run(bash, b"");
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{words}");
        let replies: Vec<&str> = ended.stdout.lines().collect();
        assert!(expect.iter().all(|reply| replies.contains(reply)), "{words}: {replies:?}");
    }
    check(&place, "toolgate doc", &["doctor"]);
    check(&place, "toolgate tools \"\"", &["list", "show", "call"]);
    check(&place, "toolgate completions \"\"", &["bash", "zsh", "fish"]);
    check(&place, "toolgate serve --", &["--http", "--port", "--workspace"]);
}

#[test]
fn completions_are_written_for_every_shell() {
    for (shell, begins, knows) in [
        ("bash", "_toolgate() {", "doctor"),
        ("zsh", "#compdef toolgate", "doctor:"),
        ("fish", "# Print an optspec for argparse", "complete -c toolgate"),
    ] {
        let ended = ended(&["completions", shell]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{shell}");
        assert!(ended.stdout.starts_with(begins), "{shell}: {}", ended.stdout);
        assert!(ended.stdout.contains(knows), "{shell}: {}", ended.stdout);
    }
    assert_eq!(ended(&["completions", "cmd"]).code, 2);
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    let written = run(place.toolgate(&["man", "--dir", "share/man1"]), b"");
    assert_eq!((written.code, written.stdout.as_str(), written.stderr.as_str()), (0, "", ""));
    let folder = place.path().join("share/man1");
    for name in ["toolgate", "toolgate-serve", "toolgate-tools", "toolgate-tools-call", "toolgate-doctor"] {
        let page = fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        for part in [".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH EXAMPLES\n", ".SH \"EXIT STATUS\"\n"] {
            assert!(page.contains(part), "{name}: {part}");
        }
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let page = fs::read_to_string(&path).unwrap();
        page.lines().for_each(|line| check_line(&path.display().to_string(), line));
    }
    let printed = run(place.toolgate(&["man"]), b"");
    assert_eq!(printed.stdout, fs::read_to_string(folder.join("toolgate.1")).unwrap());
}

/// A line is text, or one of the few requests that these pages use; a stray dot would swallow it.
#[track_caller]
fn check_line(page: &str, line: &str) {
    let requests = ["TH", "SH", "TP", "PP", "RS", "RE", "IP", "br", "nf", "fi", "ie", "el"];
    let request = line.strip_prefix(['.', '\'']).map(|rest| rest.split(' ').next().unwrap_or_default());
    assert!(request.is_none_or(|request| requests.contains(&request)), "{page}: {line}");
}
