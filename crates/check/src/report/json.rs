//! The report for programs.

use serde_json::{Value, json};

use super::Report;
use crate::rule::Level;

pub(super) fn write(report: &Report, name: &str) -> Value {
    let served: Vec<Value> = report
        .served
        .iter()
        .map(|served| {
            json!({
                "era": served.era,
                "protocolVersion": served.version,
                "transport": served.transport,
                "name": served.name,
                "tools": served.tools,
            })
        })
        .collect();
    let findings: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "level": finding.rule.level,
                "rule": finding.rule.id,
                "place": finding.place,
                "message": finding.what,
                "mend": finding.rule.mend,
            })
        })
        .collect();
    let skipped: Vec<Value> =
        report.skipped.iter().map(|skipped| json!({"rule": skipped.rule.id, "why": skipped.why})).collect();
    json!({
        "server": name,
        "served": served,
        "errors": report.count(Level::Error),
        "warnings": report.count(Level::Warning),
        "notes": report.count(Level::Note),
        "tried": report.tried(),
        "items": findings,
        "skipped": skipped,
        "stderr": report.complaints,
    })
}

#[cfg(test)]
mod tests {
    use super::super::text::tests::sample;
    use super::*;

    #[test]
    fn every_finding_is_an_item() {
        let report = write(&sample(), "demo");
        assert_eq!(
            (&report["errors"], &report["warnings"], &report["notes"]),
            (&json!(1), &json!(0), &json!(1))
        );
        assert_eq!(report["items"][0]["rule"], "ping");
        assert_eq!(report["items"][0]["level"], "error");
        assert_eq!(report["served"][0]["protocolVersion"], "2025-11-25");
        assert_eq!(report["skipped"][0]["why"], "it does not apply");
    }
}
