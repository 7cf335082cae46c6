//! What is known of pinned tools, and what follows from it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use toolgate_core::{Document, SourceId, ToolItem, Write};
use toolgate_wire::Raw;

use super::compare::differences;
use super::document::{Pin, Version, digest};
use super::news::News;
use super::read;
use super::report::{Finding, Part, PinReport, Severity, Standing};
use super::snapshot::{Held, Known, Listed, Snapshot};
use super::suspect::suspicions;
use crate::config::{PinAction, PinsConfig};
use crate::suggest::shown;

/// How many definitions of one name are told apart: different principals may be shown different ones.
const SEEN: usize = 4;

/// How many tools of one source are kept, and remembered that are not listed any more. As many as one list may have: of
/// a server that makes up names without end, what is beyond is held.
const MOST: usize = 20_000;

/// All that is known.
pub(super) struct State {
    pub(super) config: PinsConfig,
    /// From the store, by id.
    pins: BTreeMap<String, Pin>,
    /// What foreign sources list, as it was observed, newest first.
    seen: HashMap<SourceId, HashMap<String, Vec<Seen>>>,
    listed: Listed,
    /// What our own sources list.
    own: HashMap<SourceId, HashSet<String>>,
}

struct Seen {
    raw: Raw,
    digest: String,
    /// What the log said of it.
    told: Option<String>,
}

impl State {
    pub(super) fn new(config: PinsConfig) -> Self {
        let (pins, seen, listed, own) = Default::default();
        Self { config, pins, seen, listed, own }
    }

    /// What our own sources list: a foreign tool of such a name is no accident.
    pub(super) fn note_own(&mut self, source: &SourceId, tools: &[Arc<ToolItem>]) {
        self.own.insert(source.clone(), tools.iter().map(|tool| tool.name.to_string()).collect());
    }

    pub(super) fn learn(&mut self, documents: Vec<Document>) {
        self.pins = read(&documents).into_iter().map(|(document, pin)| (document.id, pin)).collect();
    }

    /// Remembers what a source lists now; tells whether it forgot for that what it listed before.
    pub(super) fn see(&mut self, source: &SourceId, tools: &[Arc<ToolItem>]) -> bool {
        let mut forgot = false;
        let names: HashSet<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
        let known = self.seen.entry(source.clone()).or_default();
        for tool in tools {
            let all = known.entry(tool.name.to_string()).or_default();
            let before = all.iter().position(|seen| seen.raw.as_bytes() == tool.raw.as_bytes());
            let told = before.and_then(|place| all.remove(place).told);
            all.insert(0, Seen { raw: tool.raw.detach(), digest: digest(&tool.raw), told });
            forgot |= all.len() > SEEN;
            all.truncate(SEEN);
        }
        if known.len() > MOST {
            known.retain(|name, _| names.contains(name));
            forgot = true;
        }
        self.listed.insert(source.clone(), names.into());
        forgot
    }

    /// Whether every source that has tools is one of these.
    pub(super) fn has_only(&self, sources: &[&SourceId]) -> bool {
        self.listed.keys().all(|source| sources.contains(&source))
    }

    /// Forgets what other sources list. What is known of their tools stays, should they come back.
    pub(super) fn retain(&mut self, sources: &[&SourceId]) {
        self.listed.retain(|source, _| sources.contains(&source));
    }

    /// What the log has to say of pins that were just written: those that are not as they were accepted, each once for
    /// the same definition and reason.
    pub(super) fn news(&mut self, source: &SourceId, written: &BTreeSet<String>) -> Vec<News> {
        let pins = written.iter().filter_map(|id| self.pins.get(id)).filter(|pin| !pin.is_mark());
        let reports: Vec<PinReport> = pins.map(|pin| self.report(pin)).collect();
        let mut news = Vec::new();
        for report in reports.into_iter().filter(|report| report.standing >= Standing::Warned) {
            let why = why(&report.findings);
            let all = self.seen.get_mut(source).and_then(|tools| tools.get_mut(&report.tool));
            let seen = all.into_iter().flatten().find(|seen| report.digest.as_ref() == Some(&seen.digest));
            let told = seen.and_then(|seen| seen.told.replace(why.clone()));
            if told.as_ref() != Some(&why) {
                news.push(News { tool: shown(&report.tool), standing: report.standing, why });
            }
        }
        news
    }

