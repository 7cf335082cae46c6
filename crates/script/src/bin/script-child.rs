//! The child alone, for the tests of this crate; in the program it is a hidden command.
//!
//! With `probe` it tries, once it is confined, what a child must not be able to do.

#![expect(clippy::print_stdout, reason = "the probe tells what it could do")]

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::ExitCode;
use std::time::Duration;
use std::{fs, thread};

use toolgate_host::{Confinement, Held};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.peek().is_some_and(|word| word == "probe") {
        let confinement = Confinement { memory: 128 << 20, cpu: Duration::from_secs(60), stack: 8 << 20 };
        return match confinement.run(|| (), |(), held| probe(held)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    toolgate_script::child(arguments)
}

fn probe(held: Held) {
    println!("landlock {}\nseccomp {}", held.landlock, held.seccomp);
    let tell = |what: &str, done: bool| println!("{what}: {}", if done { "done" } else { "refused" });
    tell("read a file", fs::read("/etc/passwd").is_ok());
    tell("list a folder", fs::read_dir("/").is_ok());
    tell("write a file", fs::write("/dev/null", "x").is_ok());
    tell("connect", TcpStream::connect(("127.0.0.1", 9)).is_err_and(|error| error.raw_os_error() != Some(1)));
    tell("listen", TcpListener::bind(("127.0.0.1", 0)).is_ok());
    tell("send a datagram", UdpSocket::bind(("127.0.0.1", 0)).is_ok());
    #[expect(clippy::disallowed_methods, reason = "that it does not start is what is tried")]
    let started = std::process::Command::new("/bin/true").spawn();
    tell("start a program", started.is_ok());
    tell("start a thread", thread::Builder::new().spawn(|| ()).is_ok());
    let mut room: Vec<u8> = Vec::new();
    tell("take 256 MB", room.try_reserve_exact(256 << 20).is_ok());
    tell("take 16 MB", room.try_reserve_exact(16 << 20).is_ok());
}
