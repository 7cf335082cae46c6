//! Each parameter does what it says: what a call comes to would be something else if the parameter were ignored.

mod acting;
mod captures;
mod launching;
mod limits;
mod reading;