    /// What has to be written after a look at what a source lists.
    pub(super) fn sightings(
        &self,
        documents: &[Document],
        source: &SourceId,
        tools: &[Arc<ToolItem>],
        now_ms: u64,
    ) -> Vec<Write> {
        let pins: BTreeMap<String, (Document, Pin)> = read(documents)
            .into_iter()
            .map(|(document, pin)| (document.id.clone(), (document, pin)))
            .collect();
        // One that is still starting, off or out of order lists nothing, and was not seen by that.
        if tools.is_empty() {
            return Vec::new();
        }
        let mark = Pin::id(source.as_str(), "");
        let known = pins.contains_key(&mark);
        let mut writes: Vec<Write> =
            if known { Vec::new() } else { vec![Pin::mark(source, now_ms).insert()] };
        let mut room = MOST.saturating_sub(pins.values().filter(|(_, pin)| pin.is_of(source)).count());
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        tools.iter().for_each(|tool| *counts.entry(tool.name.as_str()).or_default() += 1);
        for tool in tools {
            let name = tool.name.as_str();
            // Of a name that is there more than once the first is kept.
            let Some(count) = counts.remove(name) else { continue };
            let version = Version::of(tool, now_ms);
            match pins.get(&Pin::id(source.as_str(), name)) {
                Some((document, pin)) => {
                    let mut next = Pin { duplicated: count > 1, ..pin.clone() };
                    next.seen(version);
                    if next != *pin {
                        writes.push(next.replace(document));
                    }
                }
                None if room == 0 => {
                    tracing::warn!(%source, tool = name, "it has had so many tools that this one is not kept");
                }
                None => {
                    room -= 1;
                    let reused = self.who_had(name, source, pins.values().map(|(_, pin)| pin));
                    let pin = Pin::new(source.as_str(), name, now_ms);
                    let pin = Pin { added: known, reused, duplicated: count > 1, ..pin };
                    writes.push(first_sight(pin, version).insert());
                }
            }
        }
        writes
    }

    /// The other source that has, or had, a tool of this name.
    fn who_had<'a>(
        &self,
        name: &str,
        source: &SourceId,
        mut pins: impl Iterator<Item = &'a Pin>,
    ) -> Option<String> {
        let own = self.own.iter().find(|(other, names)| *other != source && names.contains(name));
        let own = own.map(|(other, _)| other.to_string());
        own.or_else(|| {
            pins.find(|pin| pin.tool == name && pin.source != source.as_str()).map(|pin| pin.source.clone())
        })
    }

    /// What the gate is to go by.
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut sources = HashMap::new();
        for (source, tools) in &self.seen {
            let stand = |(name, all): (&String, &Vec<Seen>)| {
                let pin = self.pins.get(&Pin::id(source.as_str(), name));
                (name.clone(), all.iter().map(|seen| self.known(source, pin, seen)).collect())
            };
            sources.insert(source.clone(), tools.iter().map(stand).collect::<HashMap<_, Vec<_>>>());
        }
        Snapshot { sources, listed: self.listed.clone(), config: self.config.clone() }
    }

    fn known(&self, source: &SourceId, pin: Option<&Pin>, seen: &Seen) -> Known {
        let raw = seen.raw.clone();
        let held = |why: String, accept| Some(Arc::new(Held { why, accept }));
        let Some(pin) = pin else {
            let held = held("its definition was not kept".into(), None);
            return Known { raw, standing: Standing::Held, held };
        };
        if pin.trusts(&seen.digest) && !pin.duplicated {
            return Known { raw, standing: Standing::Trusted, held: None };
        }
        let (standing, findings) = self.stands(pin, Some((&seen.digest, &seen.raw)), source.as_str());
        let is_held = standing == Standing::Held;
        let accept = acceptance(pin).filter(|(digest, _)| *digest == seen.digest).map(|(_, command)| command);
        let held = if is_held { held(why(&findings), accept) } else { None };
        Known { raw, standing, held }
    }

    /// How a tool stands with a definition.
    fn stands(&self, pin: &Pin, now: Option<(&str, &Raw)>, source: &str) -> (Standing, Vec<Finding>) {
        let trusted = now.is_none_or(|(digest, _)| pin.trusts(digest));
        let mut found = Vec::new();
        if let Some((digest, definition)) = now.filter(|_| !trusted) {
            found = findings(pin, digest, definition);
        }
        if pin.duplicated {
            let says =
                "its server lists this name more than once, so nobody knows which one is called".into();
            found.push(Finding { part: Part::DuplicateName, severity: Severity::High, says });
        }
        let actions = Actions::of(&self.config, source);
        let standing = found.iter().map(|finding| actions.standing(finding.part)).max();
        (standing.unwrap_or(Standing::Trusted), found)
    }

    /// What is told of a pin.
    pub(super) fn report(&self, pin: &Pin) -> PinReport {
        let now = pin.pending.as_ref().map(|version| (version.digest.as_str(), &version.definition));
        let (standing, findings) = self.stands(pin, now, &pin.source);
        let accepted = pin.accepted.first();
        PinReport {
            source: pin.source.clone(),
            tool: pin.tool.clone(),
            standing,
            severity: findings.iter().map(|finding| finding.severity).max(),
            findings,
            first_seen_ms: pin.first_seen_ms,
            accepted_ms: accepted.map(|version| version.at_ms),
            accepted_by: accepted.and_then(|version| version.by.clone()),
            digest: pin.pending.as_ref().or(accepted).map(|version| version.digest.clone()),
            accept: acceptance(pin).map(|(_, command)| command),
        }
    }
}

