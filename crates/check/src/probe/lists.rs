//! Reads all lists of the server, page by page.

use std::collections::HashSet;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolgate_wire::{code, method};

use super::Stage;
use crate::connection::Lost;
use crate::notes::quote;
use crate::rule::{Rule, error, warning};
use crate::rules::Lists;

pub(crate) static CAPABILITIES_ANSWERED: Rule = error(
    "capabilities-answered",
    "What the server declares, it lists.",
    "answer the list method of every capability that you declare, or do not declare it",
);
pub(crate) static CAPABILITIES_DECLARED: Rule = warning(
    "capabilities-declared",
    "What the server lists, it declares.",
    "declare the capability: clients do not ask for what is not declared",
);
pub(crate) static PAGES_END: Rule = error(
    "pages-end",
    "Following `nextCursor` comes to an end.",
    "leave `nextCursor` away on the last page, and never give the same one twice",
);
pub(crate) static PAGES_UNIQUE: Rule = error(
    "pages-unique",
    "No item is on two pages.",
    "let the cursor say where the next page begins, in an order that does not change in between",
);
pub(crate) static BAD_CURSOR: Rule = warning(
    "bad-cursor",
    "A cursor that the server never gave is refused with error -32602.",
    "check cursors that come in, and answer error -32602 to those you did not give",
);
pub(crate) static STABLE_ORDER: Rule = warning(
    "stable-order",
    "A list that did not change is the same when it is read again.",
    "list in a fixed order: models' caches and people's eyes depend on it",
);

/// More pages than any list needs.
const MOST_PAGES: usize = 1000;

/// All pages together may take as long as so many answers.
const MOST_ANSWERS: u32 = 20;

struct List {
    method: &'static str,
    capability: &'static str,
    /// The member of the result.
    items: &'static str,
    /// The member of an item that tells it from others.
    key: &'static str,
}

const LISTS: [List; 4] = [
    List { method: method::TOOLS_LIST, capability: "tools", items: "tools", key: "name" },
    List { method: method::PROMPTS_LIST, capability: "prompts", items: "prompts", key: "name" },
    List { method: method::RESOURCES_LIST, capability: "resources", items: "resources", key: "uri" },
    List {
        method: method::RESOURCES_TEMPLATES_LIST,
        capability: "resources",
        items: "resourceTemplates",
        key: "uriTemplate",
    },
];

/// A list as it was read.
struct Read {
    items: Vec<Value>,
    pages: usize,
}

pub(crate) async fn run(stage: &mut Stage<'_>, lists: &mut Lists) {
    stage.notes.tried(&CAPABILITIES_DECLARED);
    for list in &LISTS {
        let Some(session) = stage.session().await else { return };
        if session.capabilities().get(list.capability).is_none() {
            undeclared(stage, list).await;
            continue;
        }
        stage.notes.tried(&CAPABILITIES_ANSWERED);
        let Some(read) = whole(stage, list, true).await else { continue };
        if read.pages > 1 {
            bad_cursor(stage, list).await;
        } else {
            stage.notes.skip(&BAD_CURSOR, "every list has one page");
        }
        if list.items == "tools" {
            stage.notes.tried(&STABLE_ORDER);
            stable(stage, list, &read.items).await;
        }
        *lists.slot(list.items) = read.items;
    }
}

async fn undeclared(stage: &mut Stage<'_>, list: &List) {
    let Some(session) = stage.session().await else { return };
    let reply = session.request(list.method, json!({})).await;
    let items = reply.map(|reply| reply.outcome.map(|result| result[list.items].as_array().map(Vec::len)));
    match items {
        Ok(Ok(Some(count))) if count > 0 => {
            let what = format!("`{}` lists {count}, but `{}` is not declared", list.method, list.capability);
            stage.found(&CAPABILITIES_DECLARED, what);
        }
        // What it does with methods that it does not know is another rule's affair.
        Err(Lost::Late(_)) => stage.drop_session().await,
        Ok(_) | Err(_) => {}
    }
}

