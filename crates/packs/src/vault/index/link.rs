//! Which notes a link leads to, and which notes lead to one.

use std::collections::BTreeSet;

use super::{Index, Known};
use crate::vault::note;

impl Index {
    /// The paths of the notes that a note links to, in order. Itself is none of them.
    pub(in crate::vault) fn links_of(&self, path: &str) -> Vec<&str> {
        let Some(known) = self.at(path) else { return Vec::new() };
        let led: BTreeSet<&str> = known.links.iter().filter_map(|link| self.resolve(link, path)).collect();
        led.into_iter().filter(|led| *led != path).collect()
    }

    /// The paths of the notes that link to a note, in order. Itself is none of them.
    pub(in crate::vault) fn links_to(&self, path: &str) -> Vec<&str> {
        let whole = note::key(path);
        // It can be named by its whole path, and by every end of it.
        let ends = whole.match_indices('/').map(|(at, _)| &whole[at + 1..]);
        let keys =
            [format!("/{whole}")].into_iter().chain([whole.clone()]).chain(ends.map(ToOwned::to_owned));
        let mut from = BTreeSet::new();
        for key in keys {
            for known in
                self.by_link.get(&*key).into_iter().flatten().filter_map(|number| self.known(*number))
            {
                if *known.path != *path && self.resolve(&key, &known.path) == Some(path) {
                    from.insert(&*known.path);
                }
            }
        }
        from.into_iter().collect()
    }

    /// The note that a link in another note leads to. Of several with such a name: the one in the same folder, else
    /// the one nearest to the root, else the first.
    fn resolve(&self, link: &str, from: &str) -> Option<&str> {
        let name = note::name_of(link);
        let named = self.by_name.get(name)?.iter().filter_map(|number| self.known(*number));
        let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let fits = named.filter(|known| is_named(known, link));
        let best = fits.min_by_key(|known| {
            let deep = known.path.matches('/').count();
            (folder(&known.path) != folder(from), deep, known.path.clone())
        });
        best.map(|known| &*known.path)
    }
}

/// Whether a note has the path that a link names, or one that ends so.
fn is_named(known: &Known, link: &str) -> bool {
    let whole = note::key(&known.path);
    match link.strip_prefix('/') {
        Some(path) => whole == path,
        None => whole.strip_suffix(link).is_some_and(|before| before.is_empty() || before.ends_with('/')),
    }
}
