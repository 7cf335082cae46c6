//! The report for people.

use super::{Report, Served};
use crate::rule::{Level, Rule};
use crate::rules::GROUPS;

const COLUMNS: usize = 80;

/// Of one rule so many places are shown, of one that matters little fewer; JSON has them all.
const MOST: usize = 8;
const FEW: usize = 3;

pub(super) fn write(report: &Report, name: &str) -> String {
    let mut out = String::new();
    paragraph(&mut out, "", &format!("{name}: {}", served(report)));
    for group in GROUPS {
        let mut first = true;
        for rule in group.rules {
            if report.findings.iter().any(|finding| finding.rule == *rule) {
                if first {
                    out.push_str(&format!("\n{}\n", group.name));
                }
                first = false;
                entry(&mut out, report, rule);
            }
        }
    }
    if report.worst() == Some(Level::Error) && !report.complaints.is_empty() {
        out.push_str("\nwhat the server last wrote to standard error\n");
        for line in &report.complaints {
            paragraph(&mut out, "  | ", line);
        }
    }
    out.push('\n');
    paragraph(&mut out, "", &summary(report));
    out
}

fn entry(out: &mut String, report: &Report, rule: &Rule) {
    let head = format!("  {:7}  {}  ", rule.level, rule.id);
    let indent = " ".repeat(11);
    if head.len() + rule.says.chars().count() <= COLUMNS {
        out.push_str(&format!("{head}{}\n", rule.says));
    } else {
        out.push_str(&format!("{}\n", head.trim_end()));
        paragraph(out, &indent, rule.says);
    }
    let found: Vec<_> = report.findings.iter().filter(|finding| finding.rule == rule).collect();
    let most = if rule.level == Level::Note { FEW } else { MOST };
    for finding in found.iter().take(most) {
        item(out, &indent, &format!("{}: {}", finding.place, finding.what));
    }
    if found.len() > most {
        item(out, &indent, &format!("and {} more, which `--json` shows", found.len() - most));
    }
    paragraph(out, &indent, &format!("mend: {}", rule.mend));
}

fn served(report: &Report) -> String {
    let Some(first) = report.served.first() else { return "no conversation came about".into() };
    let tools = match first.tools {
        1 => "1 tool".into(),
        count => format!("{count} tools"),
    };
    let one = |served: &Served| format!("{} era ({}) over {}", served.era, served.version, served.transport);
    let all: Vec<String> = report.served.iter().map(one).collect();
    let named = first.name.as_ref().map(|name| format!("{name}, ")).unwrap_or_default();
    format!("{named}{}, {tools}", all.join(" and "))
}

fn summary(report: &Report) -> String {
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let found = match report.worst() {
        None => "nothing found".into(),
        Some(_) => [Level::Error, Level::Warning, Level::Note]
            .iter()
            .filter(|level| report.count(**level) > 0)
            .map(|level| plural(report.count(*level), level.as_str()))
            .collect::<Vec<_>>()
            .join(", "),
    };
    let not = match report.skipped.len() {
        0 => String::new(),
        count => format!(", {count} not (`--json` says why)"),
    };
    format!("{found}; {} tried{not}", plural(report.tried(), "rule"))
}

/// A point of a list, whose lines after the first stand under its text.
fn item(out: &mut String, indent: &str, text: &str) {
    wrap(out, &format!("{indent}- "), &format!("{indent}  "), text);
}

fn paragraph(out: &mut String, indent: &str, text: &str) {
    wrap(out, indent, indent, text);
}

/// Appends words in lines that fit; a word that is longer than a line is cut.
fn wrap(out: &mut String, first: &str, next: &str, text: &str) {
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace().flat_map(|word| pieces(word, COLUMNS - next.len())) {
        if !empty && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            out.push_str(line.trim_end());
            out.push('\n');
            next.clone_into(&mut line);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(&word);
        empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

fn pieces(word: &str, most: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    letters.chunks(most.max(1)).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::notes::{Finding, Skipped};
    use crate::rules::rule;

    fn finding(id: &str, place: &str, what: &str) -> Finding {
        Finding { rule: rule(id).unwrap(), place: place.into(), what: what.into() }
    }

    pub(crate) fn sample() -> Report {
        Report {
            served: vec![Served {
                era: "legacy",
                version: "2025-11-25",
                transport: "stdio",
                name: Some("demo 1.0".into()),
                tools: 1,
            }],
            findings: vec![
                finding("ping", "legacy era, stdio", "no answer within 10 s"),
                finding("tool-title", "tool `a`", "it has none"),
            ],
            skipped: vec![Skipped { rule: rule("origin").unwrap(), why: "it does not apply".into() }],
            complaints: vec!["Traceback <most recent>".into()],
        }
    }

    #[test]
    fn the_report_is_grouped_and_says_how_to_mend() {
        let expect = "\
demo: demo 1.0, legacy era (2025-11-25) over stdio, 1 tool

conversation
  error    ping  `ping` is answered with an empty result, in the legacy era.
           - legacy era, stdio: no answer within 10 s
           mend: answer `ping` with `{}` at any time, also before anything else
           is set up

words
  note     tool-title  Every tool has a title for people.
           - tool `a`: it has none
           mend: add `title`: clients show it instead of the name

what the server last wrote to standard error
  | Traceback <most recent>

1 error, 1 note; ";
        let text = sample().text("demo");
        assert!(text.starts_with(expect), "{text}");
        assert!(text.ends_with(" rules tried, 1 not (`--json` says why)\n"), "{text}");
    }

    #[test]
    fn no_line_is_longer_than_a_terminal() {
        let mut report = sample();
        for number in 0..20 {
            let what = format!("{number} {}", "word ".repeat(40) + &"x".repeat(300));
            report.findings.push(finding("schema-valid", "tool `b`", &what));
        }
        let text = report.text(&"n".repeat(200));
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(text.contains("and 12 more, which `--json` shows"), "{text}");
    }
}
