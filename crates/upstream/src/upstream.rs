//! An upstream: another MCP server as a source.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use toolgate_core::{
    Called, ConnectionId, Kinds, ListKind, Listing, Offers, Permitted, PrincipalId, RunHandle, Scope, Source,
    SourceId, TimeLimit, Update, carried_extensions,
};
use toolgate_host::Tasks;
use toolgate_wire::Raw;

use crate::definitions::Definitions;
use crate::fault::{Fault, short};
use crate::oauth::{Holder, OauthReason};
use crate::plan::{Plan, Reach};
use crate::pool::Key;
use crate::starts::Starts;
use crate::status::{State, Status, era_word};
use crate::supervisor::{Shared, all_kinds, supervise};
use crate::transport::WebClient;
use crate::watches::Watches;

/// How long an upstream may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// How often one that is no longer wanted is looked after.
const DRAIN: Duration = Duration::from_millis(100);

/// What an upstream needs of the process it lives in.
pub struct Surroundings {
    /// Who owns its tasks.
    pub tasks: Tasks,
    /// The environment of the process; programs get `PATH`, `HOME`, `LANG` and `TMPDIR` of it, and nothing else.
    pub variables: Vec<(OsString, OsString)>,
    /// How many programs start at once: one for all upstreams of the process.
    pub starts: Starts,
    /// How addresses are reached in the usual way: one for all upstreams of the process.
    pub client: WebClient,
    /// Who watches what at the server: that of the upstream whose place it takes, so that clients go on being told.
    pub watches: Watches,
}

/// Another MCP server as a source.
pub struct Upstream {
    id: SourceId,
    shared: Arc<Shared>,
}

/// What a trial of a server showed.
#[derive(Debug, Clone)]
pub struct Report {
    /// How the server stands.
    pub status: Status,
    /// What it has, if it said so.
    pub definitions: Option<Arc<Definitions>>,
}

impl Upstream {
    /// An upstream, whose server is started or asked in the background; with definitions that were kept, a lazy one
    /// only when it is first used.
    pub fn start(plan: Plan, surroundings: Surroundings, kept: Option<Definitions>) -> Self {
        let id = SourceId::new(&*plan.name);
        let shared = Shared::new(plan, surroundings);
        let kept = kept.filter(|kept| kept.fingerprint == shared.plan.fingerprint);
        match kept {
            Some(kept) => {
                shared.knows(kept.version());
                let kept = Arc::new(kept);
                shared.learned.send_replace(Some(kept.clone()));
                if shared.is_enabled() {
                    shared.offer(&kept, Kinds::NONE);
                }
            }
            None if shared.is_enabled() => {
                let pending = Listing { pending: all_kinds(), ..Listing::default() };
                shared.listing.send_replace(Arc::new(pending));
            }
            None => {}
        }
        let over = || shared.over.clone();
        shared.owner.spawn(over().run_until_cancelled_owned(shared.reports.updates.clone().pass_on()));
        shared.owner.spawn(over().run_until_cancelled_owned(supervise(shared.clone())));
        Self { id, shared }
    }

    /// What the server has, whenever that is learned anew: to be kept for the next start.
    pub fn learned(&self) -> watch::Receiver<Option<Arc<Definitions>>> {
        self.shared.learned.subscribe()
    }

    /// Who watches what at the server: to be given to the upstream that takes the place of this one.
    pub fn watches(&self) -> Watches {
        self.shared.watches.clone()
    }

    /// Switches it on or off, without a trace in the configuration.
    pub fn set_enabled(&self, on: bool) {
        self.shared.set_enabled(on);
    }

    /// Connects anew, and learns anew what the server has.
    pub fn restart(&self) {
        self.shared.breaker.well();
        self.shared.pool.all().iter().for_each(|line| line.restart());
        if !self.shared.has_shared_line() {
            // One that rests is started, so that what it has is learned anew. A full pool refuses, or one that is
            // switched off.
            drop(self.shared.pool.get(Key::bare(), &self.shared));
        }
        self.shared.woken.notify_one();
    }

