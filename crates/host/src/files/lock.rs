//! One writer at a time in a folder, across processes.
