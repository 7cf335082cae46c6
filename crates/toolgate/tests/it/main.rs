//! The binary as its users meet it: real processes, real bytes, real peers.

#[cfg(test)]
mod admin;
#[cfg(test)]
mod admin_page;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod catalog;
#[cfg(test)]
mod chaos;
#[cfg(test)]
mod check;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod config;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod exact;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod http;
#[cfg(test)]
mod hub_conformance;
#[cfg(test)]
mod inspector;
#[cfg(test)]
mod live;
#[cfg(test)]
mod manners;
#[cfg(test)]
mod mcp_cli;
#[cfg(test)]
mod message;
#[cfg(test)]
mod opencode;
#[cfg(test)]
mod packs;
#[cfg(test)]
mod pipeline;
#[cfg(test)]
mod policy;
#[cfg(test)]
mod process;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod real_servers;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod sdk_clients;
#[cfg(test)]
mod servers;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod sign_in;
#[cfg(test)]
mod stdio;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod upstream;
#[cfg(test)]
mod web;
