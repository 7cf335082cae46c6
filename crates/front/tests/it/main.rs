//! The front on bytes, over a hub in memory: made-up lines and requests, each answered as often as it should be.

#[cfg(test)]
mod afterwards;
#[cfg(test)]
mod control;
#[cfg(test)]
mod folders;
#[cfg(test)]
mod heads;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod methods;
#[cfg(test)]
mod names;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod talk;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod uris;
#[cfg(test)]
mod watching;
