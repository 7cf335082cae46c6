//! Where a server may send us: to nothing that is nearer to this machine than the server itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// How near an address is to this machine. What is nearer is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    Public,
    Private,
    Loopback,
    /// Of no server, or of the machine's own surroundings, such as a cloud's metadata.
    Never,
}

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

fn nearness(ip: IpAddr) -> Nearness {
    match ip {
        IpAddr::V4(ip) => nearness_v4(ip),
        IpAddr::V6(ip) => embedded(ip).map_or_else(|| nearness_v6(ip), nearness_v4),
    }
}

fn nearness_v4(ip: Ipv4Addr) -> Nearness {
    let [a, b, c, _] = ip.octets();
    match (a, b, c) {
        (127, ..) => Nearness::Loopback,
        (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => Nearness::Private,
        // This network, link-local, protocol assignments, documentation, benchmarks, multicast, reserved.
        (0, ..) | (169, 254, _) | (192, 0, 0 | 2) | (198, 18..=19, _) | (198, 51, 100) => Nearness::Never,
        (203, 0, 113) | (224.., ..) => Nearness::Never,
        _ => Nearness::Public,
    }
}

fn nearness_v6(ip: Ipv6Addr) -> Nearness {
    let [first, second, third, ..] = ip.segments();
    match (first, second, third) {
        _ if ip.is_loopback() => Nearness::Loopback,
        _ if ip.is_unspecified() => Nearness::Never,
        (0xfc00..=0xfdff, ..) => Nearness::Private,
        // Link-local, site-local, multicast, Teredo, documentation, local NAT64.
        (0xfe80..=0xffff, ..) | (0x2001, 0 | 0xdb8, _) | (0x64, 0xff9b, 1) => Nearness::Never,
        _ => Nearness::Public,
    }
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, NAT64 or 6to4.
fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(of(g, h)),
        [0, 0, 0, 0, 0, 0] if !ip.is_loopback() && !ip.is_unspecified() => Some(of(g, h)),
        [0x2002, ..] => Some(of(b, c)),
        _ => None,
    }
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