/// What gives no cause is trusted at first sight.
fn first_sight(mut pin: Pin, version: Version) -> Pin {
    let fine = findings(&pin, &version.digest, &version.definition).is_empty();
    if fine {
        pin.accepted.push(version)
    } else {
        pin.pending = Some(version)
    }
    pin
}

/// All that is to be said of a definition that nobody accepted.
fn findings(pin: &Pin, digest: &str, definition: &Raw) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(before) = pin.reference().filter(|before| before.digest != digest) {
        found = differences(&before.definition, definition);
        if found.is_empty() {
            // The digest decides what is another definition, not what we can make of it.
            let says = "it is another definition, but what differs cannot be shown".into();
            found.push(Finding { part: Part::Other, severity: Severity::High, says });
        }
    }
    if pin.added && pin.accepted.is_empty() {
        let says = "its server did not have it when it was first seen".into();
        found.push(Finding { part: Part::NewTool, severity: Severity::Medium, says });
    }
    if let Some(other) = pin.reused.as_ref().filter(|_| pin.accepted.is_empty()) {
        let says = format!("`{other}` has, or had, a tool of this name");
        found.push(Finding { part: Part::ReusedName, severity: Severity::High, says });
    }
    let suspicions = suspicions(definition);
    let says = |says| Finding { part: Part::Suspicious, severity: Severity::High, says };
    found.extend(suspicions.into_iter().map(says));
    found
}

/// The digest of the definition that can be accepted, and the command that accepts no other.
fn acceptance(pin: &Pin) -> Option<(&str, String)> {
    let digest = pin.pending.as_ref()?.digest.as_str();
    Some((digest, format!("toolgate pins accept {} {} --digest {digest}", pin.source, pin.tool)))
}

/// What is not as it was, in a few words.
fn why(findings: &[Finding]) -> String {
    let mut parts: Vec<&str> = findings.iter().map(|finding| finding.part.as_str()).collect();
    parts.dedup();
    parts.join(", ")
}

/// What holds for one source.
pub(super) struct Actions {
    changed: PinAction,
    added: PinAction,
    shadowing: PinAction,
    suspicious: PinAction,
}

impl Actions {
    pub(super) fn of(config: &PinsConfig, source: &str) -> Self {
        let own = config.sources.get(source).copied().unwrap_or_default();
        Self {
            changed: own.changed.unwrap_or(config.changed),
            added: own.added.unwrap_or(config.added),
            shadowing: own.shadowing.unwrap_or(config.shadowing),
            suspicious: own.suspicious.unwrap_or(config.suspicious),
        }
    }

    pub(super) fn hold_nothing(&self) -> bool {
        [self.changed, self.added, self.shadowing, self.suspicious]
            .iter()
            .all(|action| *action != PinAction::Hold)
    }

    fn standing(&self, part: Part) -> Standing {
        let action = match part {
            Part::Description | Part::Schema | Part::Annotations | Part::Other => self.changed,
            Part::NewTool => self.added,
            Part::ReusedName => self.shadowing,
            Part::Suspicious => self.suspicious,
            // Two of one name cannot be told apart, whatever is configured.
            Part::DuplicateName => return Standing::Held,
        };
        match action {
            PinAction::Hold => Standing::Held,
            PinAction::Warn => Standing::Warned,
            PinAction::Allow => Standing::Allowed,
        }
    }
}

#[cfg(test)]
mod tests;
