//! Requests of the legacy era: a handshake, then whatever the connection remembers.

use std::collections::VecDeque;
use std::sync::Arc;

use toolgate_core::{
    Call, Client, Error, Hub, Kind, Look, Outcome, Pass, Result, Target, TaskRequest, TraceContext,
};
use toolgate_wire::{Era, Id, Raw, Version};

use super::{Begun, Incoming, capabilities, extensions, instructions};
use crate::answer::{Answer, Writer};
use crate::asked::{self, Asked};
use crate::exchange::Exchange;
use crate::peer::{IN_USE, Peer, Watched};

/// How a request came, and how its answer can travel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivery<'a> {
    /// Notifications and questions can go before the answer.
    pub(crate) streams: bool,
    /// The connection outlives the request.
    pub(crate) lasting: bool,
    /// What let the request in, where that can be taken back.
    pub(crate) pass: Option<&'a Pass>,
}

/// Begins a request of a legacy client.
pub(crate) async fn begin(
    hub: &Hub,
    peer: &Arc<Peer>,
    incoming: Box<Incoming>,
    delivery: Delivery<'_>,
) -> Begun {
    let id = incoming.request.id.clone();
    match started(hub, peer, incoming, delivery).await {
        Ok(begun) => begun,
        Err(error) => {
            let writer = Writer { era: Era::Legacy, id: &id, server: &hub.info().raw };
            Begun::Answer(writer.failed(&error, false, "request"))
        }
    }
}

async fn started(
    hub: &Hub,
    peer: &Arc<Peer>,
    incoming: Box<Incoming>,
    delivery: Delivery<'_>,
) -> Result<Begun> {
    let version = peer.client().version;
    let asked = asked::read(&incoming, version, hub)?;
    let Incoming { request, params, members, about, trace } = *incoming;
    let result = match asked {
        Asked::Initialize => greeting(hub, peer, &params, delivery)?,
        Asked::SetLevel(level) => {
            hub.admit(&peer.principal)?;
            peer.set_level(level);
            Raw::literal("{}")
        }
        Asked::List(kind, cursor) => {
            let look = Look { principal: &peer.principal, profile: peer.profile.as_ref(), version };
            let page = hub.list(&look, kind, cursor.as_deref()).await?;
            super::listed(&request, kind, &page);
            page
        }
        Asked::ListTasks(cursor) => hub.list_tasks(&peer.principal, cursor.as_deref())?,
        Asked::Call(target, _) => {
            let token = about.progress_id();
            let may_be_task = version.has_core_tasks() && matches!(target, Target::Tool(_));
            let task = if may_be_task { members.as_task()? } else { None };
            let sent = Sent { params, arguments: members.arguments, task, trace };
            return call(hub, peer, (request.id, token), target, sent, delivery).await;
        }
        Asked::Ping | Asked::Discover | Asked::Listen => Raw::literal("{}"),
    };
    Ok(Begun::Answer(Answer::result(&request.id, &result)))
}

fn greeting(hub: &Hub, peer: &Peer, params: &Raw, delivery: Delivery<'_>) -> Result<Raw> {
    asked::text(params, "protocolVersion")?;
    let version = peer.greet(hub, params);
    let extensions = extensions(hub, &peer.principal, peer.profile.as_ref(), None);
    let more: Vec<&str> = [tasks(version), &extensions].into_iter().filter(|part| !part.is_empty()).collect();
    Ok(Raw::trusted(
        format!(
            r#"{{"protocolVersion":"{}","capabilities":{},"serverInfo":{}{}}}"#,
            version.as_str(),
            capabilities(hub.offers(), delivery.lasting, &more.join(",")),
            hub.info().raw.as_str(),
            instructions(hub, &peer.principal, peer.profile.as_ref()),
        )
        .into(),
    ))
}

/// What is said of tasks where they are part of the version: any call of a tool can be one, for the hub keeps its answer.
fn tasks(version: Version) -> &'static str {
    match version.has_core_tasks() {
        true => r#""tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#,
        false => "",
    }
}

/// What a call was sent with.
struct Sent {
    params: Raw,
    arguments: Option<Raw>,
    task: Option<TaskRequest>,
    trace: Option<Arc<TraceContext>>,
}

async fn call(
    hub: &Hub,
    peer: &Arc<Peer>,
    (id, token): (Id, Option<Id>),
    target: Target,
    sent: Sent,
    delivery: Delivery<'_>,
) -> Result<Begun> {
    if delivery.lasting && peer.is_running(&id) {
        return Err(Error::new(Kind::InvalidParams, IN_USE));
    }
    let mut client = peer.client();
    // A task asks on the way of whoever waits for its result.
    let carries = delivery.streams || (sent.task.is_some() && delivery.lasting);
    if client.reachable && !carries {
        client = Arc::new(Client { reachable: false, ..(*client).clone() });
    }
    let mut call = Call::new(peer.principal.clone(), client, target.clone(), sent.params);
    call.pass = delivery.pass.cloned();
    call.arguments = sent.arguments;
    call.task = sent.task;
    call.trace = sent.trace;
    call.log_level = Some(peer.level());
    call.profile = peer.profile.clone();
    call.connection = peer.connection();
    let run = hub.carry(call);
    if let Target::Subscribe(uri) | Target::Unsubscribe(uri) = &target {
        let (outcome, source) = Box::pin(run.watched()).await;
        let watched = Watched { uri: uri.clone(), source };
        return watch(hub, peer, &id, (watched, matches!(target, Target::Subscribe(_))), outcome);
    }
    // Nobody can come back to cancel what has no connection.
    let registered = delivery.lasting.then(|| peer.began(&id, run.canceller()));
    Ok(Begun::Running(Box::new(Exchange {
        hub: hub.clone(),
        id,
        era: Era::Legacy,
        target,
        token,
        level: Some(peer.level()),
        as_task: sent.task.is_some(),
        peer: Some(peer.clone()),
        run: Some(run),
        registered,
        posed: Vec::new(),
        waiting: VecDeque::new(),
    })))
}

/// A subscription is the connection's to remember once its source has agreed.
fn watch(
    hub: &Hub,
    peer: &Peer,
    id: &Id,
    (watched, begins): (Watched, bool),
    mut outcome: Outcome,
) -> Result<Begun> {
    let uri = watched.uri.clone();
    let let_go = || peer.connection().into_iter().for_each(|connection| hub.let_go(connection, &uri));
    let is_unknown = matches!(&outcome, Outcome::Failed(error) if error.kind() == Kind::ResourceNotFound);
    if is_unknown && !begins && peer.watches(&uri) {
        // Its server may be switched off for now. When it is back, the client is not to be told any more.
        let_go();
        outcome = Outcome::Complete(Raw::EMPTY_OBJECT);
    }
    if matches!(outcome, Outcome::Complete(_)) {
        match begins {
            // What the connection does not remember, nobody has to tell it.
            true => peer.watch(watched).inspect_err(|_| let_go())?,
            false => peer.unwatch(&uri),
        }
    }
    let writer = Writer { era: Era::Legacy, id, server: &hub.info().raw };
    Ok(Begun::Answer(writer.outcome(outcome, &Target::Subscribe(uri), "subscription")))
}