    /// Ends it: connections are closed, and programs ended with all that they started.
    pub async fn stop(&self) {
        self.shared.owner.shutdown(GRACE).await;
    }

    /// Ends it when nothing is under way any more, or the time for an answer is over. Calls that come later, since they
    /// waited to be approved, are refused.
    pub async fn retire(&self) {
        let shared = &self.shared;
        let in_flight = || shared.pool.all().iter().any(|line| line.is_serving());
        let drained = shared.over.run_until_cancelled(async {
            while in_flight() {
                tokio::time::sleep(DRAIN).await;
            }
        });
        // Who takes longer is told that it ended.
        drop(tokio::time::timeout(shared.plan.timeout, drained).await);
        self.stop().await;
    }

    /// How it stands now.
    pub fn status(&self) -> Status {
        let shared = &self.shared;
        let links: Vec<_> = shared.pool.all().iter().filter_map(|line| line.link()).collect();
        let Standing { state, error, challenge } = self.standing();
        let listing = shared.listing.borrow().clone();
        let version = shared.version();
        Status {
            name: shared.plan.name.to_string(),
            state,
            hint: hint(shared, state),
            error,
            challenge,
            transport: links
                .first()
                .map_or(transport(&shared.plan), |link| link.wire.transport.word())
                .into(),
            version: version.map(|version| version.as_str().to_owned()),
            era: version.map(|version| era_word(version).to_owned()),
            connections: links.len(),
            processes: links.iter().filter_map(|link| link.wire.transport.process()).collect(),
            in_flight: links.iter().map(|link| link.wire.desk.calls()).sum(),
            lost: shared.times_lost(),
            tools: listing.tools.len(),
            resources: listing.resources.len() + listing.templates.len(),
            prompts: listing.prompts.len(),
            notes: shared.reports.journal.notes(),
            stderr: shared.reports.journal.stderr(),
        }
    }

    fn standing(&self) -> Standing {
        let shared = &self.shared;
        let lines = shared.pool.all();
        let wrong = lines.iter().find_map(|line| line.wrong());
        let learned = shared.learned.borrow().is_some();
        let challenge = match &wrong {
            Some(Fault::Unauthorized(challenge)) => challenge.clone(),
            _ => None,
        };
        let (state, error) = match (wrong, shared.trouble()) {
            _ if !shared.is_enabled() => (State::Disabled, None),
            (Some(fault @ (Fault::Unauthorized(_) | Fault::Scope(_))), _) => needs(shared, &fault),
            (Some(fault), _) if lines.iter().all(|line| line.link().is_none()) => {
                (State::Failed, Some(fault.words()))
            }
            (_, Some(fault @ (Fault::Unauthorized(_) | Fault::Scope(_)))) => needs(shared, &fault),
            (_, Some(fault)) => (State::Failed, Some(format!("cannot be listed: {}", fault.words()))),
            _ if !learned => (State::Connecting, None),
            _ => (State::Connected, None),
        };
        Standing { state, error, challenge }
    }

    /// Connects, learns what the server has, and says how that went. It ends what it started.
    pub async fn test(plan: Plan, surroundings: Surroundings) -> Report {
        let limit = plan.startup_timeout + plan.timeout;
        let upstream = Self::start(plan, surroundings, None);
        let mut listing = upstream.shared.listing.subscribe();
        let settled = listing.wait_for(|listing| listing.pending == Kinds::NONE);
        // A server that is never done shows in the status.
        drop(tokio::time::timeout(limit, settled).await);
        let status = upstream.status();
        let definitions = upstream.shared.learned.borrow().clone();
        upstream.stop().await;
        Report { status, definitions }
    }
}

/// How an upstream stands, and why.
struct Standing {
    state: State,
    error: Option<String>,
    /// How its server asked who we are.
    challenge: Option<String>,
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.shared.over.cancel();
    }
}

