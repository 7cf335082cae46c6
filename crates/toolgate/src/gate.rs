//! Puts the hub together from what is configured.

use std::sync::Arc;

use toolgate_core::{Hub, PackSource, ServerInfo, Settings as HubSettings, Source};
use toolgate_fixtures::Fixtures;
use toolgate_host::Tasks;
use toolgate_packs::{Memory, Workspace};
use toolgate_wire::Raw;

use crate::settings::{PackName, Settings};

/// What a model should know before it uses the tools.
const INSTRUCTIONS: &str = "Toolgate gives you tools of several sources under one policy. A call may be refused or \
    wait for a person; the answer then says what to do next.";

/// The hub with everything that is switched on.
pub(crate) fn hub(settings: &Settings, fixtures: bool, tasks: &Tasks) -> anyhow::Result<Hub> {
    let raw = Raw::of(&serde_json::json!({
        "name": "toolgate",
        "title": "Toolgate",
        "version": env!("CARGO_PKG_VERSION"),
    }));
    let info = ServerInfo { raw, instructions: Some(INSTRUCTIONS.into()) };
    let configured = HubSettings { compact: settings.output.compact, ..HubSettings::default() };
    let mut builder = Hub::builder(info, tasks.clone()).settings(configured);
    if fixtures {
        builder = builder.source(Arc::new(PackSource::new(Fixtures::new())));
    }
    for pack in &settings.packs {
        builder = builder.source(source(*pack, settings, tasks)?);
    }
    Ok(builder.build()?)
}

fn source(pack: PackName, settings: &Settings, tasks: &Tasks) -> anyhow::Result<Arc<dyn Source>> {
    let data = &settings.data_dir;
    Ok(match pack {
        PackName::Workspace => {
            let workspace = Workspace::new(settings.workspace.clone(), data.join("workspace"), tasks)?;
            Arc::new(PackSource::new(workspace))
        }
        PackName::Memory => {
            Arc::new(PackSource::new(Memory::new(settings.memory.clone(), data.join("memory"), tasks)))
        }
    })
}
