//! Whoever makes trouble: processes are killed, stopped, and kept from starting.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::dice::Dice;
use super::herd::{Fake, Herd};

/// How long a server has peace, all in all, before something is done to another.
const PAUSE: Duration = Duration::from_millis(60);

/// What is to be undone, and when.
struct Later<'a> {
    at: Instant,
    fake: &'a Fake,
}

/// Makes trouble until it is over; then all is as it was, but for what the hub has to put right itself. Says how many
/// processes there were at most.
pub(super) fn make(herd: &Herd, mut dice: Dice, over: &AtomicBool) -> usize {
    let mut later: Vec<Later<'_>> = Vec::new();
    let mut most = 0;
    while !over.load(Ordering::Relaxed) {
        let fake = dice.pick(herd.wild());
        if let Some(wait) = disturb(fake, &mut dice) {
            later.push(Later { at: Instant::now() + wait, fake });
        }
        later.retain(|later| {
            let waits = later.at > Instant::now();
            if !waits {
                calm_down(later.fake);
            }
            waits
        });
        // One that was told to die has to come back too, but not at once.
        if dice.percent(30) {
            dice.pick(herd.wild()).start();
        }
        if dice.percent(20) {
            most = most.max(herd.processes().iter().filter(|process| process.is_server).count());
        }
        sleep(PAUSE);
    }
    herd.wild().iter().for_each(calm_down);
    most
}

/// Does something to a server. Says after how long it is to be undone.
fn disturb(fake: &Fake, dice: &mut Dice) -> Option<Duration> {
    let wait = Some(Duration::from_millis(dice.below(600)));
    match dice.below(10) {
        0..6 => {
            fake.kill();
            wait
        }
        6..8 => {
            fake.stay_out(true);
            fake.kill();
            wait
        }
        8 => {
            fake.signal(Signal::STOP);
            Some(Duration::from_millis(dice.below(3_000)))
        }
        // Nobody lets this one go on, so that it has to be ended by force.
        _ if fake.address.is_none() => {
            fake.signal(Signal::STOP);
            None
        }
        _ => None,
    }
}

/// Lets a server be what it was.
fn calm_down(fake: &Fake) {
    fake.stay_out(false);
    if fake.address.is_some() {
        fake.signal(Signal::CONT);
        fake.start();
    }
}
