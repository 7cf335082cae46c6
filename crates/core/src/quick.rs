//! Maps for the way of a call: found by numbers and names of our own, such as runs, sources and principals.
//!
//! Their hashes take a fraction of what the standard library's take, which withstand anyone. These are seeded anew for
//! every process, which is enough where whoever is outside can put in few keys or none. What servers and clients name as
//! they like is not kept in such a map.

use std::collections::HashMap;

pub use foldhash::fast::RandomState as QuickState;

/// A map whose keys nobody outside makes up in numbers.
pub type QuickMap<K, V> = HashMap<K, V, QuickState>;
