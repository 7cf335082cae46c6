//! The terminal that a person looks at.

use std::io::{self, BufRead as _, IsTerminal, Write as _};
use std::os::fd::AsFd;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};

use crate::Secret;

/// How many columns a stream shows; none where it is no terminal, or one that does not know.
#[must_use]
pub fn columns(stream: &(impl AsFd + IsTerminal)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// The next line of standard input; none at its end.
///
/// It is read on a thread of its own, which a process that ends does not wait for: nobody may ever type it.
pub async fn next_line() -> Option<String> {
    let (said, heard) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line).is_ok_and(|read| read > 0);
        // Whoever asked may have heard enough.
        drop(said.send(read.then_some(line)));
    });
    heard.await.ok().flatten()
}

/// Asks on the terminal for a line that is not shown while it is typed.
///
/// # Errors
/// Standard input is no terminal, or cannot be read.
pub fn read_hidden(prompt: &str) -> io::Result<Secret> {
    let (input, mut talk) = (io::stdin(), io::stderr());
    let shown = tcgetattr(&input)?;
    write!(talk, "{prompt}")?;
    talk.flush()?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Flush, &hidden)?;
    let mut line = String::new();
    let read = input.lock().read_line(&mut line);
    // Whatever was typed, the terminal shows again what comes next.
    tcsetattr(&input, OptionalActions::Flush, &shown)?;
    writeln!(talk)?;
    read?;
    Ok(Secret::new(line.trim_end_matches(['\r', '\n']).to_owned()))
}
