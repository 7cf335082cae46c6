//! `docs/reference/metrics.md`: every counter behind `/metrics`.

use std::path::Path;

use anyhow::Result;
use toolgate_core::Metrics;

use super::markdown::{code, table};

/// The counters describe themselves.
pub(super) fn write(_root: &Path) -> Result<String> {
    let text = Metrics::new().encode();
    let rows: Vec<Vec<String>> = text.lines().filter_map(|line| row(line, &text)).collect();
    Ok(format!(
        "# Metrics\n\n\
         `GET /metrics` answers them in the OpenMetrics text format. Every label has a small, fixed set of values.\n\n{}",
        table(&["metric", "type", "meaning"], &rows)
    ))
}

/// The row of the metric that this line helps with.
fn row(line: &str, text: &str) -> Option<Vec<String>> {
    let (name, meaning) = line.strip_prefix("# HELP ")?.split_once(' ')?;
    let kind =
        text.lines().find_map(|line| line.strip_prefix("# TYPE ")?.strip_prefix(name)?.strip_prefix(' '))?;
    Some(vec![code(name), kind.to_owned(), meaning.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_told_with_its_type_and_meaning() {
        let text = "# HELP a_b What it counts.\n# TYPE a_b counter\n";
        assert_eq!(row("# HELP a_b What it counts.", text).unwrap(), ["`a_b`", "counter", "What it counts."]);
        assert_eq!(row("a_b_total 1", text), None);
    }
}
