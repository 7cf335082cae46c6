//! Servers that are right, and servers that are wrong in one way each: every rule finds its own.

#[cfg(test)]
mod behaviour;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod definitions;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod http;
#[cfg(test)]
mod rig;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod server;
#[cfg(test)]
mod web;
