//! Principals over HTTP: a real server, a real issuer on this machine, and everything an attacker might bring.

#[cfg(test)]
mod issuer;
#[cfg(test)]
mod jwts;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod metadata;
#[cfg(test)]
mod passes;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod web;
