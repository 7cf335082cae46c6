//! Learning what a server has: every list, page by page, to its end.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolgate_core::{Kinds, ListKind};
use toolgate_wire::{Edit, Era, Raw, code, method};

use super::lacking::without;
use super::{FRESH, Shared, all_kinds};
use crate::definitions::Definitions;
use crate::fault::{Fault, Silence};
use crate::link::{Ask, Declared, Link};
use crate::open::modern_params;

/// How many pages of one list are read, and how many items and bytes of it are kept.
const MOST_PAGES: usize = 1_000;
const MOST_ITEMS: usize = 20_000;
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// A server may ask to be looked at again, but not sooner than this.
const SOONEST: Duration = Duration::from_secs(60);

/// How long all lists together may take beyond one answer: whoever has so much else to say keeps others waiting.
const LONGEST: Duration = Duration::from_secs(120);

/// What is there is offered while a list takes longer than this.
const SLOW: Duration = Duration::from_millis(500);

/// What a look at lists showed.
pub(super) struct Looked {
    /// How long it counts.
    pub(super) fresh_for: Duration,
    /// The lists that were not told.
    pub(super) untold: Kinds,
}

/// Learns these lists, and offers what there is: what is on one list does not depend on whether another is told.
pub(super) async fn learn(shared: &Arc<Shared>, link: &Link, kinds: Kinds) -> Result<Looked, Fault> {
    let mut look = Look::begin(shared, link);
    let looked = look.at(kinds).await;
    look.offer();
    looked?;
    shared.nothing_pending();
    Ok(Looked { fresh_for: look.fresh_for, untold: look.untold })
}

/// A look at the lists of a server.
struct Look<'a> {
    shared: &'a Shared,
    link: &'a Link,
    /// What is offered by now, if anything is.
    offered: Option<Arc<Definitions>>,
    /// What it has, with what was known before of lists that it did not tell.
    next: Definitions,
    fresh_for: Duration,
    told: Kinds,
    untold: Kinds,
    limit: Duration,
    deadline: Instant,
}

impl<'a> Look<'a> {
    fn begin(shared: &'a Shared, link: &'a Link) -> Self {
        let offered = shared.learned.borrow().clone();
        let mut next = offered.as_deref().cloned().unwrap_or_else(|| nothing(shared, link));
        let facts = &link.facts;
        next.version = facts.version.as_str().to_owned();
        next.capabilities = facts.capabilities.clone();
        next.server = facts.server.clone();
        next.instructions = facts.instructions.clone();
        let limit = shared.plan.timeout + LONGEST;
        let deadline = Instant::now() + limit;
        let (told, untold) = (Kinds::NONE, Kinds::NONE);
        Self { shared, link, offered, next, fresh_for: FRESH, told, untold, limit, deadline }
    }

    /// Looks at these lists, one after the other. It fails as a whole where the connection does, where it is not known
    /// which tools there are, and where tools are not told and nothing else is.
    async fn at(&mut self, kinds: Kinds) -> Result<(), Fault> {
        let (mut without_tools, mut tells) = (None, false);
        for kind in self.in_order().into_iter().filter(|kind| kinds.has(*kind)) {
            match self.list(kind).await {
                Ok((items, ttl)) => {
                    self.fresh_for = self.fresh_for.min(ttl.unwrap_or(FRESH)).max(SOONEST);
                    self.learned(kind, items);
                    tells |= self.link.facts.has(&[capability(kind)]);
                }
                Err(fault) => {
                    self.fails(kind, &fault)?;
                    if kind == ListKind::Tools {
                        without_tools = Some(fault);
                    }
                }
            }
        }
        match without_tools {
            Some(fault) if !tells => Err(fault),
            _ => Ok(()),
        }
    }

    fn learned(&mut self, kind: ListKind, items: Vec<Raw>) {
        self.next.set(kind, items);
        self.told = self.told.with(kind);
    }

    /// Lists that were not told change places from look to look: one that takes all the time there is keeps the others
    /// from being told only once.
    fn in_order(&self) -> [ListKind; 4] {
        let [first, mut rest @ ..] = ListKind::ALL;
        if self.shared.times_lacking() % 2 == 1 {
            rest.reverse();
        }
        let [second, third, fourth] = rest;
        [first, second, third, fourth]
    }

    /// One list, within the time that is left.
    async fn list(&mut self, kind: ListKind) -> Result<(Vec<Raw>, Option<Duration>), Fault> {
        let mut listed = pin!(tokio::time::timeout_at(self.deadline, list(self.shared, self.link, kind)));
        let answer = match tokio::time::timeout(SLOW, &mut listed).await {
            Ok(answer) => answer,
            Err(_) => {
                self.offer();
                listed.await
            }
        };
        answer.unwrap_or(Err(Fault::Late(Silence::of(self.limit))))
    }

    /// Notes that a list was not told, unless that is the end of the look.
    fn fails(&mut self, kind: ListKind, fault: &Fault) -> Result<(), Fault> {
        let wire = &self.link.wire;
        if wire.is_stopped() || matches!(fault, Fault::SessionGone | Fault::Unauthorized(_)) {
            return Err(fault.clone());
        }
        self.shared.reports.journal.note(untold(kind), &fault.words());
        let is_needed = kind == ListKind::Tools && self.offered.is_none();
        if is_needed || !wire.desk.is_open() {
            return Err(fault.clone());
        }
        if kind != ListKind::Tools && is_unknown(fault) {
            // It has none, and only says otherwise.
            self.learned(kind, Vec::new());
        } else {
            self.untold = self.untold.with(kind);
        }
        Ok(())
    }

