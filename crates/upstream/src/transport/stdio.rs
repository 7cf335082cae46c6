//! A program's standard streams: a message a line each way.

mod input;

use std::ffi::OsString;
use std::future::poll_fn;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use toolgate_host::process::{Pipes, Running};
use toolgate_host::{Program, Tasks, find_program};
use toolgate_wire::Lines;
use toolgate_wire::lines::Item;

use super::{MESSAGE_LIMIT, Sending, Sent};
use crate::desk::{Desk, Out, Reports};
use crate::fault::Fault;
use crate::journal::Journal;
use crate::link::{Declared, Wire};
use crate::plan::ProgramPlan;
use crate::transport::Transport;
use input::Input;

/// How many frames may wait for a program to read.
const QUEUE: usize = 256;

/// How much is read at once.
const READ: usize = 64 * 1024;

/// How long a program may take to end when its input ends, and how long when it is told to.
const AT_END_OF_INPUT: Duration = Duration::from_millis(300);
const WHEN_TOLD: Duration = Duration::from_secs(2);

/// How long the end of a program and of its output may lag behind each other, on a machine that does much else.
const LAG: Duration = Duration::from_secs(2);

/// Of our own variables, those that a program gets.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// The standard streams of a program.
pub(crate) struct Stdio {
    input: Arc<Input>,
    queue: mpsc::Sender<Out>,
    stop: CancellationToken,
    process: Option<u32>,
}

/// Starts a program and connects to it.
pub(crate) async fn connect(
    plan: &ProgramPlan,
    variables: &[(OsString, OsString)],
    declared: Declared,
    reports: &Reports,
    tasks: Tasks,
) -> Result<Wire, Fault> {
    let (running, pipes) = start(plan, variables).await?;
    let (queue, queued) = mpsc::channel(QUEUE);
    let desk = Desk::new(queue.clone(), declared, reports);
    let stop = CancellationToken::new();
    let Pipes { stdin, stdout, stderr } = pipes;
    let input = Arc::new(Input::new(stdin));
    let stdio = Stdio { input: input.clone(), queue, stop: stop.clone(), process: running.id() };
    let (read_all, all_read) = oneshot::channel::<()>();
    let (heard_all, all_heard) = oneshot::channel::<()>();
    tasks.spawn(write_all(input, queued, desk.clone(), stop.clone()));
    let journal = reports.journal.clone();
    tasks.spawn(async move {
        complaints(stderr, &journal).await;
        drop(heard_all);
    });
    let reader = desk.clone();
    tasks.spawn(async move {
        read(stdout, &reader).await;
        // Dropping it says that all is read.
        drop(read_all);
        // A program that goes on without its output is of no use.
        drop(tokio::time::timeout(LAG, reader.ended()).await);
        reader.close("it closed its standard output");
    });
    let last_words = async move { tokio::join!(all_read, all_heard) };
    tasks.spawn(keep(running, stop, last_words, desk.clone()));
    Ok(Wire::new(desk, Transport::Stdio(stdio), tasks))
}

async fn start(plan: &ProgramPlan, variables: &[(OsString, OsString)]) -> Result<(Running, Pipes), Fault> {
    let mut environment: Vec<(OsString, OsString)> =
        variables.iter().filter(|(name, _)| INHERITED.iter().any(|known| name == known)).cloned().collect();
    for (name, value) in &plan.env {
        environment.retain(|(other, _)| *other != **name);
        environment.push((name.into(), value.expose().into()));
    }
    let search = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.to_string_lossy());
    let path = if plan.command.contains('/') {
        plan.command.clone().into()
    } else {
        find_program(search.as_deref().unwrap_or_default(), &plan.command).ok_or_else(|| {
            Fault::NotSent(format!("there is no program `{}` on the search path", plan.command))
        })?
    };
    let program = Program::new(path).arguments(plan.args.iter().map(|arg| OsString::from(arg.expose())));
    let program =
        environment.into_iter().fold(program, |program, (name, value)| program.variable(name, value));
    let program = match &plan.sandbox {
        Some(sandbox) => program.sandbox(sandbox.clone()),
        None => program,
    };
    program.start(plan.cwd.as_deref()).await.map_err(|error| Fault::NotSent(error.to_string()))
}

