//! The nearest name to one that nobody knows.

/// Names longer than this are not typing mistakes, and comparing them costs time.
const LONGEST: usize = 64;

/// The candidate that was probably meant, if any is near.
#[must_use]
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if typed.len() > LONGEST {
        return None;
    }
    let typed = normal(typed);
    let allowed = (typed.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&typed, &normal(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `Allowed-Hosts` and `allowed_hosts` differ in spelling only.
fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// Names for a message: each in backticks, between commas.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[track_caller]
    fn check(typed: &str, expect: Option<&str>) {
        assert_eq!(nearest(typed, ["port", "host", "cors_origins", "allowed_hosts"]), expect);
    }

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_is_not() {
        check("prot", Some("port"));
        check("hots", Some("host"));
        check("PORT", Some("port"));
        check("allowed-hosts", Some("allowed_hosts"));
        check("cors_origin", Some("cors_origins"));
        check("timeout", None);
        check("", None);
        check(&"port".repeat(1000), None);
    }
}
