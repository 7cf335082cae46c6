//! Upstreams behind a hub: real processes, real sockets, servers of both eras, and servers that misbehave.

#[cfg(test)]
mod chaos;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod crowd;
#[cfg(test)]
mod enduring;
#[cfg(test)]
mod eras;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod fallback;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod http;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod oauth;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod rig;
#[cfg(test)]
mod rogue;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod stdio;
#[cfg(test)]
mod supervision;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod watching;
#[cfg(test)]
mod web;