impl Stdio {
    pub(super) async fn send(&self, sending: Sending<'_>) -> Result<Sent, Fault> {
        self.write(Out { frame: sending.frame, left: Some(sending.left) }).await?;
        Ok(Sent::UnderWay)
    }

    pub(super) async fn notify(&self, frame: Bytes) -> Result<(), Fault> {
        self.write(Out { frame, left: None }).await
    }

    /// Writes a frame there and then, or has it wait for its turn.
    async fn write(&self, out: Out) -> Result<(), Fault> {
        let Err(out) = self.input.write_now(out, &self.queue) else { return Ok(()) };
        Box::pin(self.queue.send(out))
            .await
            .map_err(|_| Fault::NotSent("its standard input is closed".into()))
    }

    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    pub(super) fn process(&self) -> Option<u32> {
        self.process
    }
}

/// Writes what waits, until the program is to end or does not read any more.
async fn write_all(
    input: Arc<Input>,
    mut queued: mpsc::Receiver<Out>,
    desk: Arc<Desk>,
    stop: CancellationToken,
) {
    let written = stop.run_until_cancelled(poll_fn(|context| input.poll_write(&mut queued, context))).await;
    input.close();
    if let Some(Err(_)) = written {
        // Why it does not read any more is known better to who keeps the program.
        drop(tokio::time::timeout(LAG, desk.ended()).await);
        desk.close("it closed its standard input");
    }
}

async fn read(mut stdout: ChildStdout, desk: &Desk) {
    let (mut lines, mut over) = (Lines::new(MESSAGE_LIMIT), false);
    let mut buffer = BytesMut::with_capacity(READ);
    loop {
        match stdout.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(_) => lines.push(buffer.split().freeze()),
        }
        hand_over(&mut lines, desk, &mut over);
        // The rest of it holds many more messages of the usual length.
        if buffer.capacity() < READ / 8 {
            buffer.reserve(READ);
        }
    }
    lines.finish();
    hand_over(&mut lines, desk, &mut over);
}

/// Hands complete lines over; `over`: that the one under way is too long was told already.
fn hand_over(lines: &mut Lines, desk: &Desk, over: &mut bool) {
    for item in &mut *lines {
        match item {
            Item::Line(line) => desk.take(line, None),
            Item::TooLong { .. } if std::mem::take(over) => {}
            Item::TooLong { .. } => desk.too_large(None),
        }
    }
    if lines.is_over() && !*over {
        // Its end may never come.
        *over = true;
        desk.too_large(None);
    }
}

/// Keeps the end of what the program complains.
async fn complaints(mut stderr: ChildStderr, journal: &Journal) {
    let mut lines = Lines::new(16 * 1024);
    let mut buffer = BytesMut::with_capacity(4096);
    loop {
        match stderr.read_buf(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(_) => lines.push(buffer.split().freeze()),
        }
        for item in &mut lines {
            match item {
                Item::Line(line) => journal.complain(&String::from_utf8_lossy(&line)),
                Item::TooLong { dropped } => journal.complain(&format!("(a line of {dropped} bytes)")),
            }
        }
        buffer.reserve(4096);
    }
}

/// Waits for the end of the program, or brings it about.
async fn keep(mut running: Running, stop: CancellationToken, last_words: impl Future, desk: Arc<Desk>) {
    let ended = stop.run_until_cancelled(running.wait()).await;
    if let Some(status) = ended {
        // What it wrote last still counts, and tells why it ended.
        drop(tokio::time::timeout(LAG, last_words).await);
        return desk.close(&status.map_or_else(|error| error.to_string(), |status| words(&status)));
    }
    if tokio::time::timeout(AT_END_OF_INPUT, running.wait()).await.is_err() {
        running.end(WHEN_TOLD).await;
    }
}

fn words(status: &ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("its program ended with exit code {code}"),
        (None, Some(signal)) => format!("its program was ended by signal {signal}"),
        (None, None) => "its program ended".into(),
    }
}
