//! A hub in memory.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Hub, HubBuilder, ListKind, Look, Principal, ServerInfo, Source};
use toolgate_host::Tasks;
use toolgate_wire::{Raw, Version};

/// A hub over these sources, without gates and filters, on the clock of the machine.
pub fn hub<S: Source + 'static>(sources: impl IntoIterator<Item = Arc<S>>) -> Hub {
    builder(sources).build().unwrap()
}

/// The same, to be given gates, filters, settings or a clock first.
pub fn builder<S: Source + 'static>(sources: impl IntoIterator<Item = Arc<S>>) -> HubBuilder {
    let info = ServerInfo { raw: Raw::of(&json!({"name": "test", "version": "0"})), instructions: None };
    sources
        .into_iter()
        .fold(Hub::builder(info, Tasks::new()), |builder, source| builder.source(source as Arc<dyn Source>))
}

/// A page of a list as the local person sees it in the legacy era.
pub async fn list(hub: &Hub, kind: ListKind, cursor: Option<&str>) -> Value {
    page(hub, kind, cursor).await.to().unwrap()
}

/// The names on the first page of a list.
pub async fn list_names(hub: &Hub, kind: ListKind) -> Vec<String> {
    let (list_key, item_key) = match kind {
        ListKind::Tools => ("tools", "name"),
        ListKind::Resources => ("resources", "uri"),
        ListKind::Templates => ("resourceTemplates", "uriTemplate"),
        ListKind::Prompts => ("prompts", "name"),
    };
    let items = page(hub, kind, None).await.get(list_key).unwrap();
    items.items().map(|item| item.get(item_key).unwrap().as_string().unwrap().into_owned()).collect()
}

async fn page(hub: &Hub, kind: ListKind, cursor: Option<&str>) -> Raw {
    let principal = Principal::local();
    let look = Look { principal: &principal, profile: None, version: Version::LATEST_LEGACY };
    hub.list(&look, kind, cursor).await.unwrap()
}
