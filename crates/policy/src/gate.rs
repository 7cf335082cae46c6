//! The gate of the rules.

use std::sync::Arc;

use arc_swap::ArcSwap;
use toolgate_core::{Error, Gate, Judged, Judgement, Kind, Listed, Origin, Verdict, Viewer};

use crate::compiled::Compiled;
use crate::condition::Arguments;
use crate::config::Effect;
use crate::decide::{Asked, By, Decision};
use crate::suggest::shown;
use crate::target::Subject;

/// The gate of the rules, which can be replaced while calls pass. Clones are the same gate.
#[derive(Clone)]
pub struct RulesGate {
    current: Arc<ArcSwap<Compiled>>,
}

impl RulesGate {
    /// A gate that goes by this policy.
    pub fn new(compiled: Compiled) -> Self {
        Self { current: Arc::new(ArcSwap::from_pointee(compiled)) }
    }

    /// Goes by another policy from now on.
    pub fn set(&self, compiled: Compiled) {
        self.current.store(Arc::new(compiled));
    }

    /// The policy in force.
    pub fn current(&self) -> Arc<Compiled> {
        self.current.load_full()
    }
}

impl Gate for RulesGate {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn judge(&self, judged: Judged<'_>) -> Judgement {
        let policy = self.current.load();
        let call = judged.call;
        let roles = policy.roles_of(call.principal.id.as_str(), &call.principal.roles);
        let asked = Asked {
            principal: call.principal.id.as_str(),
            roles: &roles,
            subject: Subject::of(&call.target),
            hints: judged.tool.map(|tool| tool.hints),
            source: judged.origin.map(|origin| origin.source.as_str()),
            client: call.client.name.as_ref().map(|client| client.name.as_str()),
            profile: call.profile.as_deref(),
        };
        let arguments = Arguments::of(call);
        let decision = policy.decide(&asked, &arguments);
        judgement(decision, &asked)
    }

    fn shows(&self, viewer: Viewer<'_>, item: Listed<'_>, origin: Origin<'_>) -> bool {
        let policy = self.current.load();
        let principal = viewer.principal.id.as_str();
        let roles = policy.roles_of(principal, &viewer.principal.roles);
        let (subject, hints) = match item {
            Listed::Tool(tool) => (Subject::listed("tool", tool.name.as_str()), Some(tool.hints)),
            Listed::Resource(resource) => (Subject::listed("resource", &resource.uri), None),
            Listed::Template(template) => (Subject::template(&template.text), None),
            Listed::Prompt(prompt) => (Subject::listed("prompt", &prompt.name), None),
        };
        policy.shows(&Asked {
            principal,
            roles: &roles,
            subject,
            hints,
            source: Some(origin.source.as_str()),
            client: None,
            profile: viewer.profile,
        })
    }

    fn searches(&self, viewer: Viewer<'_>) -> Option<bool> {
        let policy = self.current.load();
        let own = || policy.principals.get(viewer.principal.id.as_str())?.profile.as_deref();
        policy.profiles.get(viewer.profile.or_else(own)?)?.search
    }

    fn version(&self) -> Arc<str> {
        Arc::clone(self.current.load().version())
    }
}

fn judgement(decision: Decision, asked: &Asked<'_>) -> Judgement {
    let verdict = match decision.effect {
        Effect::Allow => Verdict::Pass,
        Effect::Ask => Verdict::Ask(question(&decision)),
        Effect::Deny => Verdict::Deny(refusal(&decision, asked)),
    };
    Judgement::by(decision.by.name(), verdict)
}

fn question(decision: &Decision) -> String {
    match (&decision.reason, &decision.by) {
        (Some(reason), _) => reason.to_string(),
        (None, By::Rule(name)) => format!("the rule `{name}` wants a person to agree"),
        (None, By::Default | By::Bound | By::Profile(_)) => {
            "no rule allows it, so a person has to agree".into()
        }
    }
}

fn refusal(decision: &Decision, asked: &Asked<'_>) -> Error {
    let target = asked.subject.shown();
    let message = match (&decision.by, &decision.reason) {
        (By::Rule(name), Some(reason)) => format!("the rule `{name}` denies it: {reason}"),
        (By::Rule(name), None) => format!("the rule `{name}` denies it"),
        (By::Default, _) => "no rule allows it".into(),
        (By::Bound, _) => {
            format!("`{}` is not among what `{}` may use", shown(&target), shown(asked.principal))
        }
        (By::Profile(name), _) => format!("`{}` is not in the profile `{}`", shown(&target), shown(name)),
    };
    let explain = format!("`toolgate policy explain {} {}`", shown(asked.principal), shown(&target));
    Error::new(Kind::Denied, message).hint(format!("{explain} tells which rule decides and why"))
}
