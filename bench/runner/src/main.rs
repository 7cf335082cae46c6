//! x. no
fn main() {}
