//! `docs/reference/metrics.md`: every metric behind `/metrics`, with its labels and their values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use toolgate_core::Metrics;

use super::markdown::{code, table};

/// The metrics describe themselves.
pub(super) fn write(_root: &Path) -> Result<String> {
    let text = Metrics::sample();
    let metrics: Vec<Metric<'_>> = text.lines().filter_map(|line| Metric::read(line, &text)).collect();
    let rows: Vec<Vec<String>> = metrics.iter().map(Metric::row).collect();
    Ok(format!(
        "# Metrics\n\n\
         `GET /metrics` answers them in the text format of Prometheus, or in OpenMetrics for who accepts\n\
         `application/openmetrics-text`. Every label has a small, fixed set of values; names that callers make up never \
         become one.\n\
         A metric of a part that is not in use is not shown. [Observability](../guide/observability.md) says how to use \
         them.\n\n{}\n## Labels\n\n{}",
        table(&["metric", "type", "labels", "meaning"], &rows),
        table(&["metric", "label", "values"], &labels(&metrics)),
    ))
}

/// A metric, as its text describes it.
struct Metric<'a> {
    /// The name that its samples have.
    name: String,
    kind: &'a str,
    help: &'a str,
    labels: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Metric<'a> {
    /// The metric that this line helps with.
    fn read(line: &'a str, text: &'a str) -> Option<Self> {
        let (name, help) = line.strip_prefix("# HELP ")?.split_once(' ')?;
        let kind = text
            .lines()
            .find_map(|line| line.strip_prefix("# TYPE ")?.strip_prefix(name)?.strip_prefix(' '))?;
        let suffix = match kind {
            "counter" => "_total",
            "info" => "_info",
            "histogram" => "_count",
            _ => "",
        };
        let sample = format!("{name}{suffix}{{");
        let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for set in text.lines().filter_map(|line| line.strip_prefix(&sample)?.split_once('}')) {
            for (key, value) in set.0.split(',').filter_map(|label| label.split_once('=')) {
                labels.entry(key).or_default().insert(value.trim_matches('"'));
            }
        }
        let shown = if kind == "histogram" { name.to_owned() } else { format!("{name}{suffix}") };
        Some(Self { name: shown, kind, help, labels })
    }

    fn row(&self) -> Vec<String> {
        let labels: Vec<String> = self.labels.keys().map(|label| code(label)).collect();
        vec![code(&self.name), self.kind.to_owned(), labels.join(", "), self.help.to_owned()]
    }
}

/// The values of every label. Those of two labels are written by whoever runs the server.
fn labels(metrics: &[Metric<'_>]) -> Vec<Vec<String>> {
    let every =
        metrics.iter().flat_map(|metric| metric.labels.iter().map(move |label| (&metric.name, label)));
    every
        .map(|(name, (label, values))| {
            let values = match *label {
                "source" => "the names of the sources that are configured".to_owned(),
                "version" => "the version that runs".to_owned(),
                _ => values.iter().map(|value| code(value)).collect::<Vec<_>>().join(", "),
            };
            vec![code(name), code(label), values]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_told_with_its_type_labels_and_meaning() {
        let text = "# HELP a_b What it counts.\n# TYPE a_b counter\na_b_total{x=\"2\",y=\"3\"} 1\na_b_total{x=\"1\",y=\"3\"} 1\n";
        let metric = Metric::read("# HELP a_b What it counts.", text).unwrap();
        assert_eq!(metric.row(), ["`a_b_total`", "counter", "`x`, `y`", "What it counts."]);
        let rows = labels(&[metric]);
        assert_eq!(rows, [["`a_b_total`", "`x`", "`1`, `2`"], ["`a_b_total`", "`y`", "`3`"]]);
        assert!(Metric::read("a_b_total 1", text).is_none());
    }
}
