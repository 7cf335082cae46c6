//! The way of a request: by which name it comes, who sends it, what it may, and who answers.

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, HeaderName};
use http::{HeaderValue, Method};
use tokio::sync::Semaphore;
use toolgate_core::{Error, Hub, Kind, Principal, SharedStore};
use toolgate_host::{Clock, Tasks};
use toolgate_wire::Raw;

use crate::access::{Accounts, Cookie, Cost, Guard, Login, Logins, Passwords, Throttle, Way};
use crate::body::{Answer, Request};
use crate::config::{AdminConfig, Reach};
use crate::desk::Desk;
use crate::problem::Problem;
use crate::route::{Answering, Ask, Route, Who};
use crate::sampler::Sampler;
use crate::{api, openapi, page};

/// Where the page is.
const PAGE: &str = "/admin";
/// Where the API is.
pub(crate) const API: &str = "/admin/api";

/// What a page sends along with every change.
const CSRF: HeaderName = HeaderName::from_static("x-csrf-token");

/// How many pages may listen for events at once.
const MOST_STREAMS: usize = 64;

/// What the API and the page are made of.
pub struct AdminParts {
    /// The hub they look at.
    pub hub: Hub,
    /// Where accounts and logins are kept.
    pub store: SharedStore,
    /// The rest of the program.
    pub desk: Arc<dyn Desk>,
    /// What time it is.
    pub clock: Clock,
    /// What hashing a password costs.
    pub cost: Cost,
}

/// The API and the page. Clones are the same.
#[derive(Clone)]
pub struct Admin {
    inner: Arc<Inner>,
}

/// What all requests share.
pub(crate) struct Inner {
    pub(crate) hub: Hub,
    pub(crate) store: SharedStore,
    pub(crate) desk: Arc<dyn Desk>,
    pub(crate) accounts: Accounts,
    pub(crate) logins: Logins,
    pub(crate) passwords: Passwords,
    pub(crate) throttle: Throttle,
    pub(crate) sampler: Arc<Sampler>,
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) openapi: Bytes,
    settings: ArcSwap<Settings>,
    routes: Vec<Route>,
}

/// What can be set otherwise while it runs.
struct Settings {
    config: AdminConfig,
    guard: Guard,
}

