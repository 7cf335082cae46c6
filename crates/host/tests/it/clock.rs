//! The clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolgate_host::Clock;

#[test]
fn a_manual_clock_moves_only_by_hand_and_with_all_its_clones() {
    let clock = Clock::manual(1_000);
    let clone = clock.clone();
    let before = clone.now();
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!((clone.now(), clone.unix_ms()), (before, 1_000));
    clock.advance(Duration::from_millis(1_500));
    assert_eq!(clone.now() - before, Duration::from_millis(1_500));
    assert_eq!(clone.unix_ms(), 2_500);
}

#[test]
fn the_system_clock_tells_the_time_of_the_machine_and_cannot_be_moved() {
    let clock = Clock::system();
    let before = clock.now();
    clock.advance(Duration::from_secs(3_600));
    assert!(clock.now() - before < Duration::from_secs(60));
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    assert!(u128::from(clock.unix_ms()).abs_diff(unix) < 60_000);
}
