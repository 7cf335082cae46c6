//! All browsers: whose they are, how many there may be, and when they are closed.

mod keeper;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::{Error, HostPattern, Kind, Principal, PrincipalId, Result};
use toolgate_host::outbound::Pinned;
use toolgate_host::{Clock, Tasks};

use crate::BrowserConfig;
use crate::chromium::{INSTALL, installed};
use crate::config::reach;
use crate::downloads::Downloads;
use crate::engine::Engine;
use crate::instance::{Context, InUse, Instance};
use crate::pack::Surroundings;
use crate::proxy::{Hosts, OwnPorts, Proxy};
use crate::store::Store;
use crate::tab::{Options, Tab};

/// All browsers.
pub(crate) struct Pool {
    pub(crate) config: Arc<BrowserConfig>,
    store: Arc<Store>,
    around: Surroundings,
    tasks: Tasks,
    stop: CancellationToken,
    _stops: DropGuard,
    /// Held while it is started, so that it is done once.
    engine: tokio::sync::Mutex<Option<Arc<Engine>>>,
    instances: Mutex<Vec<Arc<Instance>>>,
    all: Arc<Semaphore>,
    each: Mutex<HashMap<PrincipalId, Arc<Semaphore>>>,
    ports: OwnPorts,
    is_kept: AtomicBool,
}

/// What a caller wants of a new browser.
#[derive(Debug, Default)]
pub(crate) struct Launch {
    pub(crate) label: Option<String>,
    pub(crate) options: Options,
    pub(crate) allowed: Option<Vec<HostPattern>>,
}

/// A page that a call is about.
pub(crate) struct Page {
    pub(crate) instance: Arc<Instance>,
    pub(crate) context: Arc<Context>,
    pub(crate) tab: Arc<Tab>,
    pub(crate) store: Arc<Store>,
    pub(crate) _in_use: InUse,
}

impl Page {
    /// It, unless its browser was made anew and the caller does not know that yet.
    pub(crate) fn not_lost(self) -> Result<Self> {
        match self.instance.lost() {
            Some(lost) => {
                Err(Error::new(Kind::ConnectionFailed, lost).hint("call `navigate_to_url` to load a page"))
            }
            None => Ok(self),
        }
    }
}

impl Pool {
    pub(crate) fn new(
        config: Arc<BrowserConfig>,
        store: Arc<Store>,
        around: Surroundings,
        tasks: &Tasks,
    ) -> Arc<Self> {
        let stop = tasks.stopping();
        let _stops = stop.clone().drop_guard();
        let all = Arc::new(Semaphore::new(config.max_browsers as usize));
        Arc::new(Self {
            config,
            store,
            around,
            tasks: tasks.child(),
            stop,
            _stops,
            engine: tokio::sync::Mutex::new(None),
            instances: Mutex::default(),
            all,
            each: Mutex::default(),
            ports: OwnPorts::default(),
            is_kept: AtomicBool::new(false),
        })
    }

    /// Launches a browser for a caller, once there is a place for it.
    pub(crate) async fn launch(self: &Arc<Self>, who: &Principal, launch: Launch) -> Result<Arc<Instance>> {
        let places = self.place(&who.id).await?;
        let context = self.context(&launch.options, launch.allowed.as_deref()).await?;
        let now = Instant::now();
        let instance = Arc::new(Instance {
            id: new_id()?,
            owner: who.id.clone(),
            label: launch.label,
            options: launch.options,
            allowed: launch.allowed,
            created_unix_ms: Clock::system().unix_ms(),
            used: Mutex::new(now),
            calls: AtomicUsize::new(0),
            context: tokio::sync::Mutex::new(context),
            is_lost: AtomicBool::new(false),
            _places: places,
        });
        lock(&self.instances).push(instance.clone());
        if !self.is_kept.swap(true, Ordering::AcqRel) {
            keeper::start(self, &self.tasks, self.stop.clone());
        }
        Ok(instance)
    }

    /// The page that a call is about; its browser is made anew if Chromium ended.
    pub(crate) async fn page(&self, who: &Principal, id: Option<&str>) -> Result<Page> {
        let instance = self.find(who, id)?;
        let in_use = instance.in_use();
        let mut held = instance.context.lock().await;
        if held.is_over() {
            *held = self.context(&instance.options, instance.allowed.as_deref()).await?;
            instance.is_lost.store(true, Ordering::Release);
        }
        let context = held.clone();
        drop(held);
        let tab = match context.current() {
            Some(tab) => tab,
            // A page may close its own tab.
            None => context.open("about:blank").await?,
        };
        Ok(Page { instance, context, tab, store: self.store.clone(), _in_use: in_use })
    }

    /// A browser of a caller, by its name or because it is the only one.
    pub(crate) fn find(&self, who: &Principal, id: Option<&str>) -> Result<Arc<Instance>> {
        let own = self.of(&who.id);
        match (id, own.as_slice()) {
            (Some(id), own) => own.iter().find(|instance| instance.id == id).cloned().ok_or_else(|| {
                let words = format!("there is no browser `{}`", crate::text::brief(id, 60));
                Error::new(Kind::NotFound, words)
                    .hint("call `list_active_browsers` to see which ones you have")
            }),
            (None, [only]) => Ok(only.clone()),
            (None, []) => {
                Err(Error::new(Kind::NotFound, "there is no browser").hint("call `launch_browser` first"))
            }
            (None, several) => {
                let ids: Vec<&str> = several.iter().map(|instance| instance.id.as_str()).collect();
                Err(Error::new(
                    Kind::InvalidInput,
                    format!("`browserId` is missing, and you have {}", ids.join(", ")),
                )
                .hint("say which one is meant"))
            }
        }
    }

