//! The report for build servers: a test suite a group, a test case a rule. Errors and warnings fail, notes are told.

use super::Report;
use crate::rule::{Group, Level, Rule};
use crate::rules::GROUPS;

pub(super) fn write(report: &Report, name: &str) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let cases: usize = GROUPS.iter().map(|group| group.rules.len()).sum();
    let failed = GROUPS.iter().flat_map(|group| group.rules).filter(|rule| fails(report, rule)).count();
    out.push_str(&format!(
        "<testsuites name=\"{}\" tests=\"{cases}\" failures=\"{failed}\" skipped=\"{}\">\n",
        escaped(name),
        report.skipped.len(),
    ));
    for group in GROUPS {
        suite(&mut out, report, group);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(out: &mut String, report: &Report, group: &Group) {
    let failed = group.rules.iter().filter(|rule| fails(report, rule)).count();
    let skipped = group.rules.iter().filter(|rule| why_not(report, rule).is_some()).count();
    out.push_str(&format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" skipped=\"{skipped}\">\n",
        group.name,
        group.rules.len(),
    ));
    for rule in group.rules {
        case(out, report, group.name, rule);
    }
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, report: &Report, group: &str, rule: &Rule) {
    out.push_str(&format!("    <testcase classname=\"toolgate-check.{group}\" name=\"{}\">\n", rule.id));
    if let Some(why) = why_not(report, rule) {
        out.push_str(&format!("      <skipped message=\"{}\"/>\n", escaped(why)));
    }
    let found = report.findings.iter().filter(|finding| finding.rule == rule);
    let lines: Vec<String> = found.map(|finding| format!("{}: {}", finding.place, finding.what)).collect();
    if !lines.is_empty() {
        let text = escaped(&format!("{}\nmend: {}", lines.join("\n"), rule.mend));
        if fails(report, rule) {
            out.push_str(&format!(
                "      <failure type=\"{}\" message=\"{}\">{text}</failure>\n",
                rule.level,
                escaped(rule.says),
            ));
        } else {
            out.push_str(&format!("      <system-out>{text}</system-out>\n"));
        }
    }
    out.push_str("    </testcase>\n");
}

fn fails(report: &Report, rule: &Rule) -> bool {
    rule.level > Level::Note && report.findings.iter().any(|finding| finding.rule == rule)
}

fn why_not<'a>(report: &'a Report, rule: &Rule) -> Option<&'a str> {
    report.skipped.iter().find(|skipped| skipped.rule == rule).map(|skipped| skipped.why.as_str())
}

/// A text as it stands in XML, where characters that XML does not have are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{FFFE}' | '\u{FFFF}') => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::text::tests::sample;
    use super::*;

    #[test]
    fn a_rule_is_a_test_case_that_passes_fails_or_is_skipped() {
        let text = write(&sample(), "a <b> & \"c\"\u{1}");
        assert!(text.contains("<testsuites name=\"a &lt;b&gt; &amp; &quot;c&quot;\" "), "{text}");
        let case = |rule: &str| {
            let from = text.find(&format!("name=\"{rule}\"")).unwrap();
            let rest = &text[from..];
            rest[..rest.find("</testcase>").unwrap()].to_owned()
        };
        assert!(case("ping").contains("<failure type=\"error\"") && case("ping").contains("within 10 s"));
        assert!(case("tool-title").contains("<system-out>") && !case("tool-title").contains("<failure"));
        assert!(case("origin").contains("<skipped message=\"it does not apply\"/>"));
        assert!(!case("batch").contains('<'));
        assert_eq!(text.matches("<failure").count(), 1);
    }
}
