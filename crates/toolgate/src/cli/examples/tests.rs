//! Every command teaches by examples, and every example is one that the command line takes.

use clap::{Command, CommandFactory as _, Parser as _};

use crate::cli::{Cli, arguments};

/// Every command that a person can find, with how it is typed.
fn commands() -> Vec<(String, Command)> {
    fn gather(typed: &str, command: &Command, found: &mut Vec<(String, Command)>) {
        found.push((typed.to_owned(), command.clone()));
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            gather(&format!("{typed} {}", sub.get_name()), sub, found);
        }
    }
    let mut found = Vec::new();
    gather("toolgate", &Cli::command(), &mut found);
    found
}

fn examples(command: &Command) -> String {
    command.get_after_help().map(ToString::to_string).unwrap_or_default()
}

/// The words of a line as a shell reads them, as far as examples go: quotes, pipes and redirections.
fn programs(line: &str) -> Vec<Vec<String>> {
    let (mut programs, mut word, mut quote) = (vec![Vec::new()], None::<String>, None);
    for letter in line.trim().chars().chain([' ']) {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ' | '|') => {
                programs.last_mut().unwrap().extend(word.take());
                if letter == '|' {
                    programs.push(Vec::new());
                }
            }
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    programs
}

#[test]
fn every_command_has_examples_of_itself() {
    for (typed, command) in commands() {
        let examples = examples(&command);
        assert!(
            examples.starts_with("Examples:\n") && examples.contains(&typed),
            "`{typed}` needs examples: add them to `cli/examples.rs` and name them by `after_help`"
        );
        assert!(examples.lines().all(|line| line.chars().count() <= 100), "`{typed}`: a line is too long");
    }
}

#[test]
fn every_example_is_understood() {
    let mut tried = 0;
    for (typed, command) in commands() {
        for line in examples(&command).lines().filter(|line| line.contains("toolgate ")) {
            for mut words in programs(line)
                .into_iter()
                .filter(|words| words.first().is_some_and(|word| word == "toolgate"))
            {
                words.truncate(words.iter().position(|word| word == ">").unwrap_or(words.len()));
                let words = arguments(words.into_iter().map(Into::into));
                if let Err(error) = Cli::try_parse_from(words) {
                    panic!("the help of `{typed}` teaches `{line}`: {error}");
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 20, "only {tried} examples were found");
}

#[test]
fn the_definitions_are_sound() {
    Cli::command().debug_assert();
}
