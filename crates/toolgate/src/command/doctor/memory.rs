//! Whether the folder of the memory can be used.

use super::{Finding, State, data_folder};
use crate::settings::{PackName, Settings};

pub(super) fn look(settings: &Settings) -> Vec<Finding> {
    if !settings.packs.contains(&PackName::Memory) {
        return vec![Finding::new(State::Note, "off: `packs` leaves it out")];
    }
    match &settings.memory.root {
        Some(root) => data_folder::own_folder(root, "memory.root"),
        None => vec![Finding::new(State::Ok, "in the data folder")],
    }
}
