//! Methods that nobody here knows: which source may know them.

use std::sync::Arc;

use toolgate_wire::{Raw, method};

use super::View;
use super::route::shown;
use crate::{Error, Kind, Result, Source};

impl View {
    /// The source of an unknown method: that of the tool, prompt or resource which the params name, else the only one
    /// that declares an extension the method belongs to. Only other servers know methods that we do not.
    pub(super) fn knowing(&self, name: &str, params: &Raw) -> Result<&Arc<dyn Source>> {
        let unknown = || Error::new(Kind::UnknownMethod, format!("unknown method `{}`", shown(name)));
        // What the protocol may come to have we must understand before it passes, or it passes the policy by.
        if method::is_reserved(name) {
            return Err(unknown());
        }
        self.named_in(params).or_else(|| self.extended_by(name)).ok_or_else(unknown)
    }

    fn named_in(&self, params: &Raw) -> Option<&Arc<dyn Source>> {
        let text = |key: &str| params.get(key).and_then(|text| text.as_string().map(String::from));
        let by_name = text("name").and_then(|name| {
            let tool = self.tools.get(&name).map(|entry| &entry.source);
            tool.or_else(|| self.prompts.get(&name).map(|entry| &entry.source))
        });
        let found = by_name.or_else(|| text("uri").and_then(|uri| self.owner(&uri)));
        found.filter(|source| source.is_foreign())
    }

    /// With two that might be meant, neither is.
    fn extended_by(&self, name: &str) -> Option<&Arc<dyn Source>> {
        let declares = |source: &&Arc<dyn Source>| {
            source.is_foreign() && source.extensions().iter().any(|extension| belongs(name, extension))
        };
        let mut declaring = self.sources.all.iter().filter(declares);
        declaring.next().filter(|_| declaring.next().is_none())
    }
}

/// Whether a method is one of an extension: `com.example/widgets` has `com.example/widgets/list` and `widgets/list`.
fn belongs(method: &str, extension: &str) -> bool {
    let below = |prefix: &str| {
        !prefix.is_empty() && method.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
    };
    below(extension) || extension.rsplit_once('/').is_some_and(|(_, name)| below(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_belongs_to_the_extension_it_begins_with() {
        #[track_caller]
        fn check(method: &str, extension: &str, expect: bool) {
            assert_eq!(belongs(method, extension), expect, "{method} {extension}");
        }
        check("widgets/list", "com.example/widgets", true);
        check("com.example/widgets/list", "com.example/widgets", true);
        check("widgets/list", "widgets", true);
        check("widgets", "com.example/widgets", false);
        check("widgetsets/list", "com.example/widgets", false);
        check("com.example/other", "com.example/widgets", false);
        check("list", "com.example/widgets", false);
        check("/list", "com.example/", false);
        check("/list", "", false);
    }
}
