//! Standard input and output: only protocol on stdout, whatever comes in, and a clean end.

mod eras;
mod life;
mod purity;
