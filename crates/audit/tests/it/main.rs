//! What the crate promises, tried with real files and a store in memory.

#[cfg(test)]
mod anchors;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod full;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod search;
#[cfg(test)]
mod spool;
#[cfg(test)]
mod store;
#[cfg(test)]
mod tampering;
