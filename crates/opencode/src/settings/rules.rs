//! What OpenCode's agents may do in the end: of all rules that fit, in all files, the last one counts.

use std::path::Path;

use serde_json::Value;
use toolgate_core::{Error, Kind, Result, fits_pattern};

use crate::agents::agents;
use crate::answers::{list, text};
use crate::server::Link;

/// Where rules stand, and older words for them.
pub(super) const PERMISSION: &str = "permission";
pub(super) const TOOLS: &str = "tools";

/// What stands for everything.
pub(super) const ALL: &str = "*";

/// Tools that ask for the permission of another.
const EDITING: [&str; 3] = ["write", "patch", "apply_patch"];

/// What a change of rules is to bring about.
pub(crate) struct Rules<'a> {
    /// The agent that they are for; all, without one.
    pub(crate) agent: Option<&'a str>,
    /// What may be done then, by tool or pattern.
    pub(crate) wanted: Vec<(&'a str, &'a str)>,
}

impl Rules<'_> {
    /// The first that does not count, as an error. `config` is what OpenCode says of its configuration.
    pub(super) async fn overruled(
        &self,
        link: &Link,
        project: &Path,
        config: &Value,
    ) -> Result<Option<Error>> {
        let agents = agents(link.client(), project).await?;
        let rules = agents.iter().filter(|agent| self.is_for(agent, config));
        let rules: Vec<&Value> = rules.map(|agent| &agent[PERMISSION]).collect();
        let stays = |(tool, action): &&(&str, &str)| rules.iter().all(|rules| counts(rules, tool, action));
        Ok(self.wanted.iter().find(|wanted| !stays(wanted)).map(|(tool, action)| overruled(tool, action)))
    }

    /// Whether an agent is held to them; one with rules of its own is so only if it is meant.
    fn is_for(&self, agent: &Value, config: &Value) -> bool {
        let name = text(&agent["name"]);
        match self.agent {
            Some(wanted) => name == wanted,
            None => config["agent"][&name][PERMISSION].is_null(),
        }
    }
}

/// Whether this is what may be done with a tool in the end. Of a pattern nobody can say.
fn counts(rules: &Value, tool: &str, action: &str) -> bool {
    if tool.contains(ALL) {
        return true;
    }
    let tool = permission(tool);
    let fits = |rule: &&Value| rule["pattern"] == ALL && fits_pattern(&text(&rule[PERMISSION]), tool);
    list(rules).iter().rev().find(fits).is_none_or(|rule| rule["action"] == action)
}

/// The permission that a tool asks for.
fn permission(tool: &str) -> &str {
    if EDITING.contains(&tool) { "edit" } else { tool }
}

fn overruled(tool: &str, action: &str) -> Error {
    let words = format!("`{tool}` is not changed: another rule that fits it counts for more than `{action}`");
    let permission = permission(tool);
    Error::new(Kind::Upstream, words).hint(format!(
        "of all rules that fit, in all files, the last one counts: use `opencode_permission_set` for `{permission}`, \
         or the other `scope`"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_rule_that_fits_counts() {
        let rule = |permission: &str, pattern: &str, action: &str| json!({"permission": permission, "pattern": pattern, "action": action});
        let rules = json!([
            rule("*", "*", "allow"),
            rule("bash", "*", "deny"),
            rule("edit", "*", "deny"),
            rule("web*", "*", "ask"),
            rule("bash", "git *", "allow"),
        ]);
        for (tool, action, expect) in [
            ("bash", "deny", true),
            ("bash", "allow", false),
            ("webfetch", "deny", false),
            ("webfetch", "ask", true),
            ("read", "allow", true),
            ("write", "deny", true),
            ("*", "deny", true),
        ] {
            assert_eq!(counts(&rules, tool, action), expect, "{tool} {action}");
        }
        assert!(counts(&json!([]), "bash", "deny"), "nothing speaks against it");
    }
}
