//! How near an address is to this machine, in all the forms that stand for the same one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How near an address is to this machine. What is nearer is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Nearness {
    Public,
    Private,
    Loopback,
    /// Of no server, or of the machine's own surroundings, such as a cloud's metadata.
    Never,
}

/// How near an address is, in whatever form it is written.
pub(super) fn nearness(ip: IpAddr) -> Nearness {
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
        // Link-local, site-local, multicast, Teredo, documentation, local NAT64, discard, segment routing.
        (0xfe80..=0xffff, ..) | (0x2001, 0 | 0xdb8, _) | (0x64, 0xff9b, 1) => Nearness::Never,
        (0x100, 0, 0) | (0x3fff, 0..=0xfff, _) | (0x5f00, ..) => Nearness::Never,
        _ => Nearness::Public,
    }
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, translated, NAT64 or 6to4.
pub(super) fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0, 0, 0, 0, 0xffff, 0] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(of(g, h)),
        [0, 0, 0, 0, 0, 0] if !ip.is_loopback() && !ip.is_unspecified() => Some(of(g, h)),
        [0x2002, ..] => Some(of(b, c)),
        _ => None,
    }
}
