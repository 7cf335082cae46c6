//! `docs/reference/environment.md`: every variable that Toolgate reads.

use std::path::Path;

use anyhow::Result;
use toolgate_config::env::{Kind, VARIABLES, Variable};

use super::markdown::{code, table};

pub(super) fn write(_root: &Path) -> Result<String> {
    let part = |title: &str, intro: &str, belongs: fn(&Variable) -> bool| {
        let rows: Vec<Vec<String>> = VARIABLES.iter().filter(|variable| belongs(variable)).map(row).collect();
        format!("\n## {title}\n\n{intro}\n\n{}", table(&["variable", "key", "read as", "meaning"], &rows))
    };
    let parts = [
        part("Our own", "They begin with `TOOLGATE_`.", is_own),
        part(
            "Taken over",
            "Variables of the systems that Toolgate unites; one of our own that sets the same key wins.",
            |variable| variable.seed,
        ),
        part(
            "Of the system",
            "They say where a user's files lie and what a terminal can show.",
            |variable| !variable.seed && !is_own(variable),
        ),
    ];
    Ok(format!(
        "# Environment variables\n\n\
         A variable wins over the configuration file, a flag over both. An empty variable counts as one that is not\n\
         set. `key` is the key of the configuration file that a variable sets.\n{}",
        parts.concat()
    ))
}

fn is_own(variable: &Variable) -> bool {
    variable.name.starts_with(toolgate_config::env::PREFIX)
}

fn row(variable: &Variable) -> Vec<String> {
    let key = code(variable.key.unwrap_or_default());
    vec![code(variable.name), key, read_as(variable.kind).to_owned(), variable.doc.to_owned()]
}

fn read_as(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Word => "a word, in any case",
        Kind::Boolean => "yes or no",
        Kind::Integer => "a whole number",
        Kind::List => "items between commas",
        Kind::Path => "a path",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_there_once() {
        let page = write(Path::new(".")).unwrap();
        for variable in VARIABLES {
            assert_eq!(page.matches(&format!("| `{}` |", variable.name)).count(), 1, "{}", variable.name);
        }
    }
}
