//! The OpenCode server that the tools act on: the configured one, one that answers already, or one of our own.

mod link;
mod managed;
mod ring;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use tokio::sync::Mutex;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolgate_core::{Error, Kind, Result};
use toolgate_host::{Secret, Tasks, find_program};
use url::Url;

use crate::client::Client;
use crate::hidden::shown_address;
use crate::{OpencodeConfig, Surroundings};

pub(crate) use link::Link;
pub(crate) use ring::LogRing;

/// How long a server that may be there already has to say so.
const GLANCE: Duration = Duration::from_secs(3);

/// How long to wait before a server that did not start is started again.
const AGAIN: Duration = Duration::from_secs(1);

/// The variable that names a file which OpenCode reads beside those it finds.
const CONFIG: &str = "OPENCODE_CONFIG";

/// Finds, starts and keeps the server.
pub(crate) struct Server {
    config: Arc<OpencodeConfig>,
    around: Surroundings,
    tasks: Tasks,
    stop: CancellationToken,
    _stops: DropGuard,
    /// Held while one is looked for or started, so that it is done once.
    link: Mutex<Option<Arc<Link>>>,
}

impl Server {
    pub(crate) fn new(config: Arc<OpencodeConfig>, around: Surroundings, tasks: &Tasks) -> Self {
        let stop = tasks.stopping();
        let _stops = stop.clone().drop_guard();
        Self { config, around, tasks: tasks.child(), stop, _stops, link: Mutex::new(None) }
    }

    /// The server, healthy as of now or of when it was found. One of ours that has ended is started again.
    pub(crate) async fn link(&self) -> Result<Arc<Link>> {
        let mut held = self.link.lock().await;
        if let Some(link) = held.as_ref().filter(|link| !link.has_ended()) {
            // A way that was broken once may be whole again; then there is no need for another server.
            if !link.client().is_lost() || healthy(link.client()).await.is_ok() {
                return Ok(link.clone());
            }
        }
        let link = Arc::new(self.connect().await?);
        *held = Some(link.clone());
        Ok(link)
    }

    async fn connect(&self) -> Result<Link> {
        if let Some(address) = &self.config.server_url {
            let client = self.client(address, self.around.password.as_ref())?;
            healthy(&client).await?;
            return Ok(Link::to(client, &self.tasks, &self.stop));
        }
        let usual = self.client(&self.around.usual_url, self.around.password.as_ref())?;
        match healthy(&usual).await {
            Ok(()) => return Ok(Link::to(usual, &self.tasks, &self.stop)),
            Err(error) => tracing::debug!(%error, "no OpenCode to use at the usual address"),
        }
        if !self.config.auto_start {
            return Err(Error::new(
                Kind::ConnectionFailed,
                "no OpenCode server answers, and none may be started",
            )
            .hint("start one with `opencode serve`, or set `opencode.auto_start` to true"));
        }
        self.start().await
    }

    async fn start(&self) -> Result<Link> {
        let password = managed::password()?;
        let started = managed::Start {
            program: self.program()?,
            variables: self.variables(),
            folder: self.config.default_project.clone().unwrap_or_else(|| self.around.folder.clone()),
            password: password.clone(),
        };
        // Two that start at once for the first time get in each other's way; the second time there is none.
        let managed = match started.run().await {
            Ok(managed) => managed,
            Err(error) => {
                tracing::warn!(%error, "OpenCode did not start, and is started again");
                tokio::time::sleep(AGAIN).await;
                started.run().await?
            }
        };
        let client = self.client(&managed.address, Some(&password))?.logged(managed.log.clone());
        healthy(&client).await?;
        Ok(Link::managed(client, managed, &self.tasks, &self.stop))
    }

    /// The program to start.
    fn program(&self) -> Result<PathBuf> {
        let value = |name: &str| {
            let found = self.around.variables.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        installed(&self.config, value).ok_or_else(|| {
            Error::new(Kind::ConnectionFailed, "no OpenCode server answers, and OpenCode is not installed")
                .hint(
                    "install it with `npm install -g opencode-ai`, or set `opencode.program` to where it is",
                )
        })
    }

    /// What a server of ours sees of our environment.
    fn variables(&self) -> Vec<(String, String)> {
        let plain = ["PATH", "HOME", "LANG", "TMPDIR"];
        let seen = |name: &str| {
            plain.contains(&name)
                || name.starts_with("XDG_")
                || name.starts_with("OPENCODE_")
                || self.config.variables.iter().any(|wanted| wanted == name)
        };
        let mut all: Vec<_> = self.around.variables.iter().filter(|(name, _)| seen(name)).cloned().collect();
        // What our tools change has to be what it reads.
        if let Some(path) = &self.config.config_path {
            all.retain(|(name, _)| name != CONFIG);
            all.push((CONFIG.to_owned(), path.to_string_lossy().into_owned()));
        }
        all
    }

    fn client(&self, address: &str, password: Option<&Secret>) -> Result<Client> {
        let unusable = |words: String| {
            Error::new(Kind::ConnectionFailed, words).hint("set `opencode.server_url` to an `http` address")
        };
        let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| unusable("`opencode.server_url` is no address of a server".into()))?;
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(Policy::none())
            .connect_timeout(GLANCE)
            .tcp_nodelay(true)
            .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| unusable("requests cannot be made".into()).because(error))?;
        let client = Client::new(http, url, Duration::from_millis(self.config.timeout));
        Ok(match password {
            Some(password) => client.signed(&self.config.username, password.clone()),
            None => client,
        })
    }
}

/// The OpenCode that would be started: the configured one, else one on the search path or where its own installer puts
/// it. Variables are looked up by `value`.
pub fn installed(config: &OpencodeConfig, value: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    if let Some(program) = &config.program {
        return Some(program.clone());
    }
    let [path, home] = ["PATH", "HOME"].map(|name| value(name).unwrap_or_default());
    find_program(&format!("{path}:{home}/.opencode/bin"), "opencode")
}

/// Whether a server is an OpenCode that lets us in.
async fn healthy(client: &Client) -> Result<()> {
    let health = client.get(&["global", "health"]).limited(GLANCE.saturating_mul(5)).send().await?;
    if health["healthy"] == true {
        return Ok(());
    }
    Err(Error::new(
        Kind::ConnectionFailed,
        format!("`{}` is no healthy OpenCode", shown_address(client.base().as_str())),
    )
    .hint("check `opencode.server_url`"))
}
