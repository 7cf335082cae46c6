//! Everything that can be seen from outside of the crate.

#[cfg(test)]
mod clock;
#[cfg(test)]
mod confinement;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod paths;
#[cfg(test)]
mod processes;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod programs;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod writing;
