//! Which hosts a fetcher may reach: what is public, and what a person lists beside it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::lookup::Lookup;
use super::nearness::{Nearness, embedded, nearness};

/// Hosts as a person lists them: a name, `*.` and a name for all below it, an address, a network, or `*` for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    written: String,
    hosts: Hosts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    All,
    Name(String),
    Below(String),
    Network { ip: IpAddr, bits: u8 },
}

/// Why a text is no rule for hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no host: write a name, `*.` and a name, an address, a network such as `10.0.0.0/8`, or `*`"
)]
pub struct BadHostRule(String);

impl FromStr for HostRule {
    type Err = BadHostRule;

    fn from_str(text: &str) -> Result<Self, BadHostRule> {
        let bad = || BadHostRule(text.to_owned());
        let name = |text: &str| match Host::parse(text) {
            Ok(Host::Domain(name)) => Ok(plain(&name)),
            Ok(Host::Ipv4(_) | Host::Ipv6(_)) | Err(_) => Err(bad()),
        };
        let hosts = if text == "*" {
            Hosts::All
        } else if let Some(above) = text.strip_prefix("*.") {
            Hosts::Below(name(above)?)
        } else if let Some((ip, bits)) = text.split_once('/') {
            network(ip, bits).ok_or_else(bad)?
        } else if let Ok(ip) = text.trim_matches(['[', ']']).parse() {
            whole(ip)
        } else {
            Hosts::Name(name(text)?)
        };
        Ok(Self { written: text.to_owned(), hosts })
    }
}

impl HostRule {
    /// Whether it is `*`.
    pub fn is_all(&self) -> bool {
        self.hosts == Hosts::All
    }

    /// Whether it means the host of an address, as the address names it.
    pub fn covers(&self, url: &Url) -> bool {
        if self.is_all() {
            return url.has_host();
        }
        let at = |ip: IpAddr| self.hosts.has_ip(canonical(ip)) || self.hosts.has_ip(ip);
        match url.host() {
            Some(Host::Domain(name)) => self.hosts.has_name(&plain(name)),
            Some(Host::Ipv4(ip)) => at(ip.into()),
            Some(Host::Ipv6(ip)) => at(ip.into()),
            None => false,
        }
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// A network, if the text before and behind the slash is one.
fn network(ip: &str, bits: &str) -> Option<Hosts> {
    let ip: IpAddr = ip.parse().ok()?;
    let bits: u8 = bits.parse().ok()?;
    (bits <= width(ip)).then_some(Hosts::Network { ip, bits })
}

fn whole(ip: IpAddr) -> Hosts {
    let ip = canonical(ip);
    Hosts::Network { ip, bits: width(ip) }
}

const fn width(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

/// One form for all that lead to the same place.
fn canonical(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V6(six) => embedded(six).map_or(ip, IpAddr::V4),
        IpAddr::V4(_) => ip,
    }
}

/// A name as it is compared.
pub(super) fn plain(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

impl Hosts {
    fn has_name(&self, name: &str) -> bool {
        match self {
            Self::Name(listed) => listed == name,
            Self::Below(above) => name.strip_suffix(above.as_str()).is_some_and(|rest| rest.ends_with('.')),
            Self::All | Self::Network { .. } => false,
        }
    }

    fn has_ip(&self, at: IpAddr) -> bool {
        let Self::Network { ip, bits } = self else { return false };
        match (ip, at) {
            (IpAddr::V4(ip), IpAddr::V4(at)) => {
                (ip.to_bits() ^ at.to_bits()).leading_zeros() >= u32::from(*bits)
            }
            (IpAddr::V6(ip), IpAddr::V6(at)) => {
                (ip.to_bits() ^ at.to_bits()).leading_zeros() >= u32::from(*bits)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

/// Which hosts may be reached. By default those at public addresses, and no others.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// Hosts that may be reached also in private networks and on this machine. What is neither public nor private, such
    /// as a cloud's metadata, has to be listed by its address.
    pub allow: Vec<HostRule>,
    /// Hosts that may not be reached, whatever else is listed; `*` is all that `allow` does not list.
    pub deny: Vec<HostRule>,
}

/// What keeps us from a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Barred {
    #[error("the host is denied")]
    Denied,
    #[error("the host is at no public address")]
    TooNear,
}

impl Reach {
    /// Whether an address may be asked, as far as it can be told without resolving its name.
    pub(super) fn permits(&self, url: &Url) -> Result<(), Barred> {
        match url.host() {
            Some(Host::Domain(name)) => self.permits_name(name).map(drop),
            Some(Host::Ipv4(ip)) => self.permits_ip(ip.into(), false),
            Some(Host::Ipv6(ip)) => self.permits_ip(ip.into(), false),
            None => Err(Barred::Denied),
        }
    }

    /// Whether a name may be resolved at all, and is listed.
    pub(super) fn permits_name(&self, name: &str) -> Result<bool, Barred> {
        let name = plain(name);
        let has = |rules: &[HostRule]| rules.iter().any(|rule| rule.hosts.has_name(&name));
        let listed = has(&self.allow);
        // A name that is denied is not even resolved: a question to a name server can carry much out.
        if has(&self.deny) || (self.denies_all() && !listed) { Err(Barred::Denied) } else { Ok(listed) }
    }

    /// Whether an address may be reached, for a host whose name is listed or not.
    pub(super) fn permits_ip(&self, ip: IpAddr, listed: bool) -> Result<(), Barred> {
        let at = canonical(ip);
        let has =
            |rules: &[HostRule]| rules.iter().any(|rule| rule.hosts.has_ip(at) || rule.hosts.has_ip(ip));
        if has(&self.deny) {
            return Err(Barred::Denied);
        }
        if has(&self.allow) {
            return Ok(());
        }
        match nearness(ip) {
            Nearness::Public if self.denies_all() && !listed => Err(Barred::Denied),
            Nearness::Public => Ok(()),
            Nearness::Private | Nearness::Loopback if listed => Ok(()),
            Nearness::Private | Nearness::Loopback | Nearness::Never => Err(Barred::TooNear),
        }
    }

    fn denies_all(&self) -> bool {
        self.deny.iter().any(|rule| rule.hosts == Hosts::All)
    }
}

/// Resolves names for a client. What it permits is what the client connects to: no name is resolved a second time
/// between the two.
#[derive(Debug, Clone)]
pub(super) struct Resolver {
    pub(super) reach: Arc<Reach>,
    pub(super) lookup: Arc<dyn Lookup>,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let this = self.clone();
        Box::pin(async move {
            let listed = this.reach.permits_name(name.as_str())?;
            let found = this.lookup.look_up(name.as_str().to_owned()).await?;
            let mut barred = None;
            let mut fit: Vec<SocketAddr> = Vec::new();
            for at in found {
                match this.reach.permits_ip(at.ip(), listed) {
                    Ok(()) => fit.push(at),
                    Err(why) => barred = Some(why),
                }
            }
            match barred {
                Some(why) if fit.is_empty() => Err(why.into()),
                _ => Ok(Box::new(fit.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests;