    /// The browsers of a caller.
    pub(crate) fn of(&self, who: &PrincipalId) -> Vec<Arc<Instance>> {
        lock(&self.instances).iter().filter(|instance| instance.owner == *who).cloned().collect()
    }

    /// How many browsers there are in all.
    pub(crate) fn count(&self) -> usize {
        lock(&self.instances).len()
    }

    /// Whether nobody has a browser, nor is about to have one.
    fn is_unused(&self) -> bool {
        self.all.available_permits() == self.config.max_browsers as usize
    }

    /// The Chromium, if one runs.
    pub(crate) async fn running(&self) -> Option<Arc<Engine>> {
        self.engine.lock().await.clone().filter(|engine| !engine.is_over())
    }

    /// The program that is or would be started.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        let value = |name: &str| {
            let found = self.around.variables.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        installed(&self.config, value)
    }

    /// Closes a browser.
    pub(crate) async fn close(&self, instance: &Arc<Instance>) {
        lock(&self.instances).retain(|known| !Arc::ptr_eq(known, instance));
        let context = instance.context.lock().await.clone();
        context.close().await;
    }

    /// A place in the quotas of a caller and of all, waited for in turn.
    async fn place(&self, who: &PrincipalId) -> Result<[OwnedSemaphorePermit; 2]> {
        let most = self.config.max_per_principal;
        let own = lock(&self.each)
            .entry(who.clone())
            .or_insert_with(|| Arc::new(Semaphore::new(most as usize)))
            .clone();
        let limit = tokio::time::Instant::now() + Duration::from_secs(self.config.queue_seconds);
        // It is something that a model can mend, so it is told as what is wrong with its call.
        let full = |words: String, hint: &'static str| Error::new(Kind::InvalidInput, words).hint(hint);
        let Ok(Ok(mine)) = tokio::time::timeout_at(limit, own.acquire_owned()).await else {
            let words = format!("browser_limit: you have {most} browsers, which is the most for one caller");
            return Err(full(words, "close one with `close_browser`"));
        };
        let Ok(Ok(place)) = tokio::time::timeout_at(limit, self.all.clone().acquire_owned()).await else {
            let words =
                format!("browser_limit: there are {} browsers, which is the most", self.config.max_browsers);
            return Err(full(words, "try again later, or have `browser.max_browsers` raised"));
        };
        Ok([mine, place])
    }

    async fn context(&self, options: &Options, allowed: Option<&[HostPattern]>) -> Result<Arc<Context>> {
        let engine = self.engine().await?;
        let pinned = |domains: &[HostPattern]| Pinned::new(reach(domains), self.around.lookup.clone());
        let hosts = Hosts {
            all: Arc::new(pinned(&self.config.allowed_domains)),
            narrow: allowed.map(pinned),
            own: self.ports.clone(),
        };
        let proxy = Proxy::start(hosts, &self.tasks, self.stop.child_token()).await?;
        let downloads = self.config.downloads.then(|| Downloads::new(self.store.room())).transpose()?;
        Context::make(engine, (proxy, downloads), options.clone()).await
    }

    /// The Chromium, started if there is none.
    async fn engine(&self) -> Result<Arc<Engine>> {
        let mut held = self.engine.lock().await;
        if let Some(engine) = held.as_ref().filter(|engine| !engine.is_over()) {
            return Ok(engine.clone());
        }
        if self.stop.is_cancelled() {
            return Err(Error::new(Kind::ConnectionFailed, "no browser is started any more")
                .hint("the server is being stopped"));
        }
        let program = self.program().ok_or_else(|| {
            Error::new(Kind::ConnectionFailed, "no Chromium is installed on this machine").hint(INSTALL)
        })?;
        let stop = (&self.tasks, self.stop.child_token());
        let engine = Engine::start(program, &self.config, &self.around.variables, stop).await?;
        *held = Some(engine.clone());
        Ok(engine)
    }
}

fn new_id() -> Result<String> {
    let mut bytes = [0_u8; 6];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::new(Kind::Internal, "no name can be made for a browser").because(error))?;
    Ok(bytes.iter().fold("browser-".to_owned(), |id, byte| format!("{id}{byte:02x}")))
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_browser_that_is_being_launched_is_not_none() {
        let (config, folder) = (Arc::new(BrowserConfig::default()), tempfile::tempdir().unwrap());
        let store = Arc::new(Store::new(folder.path().to_owned(), &config));
        let around = Surroundings::new(Vec::new(), folder.path().to_owned(), folder.path().to_owned());
        let pool = Pool::new(config, store, around, &Tasks::new());
        assert!(pool.is_unused());
        // A launch has its place before it asks for a Chromium, and long before it is counted.
        let place = pool.place(&Principal::named("ada").id).await.unwrap();
        assert_eq!((pool.count(), pool.is_unused()), (0, false));
        drop(place);
        assert!(pool.is_unused());
    }
}
