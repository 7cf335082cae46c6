//! The child: it gives up everything, then runs scripts that it is handed, one after another.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, StdinLock, StdoutLock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Duration;

use toolgate_host::Confinement;
use toolgate_host::confine::cpu_used;
use toolgate_wire::Raw;

use crate::frame;
use crate::language::{Finished, Language, Outside};
use crate::talk::{Ask, Done, Failed, FromChild, Order, ToChild};

/// The stack of the interpreter, which recurses.
const STACK: usize = 64 << 20;

/// The most letters of an error.
const LONGEST_ERROR: usize = 10_000;

/// The name of the hidden command.
pub const COMMAND: &str = "script-child";

/// The arguments of a child with these limits.
pub(crate) fn arguments(memory: u64, cpu: Duration) -> [String; 2] {
    [memory.to_string(), cpu.as_secs().to_string()]
}

/// Is a child, until nobody has work for it any more. `arguments` are those behind the command.
pub fn child(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // What goes wrong is told by the parent, in its own words.
    std::panic::set_hook(Box::new(|_| {}));
    let mut numbers = arguments.into_iter().map(|text| text.to_str().and_then(|text| text.parse().ok()));
    let (Some(Some(memory)), Some(Some(cpu))) = (numbers.next(), numbers.next()) else {
        return ExitCode::from(2);
    };
    let confinement = Confinement { memory, cpu: Duration::from_secs(cpu), stack: STACK };
    match confinement.run(Language::new, |language, _| serve(&language)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

/// The pipes to the parent.
struct Pipes {
    stdin: StdinLock<'static>,
    stdout: StdoutLock<'static>,
}

/// The parent, as a script sees it.
struct Parent(RefCell<Pipes>);

impl Parent {
    fn say(&self, message: &FromChild) -> io::Result<()> {
        frame::write(&mut self.0.borrow_mut().stdout, message)
    }

    fn hear(&self) -> io::Result<Option<ToChild>> {
        frame::read(&mut self.0.borrow_mut().stdin)
    }
}

impl Outside for Parent {
    fn ask(&self, ask: Ask) -> Result<Raw, String> {
        let gone = |error: io::Error| format!("nobody answers: {error}");
        self.say(&FromChild::Ask(ask)).map_err(gone)?;
        match self.hear().map_err(gone)? {
            Some(ToChild::Answer(answer)) => answer,
            Some(ToChild::Run(_)) | None => Err("nobody answers".into()),
        }
    }
}

fn serve(language: &Language) -> io::Result<()> {
    let pipes = Pipes { stdin: io::stdin().lock(), stdout: io::stdout().lock() };
    let parent = Parent(RefCell::new(pipes));
    parent.say(&FromChild::Ready)?;
    while let Some(message) = parent.hear()? {
        let ToChild::Run(order) = message else { return Err(io::ErrorKind::InvalidData.into()) };
        let Finished { outcome, printed } = run(language, &order, &parent);
        let message = match outcome {
            Ok(result) => {
                let cpu_ms = u64::try_from(cpu_used().as_millis()).unwrap_or(u64::MAX);
                FromChild::Done(Done { result, printed, cpu_ms })
            }
            Err(message) => FromChild::Failed(Failed { message: cut(message), printed }),
        };
        parent.say(&message)?;
    }
    Ok(())
}

/// As much of an error as anyone reads.
fn cut(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(LONGEST_ERROR) {
        message.truncate(end);
        message.push('…');
    }
    message
}

/// Runs a script; where the interpreter itself breaks down, the script has failed.
fn run(language: &Language, order: &Order, parent: &Parent) -> Finished {
    catch_unwind(AssertUnwindSafe(|| language.run(order, parent))).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no more is known");
        Finished { outcome: Err(format!("the interpreter gave up: {words}")), printed: Default::default() }
    })
}
