//! The store on both of its databases, as others see it.

#[cfg(test)]
mod bundles;
#[cfg(test)]
mod changes;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod racing;
#[cfg(test)]
mod stage;
