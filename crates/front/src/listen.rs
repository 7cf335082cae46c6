//! `subscriptions/listen`: a stream of what changes, as far as the client asked for it.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use toolgate_core::{
    Change, Changes, Client, Connected, ConnectionId, Error, Hub, Kind, ListKind, Outcome, Principal, Result,
};
use toolgate_wire::{Edit, Id, Raw, meta, method, write};

use crate::changes::list_method;
use crate::era::modern::{Entrance, subscription};

/// How many resources and tasks one stream may follow.
const MOST_FOLLOWED: usize = 1000;

/// A stream of what changes.
pub(crate) struct Listening {
    id: Id,
    changes: Changes,
    lists: Vec<ListKind>,
    watched: Vec<String>,
    tasks: Vec<String>,
    acknowledgement: Option<Bytes>,
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
            honoured.insert("resourceSubscriptions".into(), json!(watched));
        }
        let mut this = Self { id, changes, lists, watched, tasks, acknowledgement: None, _watcher: watcher };
        let params = json!({"notifications": Value::Object(honoured)});
        this.acknowledgement = Some(write::notification(
            method::SUBSCRIPTIONS_ACKNOWLEDGED,
            Some(&this.tagged(&Raw::of(&params))),
        ));
        Ok(this)
    }

    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// The next notification; `None` when the hub ends.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        if let Some(acknowledgement) = self.acknowledgement.take() {
            return Some(acknowledgement);
        }
        loop {
            let change = self.changes.next().await?;
            if let Some(frame) = self.notification(&change) {
                return Some(frame);
            }
        }
    }

    /// The result that ends the stream in good order.
    pub(crate) fn farewell(&self) -> Bytes {
        write::result(&self.id, &self.tagged(&Raw::literal(r#"{"resultType":"complete"}"#)))
    }

    fn notification(&self, change: &Change) -> Option<Bytes> {
        let (method, params) = match change {
            Change::Listed(_, kind) if self.lists.contains(kind) => (list_method(*kind), Raw::literal("{}")),
            Change::Updated(uri) if self.watched.iter().any(|watched| **watched == **uri) => {
                (method::RESOURCES_UPDATED, Raw::of(&json!({"uri": &**uri})))
            }
            Change::Task(task) if self.tasks.iter().any(|followed| **followed == *task.id) => {
                (method::TASKS, task.detail.clone())
            }
            Change::Listed(..) | Change::Updated(_) | Change::Task(_) | Change::Told(_) => return None,
        };
        Some(write::notification(method, Some(&self.tagged(&params))))
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
) -> Result<Vec<String>> {
    let mut agreed = Vec::new();
    for uri in texts(wanted, "resourceSubscriptions")? {
        let run = hub.start(subscription(at, client.clone(), &uri, watcher));
        if let Outcome::Complete(_) = run.outcome().await {
            agreed.push(uri);
        }
    }
    Ok(agreed)
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
