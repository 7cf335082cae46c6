//! What is wrong with the definitions of a server, as `toolgate mcp test` tells it.

use std::cmp::Reverse;

use serde_json::{Value, json};
use toolgate_check::{Finding, Level, Offer, look};
use toolgate_core::ListKind;
use toolgate_upstream::Definitions;
use toolgate_wire::{Era, Raw};

/// So many are told; a server with a hundred tools has the same fault a hundred times.
const MOST: usize = 5;

/// Looks at definitions; every text of the server goes through `clean`.
pub(super) fn of(definitions: &Definitions, clean: impl Fn(String) -> String) -> Vec<Finding> {
    let list = |kind| definitions.list(kind).iter().filter_map(|raw| raw.to::<Value>().ok()).collect();
    let mut found = look(Offer {
        tools: list(ListKind::Tools),
        prompts: list(ListKind::Prompts),
        resources: list(ListKind::Resources),
        templates: list(ListKind::Templates),
        instructions: definitions.instructions().map(ToOwned::to_owned),
        modern: definitions.version().is_some_and(|version| version.era() == Era::Modern),
    });
    for finding in &mut found {
        finding.place = clean(std::mem::take(&mut finding.place));
        finding.what = clean(std::mem::take(&mut finding.what));
    }
    // The worst first, and else in the order of the rules.
    found.sort_by_key(|finding| Reverse(finding.rule.level));
    found
}

/// What a program reads of them.
pub(super) fn json(found: &[Finding]) -> Raw {
    let item = |finding: &Finding| {
        let Finding { rule, place, what } = finding;
        json!({"rule": rule.id, "level": rule.level, "place": place, "what": what, "mend": rule.mend})
    };
    Raw::of(&found.iter().map(item).collect::<Vec<_>>())
}

/// What a person reads of them: a sign and a line each. Notes are for who makes the server, and asks for them.
pub(super) fn lines(name: &str, found: &[Finding]) -> Vec<(char, String)> {
    let worth: Vec<&Finding> = found.iter().filter(|finding| finding.rule.level > Level::Note).collect();
    if worth.is_empty() {
        let all = format!("its definitions are right; `toolgate check {name}` tries how it converses, too");
        return vec![('✓', all)];
    }
    let line = |finding: &&Finding| {
        let sign = if finding.rule.level == Level::Error { '✗' } else { '!' };
        (sign, format!("{}: {}: {}", finding.rule.id, finding.place, finding.what))
    };
    let mut lines: Vec<(char, String)> = worth.iter().take(MOST).map(line).collect();
    let more = match worth.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("and {more} more; "),
    };
    lines.push((
        ' ',
        format!("{more}`toolgate check {name}` says how to mend it, and tries how it converses"),
    ));
    lines
}

#[cfg(test)]
mod tests {
    use toolgate_check::rule;

    use super::*;

    fn finding(id: &str, place: &str) -> Finding {
        Finding { rule: rule(id).unwrap(), place: place.into(), what: "it has none".into() }
    }

    #[test]
    fn the_worst_are_told_and_how_many_there_are() {
        let told = |found: &[Finding]| {
            let lines = lines("a", found);
            lines.iter().map(|(sign, line)| format!("{sign} {line}")).collect::<Vec<_>>()
        };
        let right = ["✓ its definitions are right; `toolgate check a` tries how it converses, too"];
        assert_eq!(told(&[]), right);
        assert_eq!(told(&[finding("tool-title", "tool `x`")]), right, "a note is no fault");
        let mut found = vec![finding("unique-names", "tool `x`")];
        found.extend((0..6).map(|_| finding("property-description", "tool `y`")));
        let told = told(&found);
        assert_eq!(told[0], "✗ unique-names: tool `x`: it has none");
        assert_eq!(told[4], "! property-description: tool `y`: it has none");
        assert_eq!(
            told[5..],
            ["  and 2 more; `toolgate check a` says how to mend it, and tries how it converses"]
        );
    }
}
