//! Names that are looked up once: what they stood for when they were judged is what they stand for from then on.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use url::Host;

use super::lookup::Lookup;
use super::nearness::{Nearness, nearness};
use super::reach::{Barred, Reach, plain};

/// How many names are remembered; beyond that one is forgotten for each that comes.
const MOST: usize = 4096;

/// Hosts for a client that may come again: judged by where they may reach, and always at the same addresses.
///
/// A name that is listed may be at a public address; near ones have to be listed themselves, so that who owns the name
/// cannot lead us to them. Only `localhost` is what it says.
#[derive(Debug)]
pub struct Pinned {
    reach: Reach,
    lookup: Arc<dyn Lookup>,
    known: Mutex<HashMap<String, Arc<[IpAddr]>>>,
}

/// Why a host is not reached.
#[derive(Debug, thiserror::Error)]
pub enum Unreached {
    /// It is not among those that are listed, or it is among those that are denied.
    #[error("the host `{host}` is not allowed")]
    Denied {
        /// The host.
        host: String,
    },
    /// It is on this machine or in a network of its own.
    #[error("the host `{host}` is at no public address")]
    TooNear {
        /// The host.
        host: String,
    },
    /// Nobody knows its name.
    #[error("the host `{host}` cannot be looked up")]
    Unknown {
        /// The host.
        host: String,
        /// Why.
        source: io::Error,
    },
}

impl Pinned {
    /// Hosts that may be reached, by a way to look them up.
    pub fn new(reach: Reach, lookup: Arc<dyn Lookup>) -> Self {
        Self { reach, lookup, known: Mutex::default() }
    }

    /// Whether a host may be asked, as far as it can be told without looking it up.
    ///
    /// # Errors
    /// It may not.
    pub fn permits(&self, host: &str) -> Result<(), Unreached> {
        match parsed(host)? {
            Host::Domain(name) => self.reach.permits_name(&name).map(drop),
            Host::Ipv4(ip) => self.reach.permits_ip(ip.into(), false),
            Host::Ipv6(ip) => self.reach.permits_ip(ip.into(), false),
        }
        .map_err(|why| barred(host, why))
    }

    /// The addresses of a host: a name, or an address itself.
    ///
    /// # Errors
    /// It may not be reached, or its name is not known.
    pub async fn addresses(&self, host: &str) -> Result<Arc<[IpAddr]>, Unreached> {
        self.permits(host)?;
        let name = match parsed(host)? {
            Host::Domain(name) => plain(&name),
            Host::Ipv4(ip) => return Ok([IpAddr::from(ip)].into()),
            Host::Ipv6(ip) => return Ok([IpAddr::from(ip)].into()),
        };
        if let Some(known) = self.known().get(&name) {
            return Ok(known.clone());
        }
        let listed = self.reach.permits_name(&name).map_err(|why| barred(host, why))?;
        let found = self.lookup.look_up(name.clone()).await;
        let found = found.map_err(|source| Unreached::Unknown { host: host.to_owned(), source })?;
        let judged = found.iter().map(|at| at.ip()).map(|ip| self.judge(&name, ip, listed).map(|()| ip));
        let (fit, unfit): (Vec<_>, Vec<_>) = judged.partition(Result::is_ok);
        let fit: Arc<[IpAddr]> = fit.into_iter().flatten().collect();
        if let (true, Some(Err(why))) = (fit.is_empty(), unfit.into_iter().next()) {
            return Err(barred(host, why));
        }
        Ok(self.keep(name, fit))
    }

    /// Looks a name up again when it is next needed, because nobody answers where it was.
    pub fn forget(&self, host: &str) {
        self.known().remove(&plain(host));
    }

    fn judge(&self, name: &str, ip: IpAddr, listed: bool) -> Result<(), Barred> {
        let is_here = name == "localhost" || name.ends_with(".localhost");
        let counts = match nearness(ip) {
            Nearness::Public => true,
            Nearness::Loopback => is_here,
            Nearness::Private | Nearness::Never => false,
        };
        self.reach.permits_ip(ip, listed && counts)
    }

