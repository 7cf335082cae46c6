//! Where a server may send us: to nothing that is nearer to this machine than the server itself.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::nearness::{Nearness, nearness};

/// Which addresses a server may name that a person configured.
#[derive(Debug, Clone)]
pub(super) struct Guard(Arc<Home>);

#[derive(Debug, Clone)]
struct Home {
    host: String,
    /// Hosts that may be reached wherever they are.
    exempt: Vec<String>,
    nearness: Nearness,
}

impl Guard {
    /// Only what is written in the address counts, not what its name resolves to: that is for others to change.
    pub(super) fn of(home: &Url) -> Self {
        let nearness = match home.host() {
            Some(Host::Domain(name)) if is_localhost(name) => Nearness::Loopback,
            Some(Host::Domain(_)) | None => Nearness::Public,
            Some(Host::Ipv4(ip)) => nearness(ip.into()),
            Some(Host::Ipv6(ip)) => nearness(ip.into()),
        };
        // One that is at such an address may be spoken to, but not send us to others there.
        let nearness = if nearness == Nearness::Never { Nearness::Public } else { nearness };
        let host = home.host_str().unwrap_or_default().to_owned();
        Self(Arc::new(Home { host, exempt: Vec::new(), nearness }))
    }

    /// The same, but for these hosts, when they are on the way.
    pub(super) fn but_for(&self, hosts: &[String]) -> Self {
        Self(Arc::new(Home { exempt: hosts.to_vec(), ..(*self.0).clone() }))
    }

    /// Whether an address may be asked, as far as it can be told without resolving its name.
    pub(super) fn permits(&self, url: &Url) -> bool {
        if url.host_str() == Some(&self.0.host) {
            return true;
        }
        match url.host() {
            Some(Host::Domain(name)) if is_localhost(name) => self.0.nearness == Nearness::Loopback,
            Some(Host::Domain(_)) => true,
            Some(Host::Ipv4(ip)) => self.permits_ip(ip.into()),
            Some(Host::Ipv6(ip)) => self.permits_ip(ip.into()),
            None => false,
        }
    }

    fn permits_ip(&self, ip: IpAddr) -> bool {
        nearness(ip) <= self.0.nearness
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let is_free = host == guard.0.host || guard.0.exempt.contains(&host);
            let fit: Vec<SocketAddr> = found.filter(|at| is_free || guard.permits_ip(at.ip())).collect();
            if fit.is_empty() {
                return Err(format!("`{host}` is at an address that a server may not send us to").into());
            }
            Ok(Box::new(fit.into_iter()) as Addrs)
        })
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_sends_us_to_nothing_nearer_than_itself() {
        #[track_caller]
        fn check(home: &str, named: &str, expect: bool) {
            let guard = Guard::of(&Url::parse(home).unwrap());
            assert_eq!(guard.permits(&Url::parse(named).unwrap()), expect, "{home} names {named}");
        }
        let public = "https://mcp.example.com/mcp";
        check(public, "https://login.example.com/token", true);
        check(public, "https://mcp.example.com/token", true);
        check(public, "https://93.184.216.34/token", true);
        for near in [
            "https://127.0.0.1/",
            "https://localhost/",
            "https://x.localhost./",
            "https://[::1]/",
            "https://10.0.0.9/",
            "https://172.20.1.1/",
            "https://192.168.1.1/",
            "https://100.64.0.1/",
            "https://169.254.169.254/",
            "https://0.0.0.0/",
            "https://[fd00::1]/",
            "https://[fe80::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[64:ff9b::a00:1]/",
            "https://[2002:7f00:1::]/",
            "https://2130706433/",
        ] {
            check(public, near, false);
        }
        check("http://127.0.0.1:3000/mcp", "http://127.0.0.1:9/token", true);
        check("http://localhost:3000/mcp", "http://[::1]:9/token", true);
        check("http://127.0.0.1:3000/mcp", "https://10.0.0.9/token", true);
        check("http://127.0.0.1:3000/mcp", "http://169.254.169.254/token", false);
        check("https://10.0.0.5/mcp", "https://10.0.0.9/token", true);
        check("https://10.0.0.5/mcp", "https://127.0.0.1/token", false);
        check("https://169.254.7.7/mcp", "https://169.254.7.7/token", true);
        check("https://169.254.7.7/mcp", "https://169.254.169.254/token", false);
    }

    #[tokio::test]
    async fn a_name_that_resolves_to_this_machine_is_not_asked_for_a_server_elsewhere() {
        let found = |home: &str| {
            let guard = Guard::of(&Url::parse(home).unwrap());
            async move { guard.resolve("localhost".parse().unwrap()).await.is_ok() }
        };
        assert!(!found("https://mcp.example.com/").await);
        assert!(found("http://127.0.0.1:1/").await);
    }
}
