//! iCalendar as text: lines, values, and the components that matter here.
//!
//! Whatever is not understood is passed over, so that one bad line costs no more than itself.

mod lines;
mod parts;
mod value;

pub(super) use lines::{Property, unfold};
pub(super) use parts::{NoCalendar, Parts, ZoneText};
pub(super) use value::{Length, Written, offset};