/// How a server stands that does not let us in.
fn needs(shared: &Shared, fault: &Fault) -> (State, Option<String>) {
    let trouble = shared.plan.authorizer.as_ref().and_then(|authorizer| authorizer.trouble());
    match trouble {
        Some(trouble) if trouble.reason() == OauthReason::NeedsClientRegistration => {
            (State::NeedsClientRegistration, Some(trouble.to_string()))
        }
        Some(trouble) => (State::NeedsAuth, Some(trouble.to_string())),
        None if matches!(fault, Fault::Scope(_)) => (State::NeedsAuth, Some(fault.words())),
        None => (State::NeedsAuth, None),
    }
}

/// What to do about a server that does not let us in, or not everywhere.
fn hint(shared: &Shared, state: State) -> Option<String> {
    let authorizer = shared.plan.authorizer.as_ref();
    let trouble = authorizer.and_then(|authorizer| authorizer.trouble());
    match (state, trouble) {
        (State::NeedsAuth | State::NeedsClientRegistration, Some(trouble)) => Some(trouble.hint().to_owned()),
        (State::NeedsAuth | State::NeedsClientRegistration, None) => {
            let name = &shared.plan.name;
            Some(match authorizer {
                Some(authorizer) => authorizer.help(&Holder::Shared),
                None => format!("set `mcp.{name}.headers` to what lets us in, or `mcp.{name}.oauth = true`"),
            })
        }
        (State::Connected, _) => {
            let authorizer = authorizer?;
            let wanted = short(&authorizer.bearer(Holder::Shared).wanted()?);
            Some(if authorizer.needs_person() {
                format!("run `toolgate mcp auth {}` to allow `{wanted}` too", shared.plan.name)
            } else {
                format!("it wants `{wanted}` to be allowed: {}", authorizer.help_to_more(&Holder::Shared))
            })
        }
        (State::Disabled | State::Failed | State::Connecting, _) => None,
    }
}

fn transport(plan: &Plan) -> &'static str {
    match plan.reach {
        Reach::Program(_) => "stdio",
        Reach::Address(_) => "http",
    }
}

impl Source for Upstream {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn is_foreign(&self) -> bool {
        true
    }

    /// It may have anything until it has said what; what it then has not, it just does not list.
    fn offers(&self) -> Offers {
        Offers { tools: true, resources: true, prompts: true, completions: true, tasks: true }
    }

    fn listing(&self, _: &Scope) -> watch::Receiver<Arc<Listing>> {
        self.shared.listing.subscribe()
    }

    fn extensions(&self) -> Vec<String> {
        let learned = self.shared.learned.borrow();
        learned.as_ref().map(|definitions| definitions.extensions()).unwrap_or_default()
    }

    fn declares(&self) -> Option<Raw> {
        carried_extensions(self.shared.learned.borrow().as_ref()?.capabilities.get("extensions")?)
    }

    fn demand(&self, _: &Scope, _: ListKind) {
        self.shared.woken.notify_one();
    }

    fn instructions(&self) -> Option<Arc<str>> {
        self.shared.learned.borrow().as_ref()?.instructions().map(Into::into)
    }

    fn updates(&self) -> Option<broadcast::Receiver<Update>> {
        Some(self.shared.reports.updates.subscribe())
    }

    fn status(&self) -> Option<Status> {
        Some(Self::status(self))
    }

    fn state(&self) -> Option<State> {
        Some(self.standing().state)
    }

    fn time_limit(&self) -> Option<TimeLimit> {
        let plan = &self.shared.plan;
        Some(TimeLimit { limit: plan.timeout, setting: plan.timeout_key.clone() })
    }

    fn restart(&self) {
        Self::restart(self);
    }

    fn left(&self, connection: ConnectionId) {
        self.shared.watches.left(connection);
        self.shared.pool.all().iter().for_each(|line| line.left(connection));
    }

    fn let_go(&self, connection: ConnectionId, uri: &str) {
        self.shared.watches.let_go(connection, uri);
    }

    fn roots_changed(&self) {
        self.shared.roots_changed(|_| true);
    }

    fn roots_changed_of(&self, principal: &PrincipalId, connection: ConnectionId) {
        self.shared.roots_changed(|who| who.includes(principal, connection));
    }

    fn call(&self, permitted: Permitted, run: RunHandle) -> Called<'_> {
        Box::pin(async move { self.shared.call(permitted, run).await })
    }
}
