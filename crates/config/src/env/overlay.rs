//! What the environment sets in a document.

use serde_json::Value;

use super::{Environment, Kind, PREFIX, VARIABLES, Variable};
use crate::error::Problem;
use crate::key::shown;
use crate::node::{Table, lay_over, single};
use crate::origin::Origin;
use crate::suggest::nearest;

/// The values that the environment sets; ours lie over those of other systems.
pub(crate) fn overlay(environment: &Environment) -> Table {
    let mut table = Table::new();
    let (seeds, ours): (Vec<&Variable>, Vec<&Variable>) =
        VARIABLES.iter().partition(|variable| variable.seed);
    for variable in seeds.into_iter().chain(ours) {
        if let (Some(key), Some(text)) = (variable.key, environment.get(variable.name)) {
            let origin = Origin::Variable(variable.name.to_owned());
            lay_over(&mut table, single(key, value(variable.kind, text), &origin));
        }
    }
    table
}

fn value(kind: Kind, text: &str) -> Value {
    let trimmed = text.trim();
    match kind {
        Kind::Text | Kind::Path => text.into(),
        Kind::Word => trimmed.to_ascii_lowercase().into(),
        Kind::Boolean => truth(trimmed).map_or_else(|| trimmed.into(), Value::Bool),
        Kind::Integer => trimmed.parse::<i64>().map_or_else(|_| trimmed.into(), Value::from),
        Kind::List => trimmed.split(',').map(str::trim).filter(|item| !item.is_empty()).collect(),
    }
}

fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Variables that begin as ours do, and that nobody knows.
pub(crate) fn warnings(environment: &Environment) -> Vec<Problem> {
    let known: Vec<&str> = VARIABLES.iter().map(|variable| variable.name).collect();
    let unknown = environment.names().filter(|name| name.starts_with(PREFIX) && !known.contains(name));
    unknown.map(|name| warning(name, &known)).collect()
}

fn warning(name: &str, known: &[&str]) -> Problem {
    // Compared without the prefix, which all share and which would make any two names look alike.
    let rest = name.trim_start_matches(PREFIX);
    let meant = nearest(rest, known.iter().filter_map(|known| known.strip_prefix(PREFIX)));
    let hint = meant.map(|meant| format!("did you mean `{PREFIX}{meant}`?"));
    Problem::new(None, format!("unknown variable `{}` is ignored", shown(name))).hint(hint)
}