impl Admin {
    /// The API and the page, under these settings.
    pub fn new(parts: AdminParts, config: &AdminConfig, reach: &Reach) -> Self {
        let AdminParts { hub, store, desk, clock, cost } = parts;
        let tasks = hub.tasks().clone();
        let accounts = Accounts::new(store.clone(), clock.clone());
        let routes = api::routes();
        let openapi = openapi::document(&routes, &desk.about().version);
        let inner = Inner {
            sampler: Sampler::start(&hub, clock.clone()),
            logins: Logins::new(accounts.clone()),
            passwords: Passwords::new(cost, tasks),
            throttle: Throttle::new(clock.clone()),
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
            settings: ArcSwap::from_pointee(Settings::new(config, reach)),
            openapi: Raw::of(&openapi).bytes(),
            hub,
            store,
            desk,
            accounts,
            routes,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Goes by other settings from the next request on.
    pub fn set(&self, config: &AdminConfig, reach: &Reach) {
        self.inner.settings.store(Arc::new(Settings::new(config, reach)));
    }

    /// Whether a path is for the API or the page, as they are set.
    pub fn has(&self, path: &str) -> bool {
        let rest = path.strip_prefix(PAGE);
        let ours = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        ours && self.inner.settings.load().config.enabled
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request) -> Answer {
        let (method, path) = (request.method.clone(), request.path.clone());
        let mut answer = match self.inner.clone().dispatch(request).await {
            Ok(answer) => answer,
            Err(problem) => problem.answer(|raw| self.inner.hub.filtered(raw).unwrap_or(Raw::EMPTY_OBJECT)),
        };
        secure(&mut answer);
        if answer.status().is_server_error() {
            tracing::warn!(%method, path, status = answer.status().as_u16(), "the admin API could not answer");
        }
        answer
    }
}

impl Settings {
    fn new(config: &AdminConfig, reach: &Reach) -> Self {
        Self { config: config.clone(), guard: Guard::new(config, reach) }
    }
}

impl Inner {
    pub(crate) fn config(&self) -> AdminConfig {
        self.settings.load().config.clone()
    }

    pub(crate) fn tasks(&self) -> &Tasks {
        self.hub.tasks()
    }

    async fn dispatch(self: Arc<Self>, request: Request) -> Result<Answer, Problem> {
        let way = self.settings.load().guard.admit(&request)?;
        let Some(path) =
            request.path.strip_prefix(API).filter(|rest| rest.is_empty() || rest.starts_with('/'))
        else {
            return page::answer(&request);
        };
        let (route, params) = self.route(&request.method, path)?;
        let login = self.login(route, &request, &way).await?;
        let by = login.as_ref().map(|login| login.account.clone());
        let what = format!("admin/{} {path}", request.method);
        let ask = Ask { admin: self.clone(), login, way, params, request };
        let answering = route.handle(ask);
        if route.is_safe() {
            return answering.await;
        }
        let recorded = self.clone().recorded(answering, by, what);
        if route.stops_with_its_client() {
            return recorded.await;
        }
        // Who hangs up must not leave a change half made, or made and not recorded.
        let gave_up = || Problem::from(Error::new(Kind::Internal, "the change was given up"));
        self.tasks().spawn(recorded).await.unwrap_or_else(|_| Err(gave_up()))
    }

    /// What comes of a change, once it stands in the record.
    async fn recorded(
        self: Arc<Self>,
        answering: Answering,
        by: Option<String>,
        what: String,
    ) -> Result<Answer, Problem> {
        let begun = Instant::now();
        let answered = answering.await;
        // What was refused changed nothing; what broke may have.
        let outcome = match &answered {
            Ok(_) => "complete",
            Err(problem) if problem.status().is_server_error() => "failed",
            Err(_) => return answered,
        };
        if let Some(by) = by {
            self.hub.record_change(&principal(&by), &what, outcome, begun.elapsed());
        }
        answered
    }

    /// The route for a request.
    fn route(&self, method: &Method, path: &str) -> Result<(&Route, Vec<String>), Problem> {
        let fitting = || self.routes.iter().filter_map(|route| Some((route, route.params(path)?)));
        // What is written out goes before what may be anything.
        let found =
            fitting().filter(|(route, _)| route.method == *method).min_by_key(|(_, names)| names.len());
        if let Some(found) = found {
            return Ok(found);
        }
        let allowed: Vec<&str> = fitting().map(|(route, _)| route.method.as_str()).collect();
        if allowed.is_empty() {
            return Err(
                Problem::missing("nothing is here").hint("`/admin/api/openapi.json` says what there is")
            );
        }
        Err(Problem::method(allowed.join(", ")))
    }

    /// Who sends a request, if they may.
    async fn login(&self, route: &Route, request: &Request, way: &Way) -> Result<Option<Login>, Problem> {
        let csrf = request.headers.get(CSRF).and_then(|token| token.to_str().ok()).unwrap_or_default();
        let forged = || {
            Problem::forbidden("csrf", "the request does not show that the page sent it")
                .hint("send `X-CSRF-Token` as `GET /admin/api/session` tells it")
        };
        if !route.is_safe() && csrf.is_empty() {
            return Err(forged());
        }
        let Who::AtLeast(role) = route.who else { return Ok(None) };
        let cookie = Cookie::of(&way.host, way.secure);
        let login = match cookie.read(&request.headers) {
            Some(text) => self.logins.find(text, &self.config()).await?,
            None => None,
        };
        let Some(login) = login else {
            return Err(Problem::unknown("nobody is logged in").hint("log in at `/admin`"));
        };
        if !route.is_safe() && !login.is_csrf(csrf) {
            return Err(forged());
        }
        if login.role < role {
            let detail =
                format!("this needs the role `{role}`, and `{}` has `{}`", login.account, login.role);
            return Err(Problem::forbidden("role", detail).hint("ask someone with the role `admin`"));
        }
        Ok(Some(login))
    }
}

/// Whom rules and records know as the owner of an account. No token stands for such a name.
pub(crate) fn principal(account: &str) -> Arc<Principal> {
    Principal::named(format!("admin:{account}"))
}

/// What every answer says to browsers.
fn secure(answer: &mut Answer) {
    const ALWAYS: [(&str, &str); 6] = [
        (
            "content-security-policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
             connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    let headers = answer.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    // What is about someone's login belongs into no cache.
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
