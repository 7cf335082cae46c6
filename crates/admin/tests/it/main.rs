//! The API and the page, asked as a browser asks them: real access over a store in memory, on a clock moved by hand.

#[cfg(test)]
mod access;
#[cfg(test)]
mod approvals;
#[cfg(test)]
mod books;
#[cfg(test)]
mod events;
#[cfg(test)]
mod every_route;
#[cfg(test)]
mod input;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod page;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod tools;