    /// Offers what is new by now.
    fn offer(&mut self) {
        let is_new = self.told != Kinds::NONE && self.offered.as_deref() != Some(&self.next);
        // One that was switched off meanwhile offers nothing.
        if !is_new || !self.shared.is_enabled() {
            return;
        }
        let next = Arc::new(self.next.clone());
        let pending = without(self.shared.listing.borrow().pending, self.told);
        self.shared.offer(&next, pending);
        self.offered = Some(next);
    }
}

/// Whether the server does not know the method.
fn is_unknown(fault: &Fault) -> bool {
    let Fault::Refused(error) = fault else { return false };
    error.get("code").is_some_and(|code| code.as_str() == code::METHOD_NOT_FOUND.to_string())
}

/// What is noted of a server that does not tell a list.
fn untold(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Tools => "does not list its tools",
        ListKind::Resources => "does not list its resources",
        ListKind::Templates => "does not list its resource templates",
        ListKind::Prompts => "does not list its prompts",
    }
}

fn nothing(shared: &Shared, link: &Link) -> Definitions {
    Definitions {
        fingerprint: shared.plan.fingerprint.clone(),
        version: link.facts.version.as_str().to_owned(),
        capabilities: Raw::EMPTY_OBJECT,
        server: None,
        instructions: None,
        tools: Vec::new(),
        resources: Vec::new(),
        templates: Vec::new(),
        prompts: Vec::new(),
        untold: all_kinds(),
    }
}

/// Where a list is: its method, and the key of its items.
fn place(kind: ListKind) -> (&'static str, &'static str) {
    match kind {
        ListKind::Tools => (method::TOOLS_LIST, "tools"),
        ListKind::Resources => (method::RESOURCES_LIST, "resources"),
        ListKind::Templates => (method::RESOURCES_TEMPLATES_LIST, "resourceTemplates"),
        ListKind::Prompts => (method::PROMPTS_LIST, "prompts"),
    }
}

/// The capability that goes with a list.
fn capability(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Tools => "tools",
        ListKind::Resources | ListKind::Templates => "resources",
        ListKind::Prompts => "prompts",
    }
}

/// One list to its end, and how long it counts.
async fn list(shared: &Shared, link: &Link, kind: ListKind) -> Result<(Vec<Raw>, Option<Duration>), Fault> {
    let (method, key) = place(kind);
    if !link.facts.has(&[capability(kind)]) {
        return Ok((Vec::new(), None));
    }
    let (mut kept, mut ttl, mut cursor) = (Kept::default(), None::<Duration>, None::<Raw>);
    // What a server has its cursors look like is its own business, and may be large.
    let mut seen = HashSet::new();
    for _ in 0..MOST_PAGES {
        let ask = Ask::plain(method, page_params(link, cursor.as_ref()), shared.plan.timeout);
        let page = match link.wire.request(ask).await {
            // Servers with resources but no templates often do not know the method.
            Err(Fault::Refused(_)) if kind == ListKind::Templates => return Ok((kept.items, ttl)),
            answer => answer?,
        };
        let Some(found) = page.get(key).filter(|list| list.kind() == toolgate_wire::Kind::Array) else {
            return Err(Fault::Unusable(format!("`{method}` without `{key}`")));
        };
        let hint = page.get("ttlMs").and_then(|ttl| ttl.as_u64()).map(Duration::from_millis);
        ttl = hint.into_iter().chain(ttl).min();
        if !kept.take(&found) {
            shared.reports.journal.note("lists more than can be kept", method);
            return Ok((kept.items, ttl));
        }
        cursor = page.get("nextCursor").filter(|cursor| !cursor.is_null());
        match &cursor {
            None => return Ok((kept.items, ttl)),
            Some(cursor) if !seen.insert(toolgate_wire::digest(cursor)) => break,
            Some(_) => {}
        }
    }
    shared.reports.journal.note("never comes to the end of a list", method);
    Ok((kept.items, ttl))
}

/// What is kept of a list: its items, without the pages that they came on.
#[derive(Default)]
struct Kept {
    items: Vec<Raw>,
    bytes: usize,
}

impl Kept {
    /// Keeps what there is on a page; false if that is more than can be kept.
    fn take(&mut self, page: &Raw) -> bool {
        for item in page.items() {
            self.bytes += item.as_bytes().len();
            if self.items.len() == MOST_ITEMS || self.bytes > MOST_BYTES {
                return false;
            }
            self.items.push(item.detach());
        }
        true
    }
}

fn page_params(link: &Link, cursor: Option<&Raw>) -> Raw {
    let params = match link.era() {
        Era::Legacy => Raw::EMPTY_OBJECT,
        Era::Modern => modern_params(Declared::default()),
    };
    match cursor {
        Some(cursor) => Edit::new(&params).set("cursor", cursor.clone()).finish(),
        None => params,
    }
}
