//! Clients for HTTP: whom one trusts, through which proxy it goes, and how far it follows.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::{Attempt, Policy};
use reqwest::{Certificate, Client};
use tokio::sync::OnceCell;
use toolgate_host::Tasks;
use toolgate_host::authorities::read_authorities;

use super::answer::reason;
use crate::fault::Fault;
use crate::plan::AddressPlan;

/// How long a connection may take to come about.
pub(super) const CONNECT: Duration = Duration::from_secs(10);

/// Who we are.
pub(super) const USER_AGENT: &str = concat!("toolgate/", env!("CARGO_PKG_VERSION"));

/// How many redirects are followed, all of them within the same server.
const REDIRECTS: usize = 5;

/// A client for HTTP, made when it is first needed. What a machine trusts takes half a megabyte, so upstreams that are
/// reached in the usual way share one. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct WebClient(Arc<OnceCell<Client>>);

impl WebClient {
    /// The client, for an address that is reached as all others that use it.
    pub(crate) async fn get(
        &self,
        plan: &AddressPlan,
        variables: &[(OsString, OsString)],
        tasks: &Tasks,
    ) -> Result<Client, Fault> {
        self.0.get_or_try_init(|| client(plan, variables, tasks)).await.cloned()
    }
}

async fn client(
    plan: &AddressPlan,
    variables: &[(OsString, OsString)],
    tasks: &Tasks,
) -> Result<Client, Fault> {
    let same_server = |attempt: Attempt<'_>| {
        let before = attempt.previous();
        let stays = before.first().is_some_and(|first| first.origin() == attempt.url().origin());
        let keeps_method = matches!(attempt.status().as_u16(), 307 | 308);
        if stays && keeps_method && before.len() <= REDIRECTS { attempt.follow() } else { attempt.stop() }
    };
    let failed = |error| Fault::NotSent(reason(error));
    // The environment is not asked behind our back.
    let builder = Client::builder().no_proxy();
    let proxies = plan.proxies(variables).map_err(failed)?;
    let builder = proxies.into_iter().fold(builder, |builder, proxy| builder.proxy(proxy));
    let builder = match authorities(plan, tasks).await? {
        Some(trusted) => builder.tls_certs_merge(trusted),
        None => builder,
    };
    builder
        .redirect(Policy::custom(same_server))
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .user_agent(USER_AGENT)
        .build()
        .map_err(failed)
}

/// The authorities that are trusted beside those of the machine.
async fn authorities(plan: &AddressPlan, tasks: &Tasks) -> Result<Option<Vec<Certificate>>, Fault> {
    let Some(path) = plan.ca_file.clone() else { return Ok(None) };
    let read = tasks.blocking(move || read_authorities(&path)).await;
    let read = read.map_err(|error| Fault::NotSent(error.to_string()))?;
    read.map(Some).map_err(|error| Fault::NotSent(error.to_string()))
}
