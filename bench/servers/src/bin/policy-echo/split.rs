//! Which part of the policy costs how much: calls at hubs with one part each, without a front, in turns.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;
use toolgate_core::{Call, Client, Hub, Outcome, Principal, Target, Transport};
use toolgate_host::Tasks;
use toolgate_wire::Raw;

use crate::cpu::{of_process, of_thread, timed};
use crate::full::Part;

/// How often all hubs have their turn.
const TURNS: u32 = 40;
/// How many calls each has in a turn.
const CALLS: u32 = 500;
/// How long copying the last records may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Calls hubs with replies of this size, and prints what each part cost.
#[expect(clippy::print_stdout, reason = "the benchmark reads it there")]
pub(crate) fn run(bytes: usize) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let _inside = runtime.enter();
    let (data, tasks) = (tempfile::tempdir()?, Tasks::new());
    let [rules, limits, redaction, audit] = Part::ALL.map(|part| vec![part]);
    let sets = [Vec::new(), rules, limits, redaction, audit, Part::ALL.to_vec()];
    let mut hubs = Vec::new();
    for (place, parts) in sets.iter().enumerate() {
        let data_dir = data.path().join(place.to_string());
        std::fs::create_dir(&data_dir)?;
        hubs.push(crate::hub(bytes, parts, &data_dir, &tasks)?);
    }
    for hub in &hubs {
        (0..CALLS).try_for_each(|_| call(hub))?;
    }
    let mut took = [Duration::ZERO; 6];
    let others = of_process()? - of_thread()?;
    for _ in 0..TURNS {
        for (hub, took) in hubs.iter().zip(&mut took) {
            let (done, some) = timed(|| (0..CALLS).try_for_each(|_| call(hub)))?;
            done?;
            *took += some;
        }
    }
    ensure!(runtime.block_on(tasks.shutdown(PATIENCE)), "the records could not be copied");
    let others = of_process()? - of_thread()? - others;
    let calls = f64::from(TURNS * CALLS);
    let each = |took: Duration| took.as_secs_f64() * 1e6 / calls;
    let bare = each(took[0]);
    println!(
        "{}",
        json!({
            "bare_us": bare,
            "rules_us": each(took[1]) - bare,
            "limits_us": each(took[2]) - bare,
            "redaction_us": each(took[3]) - bare,
            "record_us": each(took[4]) - bare,
            "all_us": each(took[5]) - bare,
            // Two of the hubs keep records.
            "copying_us": each(others) / 2.0,
        })
    );
    Ok(())
}

/// A call that ends at once.
fn call(hub: &Hub) -> Result<()> {
    let params = Raw::literal(r#"{"name":"test_echo","arguments":{"message":"hello world"}}"#);
    let client = Arc::new(Client::unknown(Transport::Http));
    let target = Target::Tool("test_echo".parse()?);
    let outcome = pin!(hub.start(Call::new(Principal::local(), client, target, params)).outcome());
    let ended = outcome.poll(&mut Context::from_waker(Waker::noop()));
    ensure!(matches!(ended, Poll::Ready(Outcome::Complete(_))), "a wrong answer: {ended:?}");
    Ok(())
}
