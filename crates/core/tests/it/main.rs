//! What the crate promises, tried at the hub with fakes.

#[cfg(test)]
mod approval;
mod asked;
#[cfg(test)]
mod breakdown;
#[cfg(test)]
mod carried;
#[cfg(test)]
mod catalog;
#[cfg(test)]
mod consents;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod events;
#[cfg(test)]
mod filters;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod inbox;
#[cfg(test)]
mod inbox_limits;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod meanwhile;
#[cfg(test)]
mod methods;
#[cfg(test)]
mod metrics;
#[cfg(test)]
mod nested;
#[cfg(test)]
mod old_tasks;
#[cfg(test)]
mod packs;
#[cfg(test)]
mod paging;
#[cfg(test)]
mod parking;
#[cfg(test)]
mod presence;
#[cfg(test)]
mod replaced;
#[cfg(test)]
mod results;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod search;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod updates;
#[cfg(test)]
mod waiting;
