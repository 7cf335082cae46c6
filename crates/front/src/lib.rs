//! Towards clients: stdio, Streamable HTTP and the old HTTP+SSE, in both eras of the protocol.
//!
//! It makes no decisions and knows no tool: it reads frames, starts calls at the hub, and writes what comes of them.

mod answer;
mod asked;
mod changes;
mod connection;
mod era;
mod exchange;
mod listen;
mod peer;

pub mod control;
pub mod http;
pub mod stdio;
