//! Servers that are right, and servers that are wrong in one way each: every rule finds its own.

mod behaviour;
mod bounds;
mod definitions;
mod http;
mod rig;
mod rules;
mod server;
mod web;
