//! Several processes on one data folder: one owns its control socket, the others attach to it or stand by.

mod approve;
mod attach;
mod folder;
mod manners;
mod owner;
mod service;
