//! Mutants of the way that every call takes: gates, input, places, the record.

use super::{AUDIT, CORE, Mutant, POLICY};

/// The mutants of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "pipeline-judge",
        file: "crates/core/src/pipeline.rs",
        find: "judge(&hub.gates, judged(&call, &route), trace)",
        replace: "judge(&[], judged(&call, &route), trace)",
        tests: &[CORE],
    },
    Mutant {
        name: "pipeline-judge-again",
        file: "crates/core/src/pipeline.rs",
        find: "        asks = judge_again(subject)?;",
        replace: "        asks = Vec::new();",
        tests: &[CORE],
    },
    Mutant {
        name: "pipeline-shows",
        file: "crates/core/src/view.rs",
        find: "gate.shows(viewer, item, origin)",
        replace: "gate.shows(viewer, item, origin) || true",
        tests: &[CORE],
    },
    Mutant {
        name: "pipeline-check-input",
        file: "crates/core/src/pipeline.rs",
        find: "    check_input(&arguments, &route)?;",
        replace: "    drop(check_input(&arguments, &route));",
        tests: &[CORE],
    },
    Mutant {
        name: "pipeline-ask",
        file: "crates/core/src/pipeline.rs",
        find: "if consent.is_none() && !asks.is_empty() {",
        replace: "if false && consent.is_none() && !asks.is_empty() {",
        tests: &[CORE],
    },
    Mutant {
        name: "pipeline-limiter",
        file: "crates/core/src/hub/admission.rs",
        find: "take(&**limiter).inspect_err",
        replace: "take(&**limiter).or(Ok(Taken::default())).inspect_err",
        tests: &[CORE, POLICY],
    },
    Mutant {
        name: "pipeline-give-back",
        file: "crates/core/src/hub/admission.rs",
        find: "let Some(limiter) = &self.limiter else { return };",
        replace: "let Some(limiter) = self.limiter.as_ref().filter(|_| false) else { return };",
        tests: &[CORE],
    },
    Mutant {
        name: "pipeline-places",
        file: "crates/core/src/pipeline.rs",
        find: "let Some(limiter) = &hub.limiter else { return Ok(Place::default()) };",
        replace: "let Some(limiter) = hub.limiter.as_ref().filter(|_| false) else { return Ok(Place::default()) };",
        tests: &[CORE, POLICY],
    },
    Mutant {
        name: "recorder-ready",
        file: "crates/core/src/pipeline.rs",
        find: "recorder.ready()?;",
        replace: "drop(recorder.ready());",
        tests: &[CORE],
    },
    Mutant {
        name: "recorder-ended",
        file: "crates/core/src/pipeline/record.rs",
        find: "let (target, client) = (handle.target(), handle.client());",
        replace: r"let (target, client) = (handle.target(), handle.client());
    if true {
        return;
    }",
        tests: &[CORE, AUDIT],
    },
    Mutant {
        name: "recorder-refused",
        file: "crates/core/src/pipeline/record.rs",
        find: r"let Some(recorder) = &hub.recorder else { return };
    recorder.record(",
        replace: r"let Some(recorder) = hub.recorder.as_ref().filter(|_| false) else { return };
    recorder.record(",
        tests: &[CORE, AUDIT],
    },
    Mutant {
        name: "schema-check",
        file: "crates/core/src/schema.rs",
        find: "if validator.is_valid(&value) {",
        replace: "if true || validator.is_valid(&value) {",
        tests: &[CORE],
    },
    Mutant {
        name: "schema-plain",
        file: "crates/core/src/schema.rs",
        find: "plain.surely_fits(arguments)",
        replace: "true || plain.surely_fits(arguments)",
        tests: &[CORE],
    },
];
