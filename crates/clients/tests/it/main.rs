//! Clients' files as people keep them: set up, undone, and byte for byte the same.

#[cfg(test)]
mod disk;
#[cfg(test)]
mod import;
#[cfg(test)]
mod json;
#[cfg(test)]
mod places;
#[cfg(test)]
mod property;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod toml;
#[cfg(test)]
mod undo;
#[cfg(test)]
mod withdraw;
