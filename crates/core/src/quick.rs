//! Maps for the way of a call: found by names and numbers that are ours, not by what a caller makes up.
//!
//! Their hashes take a fraction of what the standard library's take, which withstand anyone; these are seeded anew for
//! every process, which is enough where nobody outside chooses what is put in.

use std::collections::HashMap;

pub use foldhash::fast::RandomState as QuickState;

/// A map whose keys are ours.
pub type QuickMap<K, V> = HashMap<K, V, QuickState>;
