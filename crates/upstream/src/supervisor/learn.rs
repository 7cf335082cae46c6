//! Learning what a server has: every list, page by page, to its end.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use toolgate_core::{Kinds, ListKind};
use toolgate_wire::{Edit, Era, Raw, method};

use super::{FRESH, Shared};
use crate::definitions::Definitions;
use crate::fault::Fault;
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

/// Learns these lists, and offers what there is. Says how long that counts.
pub(super) async fn learn(shared: &Arc<Shared>, link: &Link, kinds: Kinds) -> Result<Duration, Fault> {
    let limit = shared.plan.timeout + LONGEST;
    let learned = tokio::time::timeout(limit, learn_all(shared, link, kinds)).await;
    learned.unwrap_or(Err(Fault::Late(limit)))
}

async fn learn_all(shared: &Arc<Shared>, link: &Link, kinds: Kinds) -> Result<Duration, Fault> {
    let before = shared.learned.borrow().clone();
    let mut next = before.as_deref().cloned().unwrap_or_else(|| nothing(shared, link));
    let facts = &link.facts;
    next.version = facts.version.as_str().to_owned();
    next.capabilities = facts.capabilities.clone();
    next.server = facts.server.clone();
    next.instructions = facts.instructions.clone();
    let mut fresh_for = FRESH;
    for kind in ListKind::ALL.into_iter().filter(|kind| kinds.has(*kind)) {
        let (items, ttl) = list(shared, link, kind).await?;
        fresh_for = fresh_for.min(ttl.unwrap_or(FRESH)).max(SOONEST);
        next.set(kind, items);
    }
    if before.as_deref() == Some(&next) {
        shared.nothing_pending();
    } else {
        shared.offer(&Arc::new(next));
    }
    Ok(fresh_for)
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
    }
}

/// Where a list is: its method, the key of its items, and the capability that goes with it.
fn place(kind: ListKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        ListKind::Tools => (method::TOOLS_LIST, "tools", "tools"),
        ListKind::Resources => (method::RESOURCES_LIST, "resources", "resources"),
        ListKind::Templates => (method::RESOURCES_TEMPLATES_LIST, "resourceTemplates", "resources"),
        ListKind::Prompts => (method::PROMPTS_LIST, "prompts", "prompts"),
    }
}

/// One list to its end, and how long it counts.
async fn list(shared: &Shared, link: &Link, kind: ListKind) -> Result<(Vec<Raw>, Option<Duration>), Fault> {
    let (method, key, capability) = place(kind);
    if !link.facts.has(&[capability]) {
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
