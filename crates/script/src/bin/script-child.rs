//! The child alone, for the tests of this crate; in the program it is a hidden command.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolgate_script::child(std::env::args_os().skip(1))
}