    /// Keeps what a name stands for; who looked it up first has found it for all.
    fn keep(&self, name: String, fit: Arc<[IpAddr]>) -> Arc<[IpAddr]> {
        let mut known = self.known();
        if known.len() >= MOST
            && let Some(any) = known.keys().next().cloned()
        {
            known.remove(&any);
        }
        known.entry(name).or_insert(fit).clone()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Arc<[IpAddr]>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn parsed(host: &str) -> Result<Host, Unreached> {
    let text =
        if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() };
    Host::parse(&text).map_err(|_| Unreached::Denied { host: host.to_owned() })
}

fn barred(host: &str, why: Barred) -> Unreached {
    let host = host.to_owned();
    match why {
        Barred::Denied => Unreached::Denied { host },
        Barred::TooNear => Unreached::TooNear { host },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::net::SocketAddr;

    use super::super::lookup::LookingUp;
    use super::*;

    /// Answers with one address after the other.
    #[derive(Debug, Default)]
    struct Turning(Mutex<VecDeque<IpAddr>>);

    impl Lookup for Turning {
        fn look_up(&self, _: String) -> LookingUp {
            let next = self.0.lock().unwrap().pop_front();
            Box::pin(async move { Ok(next.map(|ip| SocketAddr::new(ip, 0)).into_iter().collect()) })
        }
    }

    fn pinned(allow: &[&str], answers: &[&str]) -> Pinned {
        let rules = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let deny = if allow.is_empty() { vec![] } else { rules(&["*"]) };
        let answers = answers.iter().map(|text| text.parse().unwrap()).collect();
        Pinned::new(Reach { allow: rules(allow), deny }, Arc::new(Turning(Mutex::new(answers))))
    }

    async fn asked(pinned: &Pinned, host: &str) -> String {
        match pinned.addresses(host).await {
            Ok(at) => format!("{at:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[tokio::test]
    async fn a_host_is_judged_by_name_and_address() {
        async fn check(allow: &[&str], answer: &str, host: &str, expect: &str) {
            assert_eq!(asked(&pinned(allow, &[answer]), host).await, expect, "{allow:?} {answer} {host}");
        }
        check(&[], "93.184.216.34", "a.example", "[93.184.216.34]").await;
        check(&[], "10.0.0.1", "a.example", "the host `a.example` is at no public address").await;
        check(&[], "127.0.0.1", "localhost", "the host `localhost` is at no public address").await;
        check(&[], "::1", "127.0.0.1", "the host `127.0.0.1` is at no public address").await;
        check(&[], "::1", "169.254.169.254", "the host `169.254.169.254` is at no public address").await;
        check(&["b.example"], "93.184.216.34", "a.example", "the host `a.example` is not allowed").await;
        check(&["*.example"], "93.184.216.34", "A.example.", "[93.184.216.34]").await;
        check(&["a.example"], "127.0.0.1", "a.example", "the host `a.example` is at no public address").await;
        check(&["a.example", "10.0.0.0/8"], "10.0.0.1", "a.example", "[10.0.0.1]").await;
        check(&["localhost"], "127.0.0.1", "localhost", "[127.0.0.1]").await;
        check(&["localhost"], "10.0.0.1", "localhost", "the host `localhost` is at no public address").await;
        check(&["127.0.0.1"], "::1", "127.0.0.1", "[127.0.0.1]").await;
        check(&["127.0.0.1"], "::1", "0x7f.1", "[127.0.0.1]").await;
        check(&["::1"], "::1", "::1", "[::1]").await;
        check(&[], "::1", "a b", "the host `a b` is not allowed").await;
    }

    #[tokio::test]
    async fn a_name_keeps_the_addresses_that_it_had_when_it_was_judged() {
        let hosts = pinned(&[], &["93.184.216.34", "93.184.216.35", "127.0.0.1"]);
        for _ in 0..2 {
            assert_eq!(asked(&hosts, "a.example").await, "[93.184.216.34]");
        }
        hosts.forget("a.example");
        assert_eq!(asked(&hosts, "a.example").await, "[93.184.216.35]");
        hosts.forget("a.example");
        assert_eq!(asked(&hosts, "a.example").await, "the host `a.example` is at no public address");
    }
}
