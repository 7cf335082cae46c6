//! HTTP on bytes: who is answered, in which form, and what happens to streams, sessions and limits.

mod answers;
mod ending;
mod guard;
mod limits;
mod old_sse;
mod pages;
mod resume;
mod sessions;
