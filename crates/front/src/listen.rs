//! `subscriptions/listen`: a stream of what changes, as far as the client asked for it.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use toolgate_core::{
    Change, Changes, Client, Connected, ConnectionId, Error, Hub, Kind, ListKind, Outcome, Principal, Result,
    Update,
};
use toolgate_wire::{Edit, Id, Raw, meta, method, write};

use crate::asked::check_uri;
use crate::changes::list_method;
use crate::era::modern::{Entrance, subscription};
use crate::peer::Watched;

/// How many resources and tasks one stream may follow.
const MOST_FOLLOWED: usize = 1000;

/// A stream of what changes.
pub(crate) struct Listening {
    id: Id,
    changes: Changes,
    lists: Vec<ListKind>,
    watched: Vec<Watched>,
    tasks: Vec<String>,
    /// What it has to say before it waits for the next change.
    due: VecDeque<Bytes>,
    /// What it watches is let go of with this.
    _watcher: Connected,
}

impl Listening {
    /// Reads what the client wants to be told, and agrees to what it may know.
    pub(crate) async fn begin(
        hub: &Hub,
        at: &Entrance<'_>,
        id: Id,
        params: &Raw,
        client: Arc<Client>,
    ) -> Result<Self> {
        if !at.streams {
            return Err(Error::new(Kind::InvalidParams, "this answer cannot be a stream")
                .hint("send `Accept: application/json, text/event-stream`"));
        }
        let wanted = params.get("notifications").filter(Raw::is_object).ok_or_else(|| {
            Error::new(Kind::InvalidParams, "`notifications` must be an object")
                .hint("say what to listen for")
        })?;
        // From here on nothing that changes is missed.
        let changes = hub.changes(at.principal);
        let flag = |key: &str| wanted.get(key).and_then(|flag| flag.as_bool()).unwrap_or_default();
        let mut lists = Vec::new();
        let mut honoured = Map::new();
        let offers = hub.offers();
        for (key, kinds, offered) in [
            ("toolsListChanged", [ListKind::Tools].as_slice(), offers.tools),
            ("promptsListChanged", &[ListKind::Prompts], offers.prompts),
            ("resourcesListChanged", &[ListKind::Resources, ListKind::Templates], offers.resources),
        ] {
            if flag(key) && offered {
                lists.extend(kinds);
                honoured.insert(key.into(), json!(true));
            }
        }
        let tasks = followed_tasks(hub, at.principal, &client, &wanted)?;
        if !tasks.is_empty() {
            honoured.insert("taskIds".into(), json!(tasks));
        }
        let watcher = hub.watcher();
        let watched = watched(hub, at, (&client, watcher.id()), &wanted).await?;
        if !watched.is_empty() {
            honoured.insert("resourceSubscriptions".into(), json!(uris_of(&watched)));
        }
        let mut this = Self { id, changes, lists, watched, tasks, due: VecDeque::new(), _watcher: watcher };
        let params = json!({"notifications": Value::Object(honoured)});
        this.due.push_back(this.notification(method::SUBSCRIPTIONS_ACKNOWLEDGED, &Raw::of(&params)));
        Ok(this)
    }

    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// The next notification; `None` when the hub ends.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.due.pop_front() {
                return Some(frame);
            }
            let change = self.changes.next().await?;
            self.take(&change);
        }
    }

    /// The result that ends the stream in good order.
    pub(crate) fn farewell(&self) -> Bytes {
        write::result(&self.id, &self.tagged(&Raw::literal(r#"{"resultType":"complete"}"#)))
    }

    /// Has a change told, as far as the client asked for it.
    fn take(&mut self, change: &Change) {
        let (method, params) = match change {
            Change::Listed(_, kind) if self.lists.contains(kind) => (list_method(*kind), Raw::EMPTY_OBJECT),
            Change::Updated(update) if self.watched.iter().any(|watched| watched.uri == update.uri) => {
                (method::RESOURCES_UPDATED, update.to_params())
            }
            Change::AnyUpdated(source) => {
                let there = self.watched.iter().filter(|watched| watched.may_be_of(source.as_ref()));
                let each = there.map(|watched| Update::of(watched.uri.clone()).to_params());
                let all: Vec<Bytes> =
                    each.map(|params| self.notification(method::RESOURCES_UPDATED, &params)).collect();
                return self.due.extend(all);
            }
            Change::Task(task) if self.tasks.iter().any(|followed| **followed == *task.id) => {
                (method::TASKS, task.detail.clone())
            }
            Change::Listed(..) | Change::Updated(_) | Change::Task(_) | Change::Told(_) => return,
        };
        self.due.push_back(self.notification(method, &params));
    }

    fn notification(&self, method: &str, params: &Raw) -> Bytes {
        write::notification(method, Some(&self.tagged(params)))
    }

    fn tagged(&self, params: &Raw) -> Raw {
        Edit::new(params).set_in(meta::META, meta::SUBSCRIPTION_ID, self.id.raw().clone()).finish()
    }
}

/// The tasks among those asked for that are the caller's.
fn followed_tasks(hub: &Hub, principal: &Principal, client: &Client, wanted: &Raw) -> Result<Vec<String>> {
    let ids = texts(wanted, "taskIds")?;
    if !ids.is_empty() && !client.capabilities.tasks {
        return Err(toolgate_core::undeclared_tasks());
    }
    Ok(hub.known_tasks(principal, &ids))
}

/// The resources among those asked for that may be watched.
async fn watched(
    hub: &Hub,
    at: &Entrance<'_>,
    (client, watcher): (&Arc<Client>, ConnectionId),
    wanted: &Raw,
) -> Result<Vec<Watched>> {
    let uris = texts(wanted, "resourceSubscriptions")?;
    uris.iter().try_for_each(|uri| check_uri(uri, "notifications.resourceSubscriptions"))?;
    let mut agreed = Vec::new();
    for uri in uris {
        let run = hub.start(subscription(at, client.clone(), &uri, watcher));
        if let (Outcome::Complete(_), source) = run.watched().await {
            agreed.push(Watched { uri: uri.into(), source });
        }
    }
    Ok(agreed)
}

fn uris_of(watched: &[Watched]) -> Vec<&str> {
    watched.iter().map(|watched| &*watched.uri).collect()
}

fn texts(wanted: &Raw, key: &str) -> Result<Vec<String>> {
    let Some(list) = wanted.get(key) else { return Ok(Vec::new()) };
    let texts: Vec<String> = list.to().map_err(|error| {
        Error::new(Kind::InvalidParams, format!("`notifications.{key}` must be a list of strings"))
            .because(error)
    })?;
    if texts.len() > MOST_FOLLOWED {
        return Err(Error::new(
            Kind::InvalidParams,
            format!("`notifications.{key}` has more than {MOST_FOLLOWED} entries"),
        ));
    }
    Ok(texts)
}