/// Reads a list to its end; none where it cannot be read.
async fn whole(stage: &mut Stage<'_>, list: &List, first_time: bool) -> Option<Read> {
    let (mut items, mut cursors, mut keys) = (Vec::new(), HashSet::new(), HashSet::new());
    let (mut cursor, mut pages) = (None::<String>, 0);
    let limit = stage.opener.limits.answer * MOST_ANSWERS;
    let until = Instant::now() + limit;
    loop {
        if Instant::now() >= until {
            let what = format!("`{}` has no end after {} s", list.method, limit.as_secs_f32());
            stage.found(&PAGES_END, what);
            return Some(Read { items, pages });
        }
        let session = stage.session().await?;
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let result = match session.request(list.method, params).await {
            Ok(reply) => reply.outcome,
            Err(lost) => {
                stage.lost(&CAPABILITIES_ANSWERED, &Lost::Gone(format!("`{}`: {lost}", list.method))).await;
                return None;
            }
        };
        let page = match result {
            Ok(page) => page,
            Err(error) => {
                // A server with resources may have no templates.
                if list.items != "resourceTemplates" || error["code"] != code::METHOD_NOT_FOUND {
                    let message = quote(error["message"].as_str().unwrap_or_default());
                    let what = format!("`{}`: error {}: {message}", list.method, error["code"]);
                    stage.found(&CAPABILITIES_ANSWERED, what);
                }
                return None;
            }
        };
        pages += 1;
        let mut found = page[list.items].as_array().cloned().unwrap_or_default();
        for key in twice(list, &mut found, &mut keys) {
            if first_time {
                stage.found(&PAGES_UNIQUE, format!("`{}`: `{}` is on two pages", list.method, quote(&key)));
            }
        }
        items.extend(found);
        stage.notes.tried(&PAGES_UNIQUE);
        stage.notes.tried(&PAGES_END);
        match page["nextCursor"].as_str() {
            None => return Some(Read { items, pages }),
            Some(next) if !cursors.insert(next.to_owned()) || pages >= MOST_PAGES => {
                let what = format!("`{}` gives the cursor `{}` again", list.method, quote(next));
                stage.found(&PAGES_END, what);
                return Some(Read { items, pages });
            }
            Some(next) => cursor = Some(next.to_owned()),
        }
    }
}

/// Takes items out of a page that were on an earlier one, and names them.
fn twice(list: &List, found: &mut Vec<Value>, earlier: &mut HashSet<String>) -> Vec<String> {
    let key = |item: &Value| item[list.key].as_str().map(ToOwned::to_owned);
    let (mut again, mut here) = (Vec::new(), HashSet::new());
    found.retain(|item| match key(item) {
        Some(key) if earlier.contains(&key) => {
            again.push(key);
            false
        }
        Some(key) => {
            here.insert(key);
            true
        }
        None => true,
    });
    earlier.extend(here);
    again
}

async fn bad_cursor(stage: &mut Stage<'_>, list: &List) {
    stage.notes.tried(&BAD_CURSOR);
    let Some(session) = stage.session().await else { return };
    let outcome = session.request(list.method, json!({"cursor": "toolgate-check-no-such-cursor"})).await;
    match outcome.map(|reply| reply.outcome) {
        Ok(Err(error)) if error["code"] == code::INVALID_PARAMS => {}
        Ok(Err(error)) => {
            stage.found(&BAD_CURSOR, format!("`{}`: error {} instead of -32602", list.method, error["code"]));
        }
        Ok(Ok(_)) => stage.found(&BAD_CURSOR, format!("`{}` answers with a page", list.method)),
        Err(lost) => stage.lost(&BAD_CURSOR, &lost).await,
    }
}

async fn stable(stage: &mut Stage<'_>, list: &List, before: &[Value]) {
    let Some(again) = whole(stage, list, false).await else { return };
    let names = |items: &[Value]| items.iter().map(|item| item[list.key].clone()).collect::<Vec<_>>();
    if names(before) != names(&again.items) {
        stage.found(&STABLE_ORDER, format!("`{}` read twice gives two orders", list.method));
    }
}
