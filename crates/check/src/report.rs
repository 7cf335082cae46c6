//! What was found, and how it is written: for people, for programs, for build servers.

mod json;
mod junit;
mod text;

use crate::notes::{Finding, Notes, Skipped};
use crate::rule::Level;
use crate::rules;

/// One way in which a server was spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// `legacy` or `modern`.
    pub era: &'static str,
    /// The protocol version.
    pub version: &'static str,
    /// `stdio`, `HTTP` or `HTTP+SSE`.
    pub transport: &'static str,
    /// What the server calls itself, with its version.
    pub name: Option<String>,
    /// How many tools it has.
    pub tools: usize,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How the server was spoken to; nothing where it could not be.
    pub served: Vec<Served>,
    /// What was found, in the order of the rules.
    pub findings: Vec<Finding>,
    /// Rules that were not tried.
    pub skipped: Vec<Skipped>,
    /// The last lines that the server wrote to standard error.
    pub complaints: Vec<String>,
}

impl Report {
    pub(crate) fn new(served: Vec<Served>, notes: &Notes, complaints: Vec<String>) -> Self {
        let of = |rule| notes.findings().iter().filter(move |finding| finding.rule == rule).cloned();
        let skipped = rules::all().filter_map(|rule| Some(Skipped { rule, why: notes.why_not(rule)? }));
        let complaints = complaints.iter().map(|line| crate::notes::shown(line)).collect();
        Self { served, findings: rules::all().flat_map(of).collect(), skipped: skipped.collect(), complaints }
    }

    /// The same report with every text of the server put through `clean`, which hides what must not be seen.
    #[must_use]
    pub fn cleaned(mut self, clean: impl Fn(&str) -> String) -> Self {
        for finding in &mut self.findings {
            finding.place = clean(&finding.place);
            finding.what = clean(&finding.what);
        }
        self.skipped.iter_mut().for_each(|skipped| skipped.why = clean(&skipped.why));
        let names = self.served.iter_mut().filter_map(|served| served.name.as_mut());
        names.chain(&mut self.complaints).for_each(|text| *text = clean(text));
        self
    }

    /// How much the worst finding matters.
    pub fn worst(&self) -> Option<Level> {
        self.findings.iter().map(|finding| finding.rule.level).max()
    }

    /// How many findings matter so much.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.rule.level == level).count()
    }

    /// How many rules were tried.
    pub fn tried(&self) -> usize {
        rules::all().count() - self.skipped.len()
    }

    /// The report for people, in lines of at most 80 columns. `name` is what the server is called here.
    pub fn text(&self, name: &str) -> String {
        text::write(self, name)
    }

    /// The report for programs.
    pub fn json(&self, name: &str) -> serde_json::Value {
        json::write(self, name)
    }

    /// The report for build servers: a test case a rule.
    pub fn junit(&self, name: &str) -> String {
        junit::write(self, name)
    }
}

#[cfg(test)]
mod tests {
    use super::text::tests::sample;

    #[test]
    fn every_text_of_a_server_is_cleaned() {
        let mut report = sample();
        report.skipped[0].why = "error 1: hunter2".into();
        report.findings[0].what = "hunter2".into();
        report.findings[0].place = "tool `hunter2`".into();
        report.served[0].name = Some("hunter2 1.0".into());
        report.complaints = vec!["key hunter2".into()];
        let report = report.cleaned(|text| text.replace("hunter2", "***"));
        let written = [report.json("x").to_string(), report.junit("x"), report.text("x")];
        assert!(written.iter().all(|text| !text.contains("hunter2")), "{written:?}");
        assert_eq!(report.json("x")["skipped"][0]["why"], "error 1: ***");
    }
}
