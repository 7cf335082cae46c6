//! Asks a client which folders it works on.

use std::path::PathBuf;
use std::time::Duration;

use toolgate_core::{Answers, Kind, Question, Result, RunHandle};
use toolgate_host::Root;
use toolgate_wire::Era;

use crate::uri;

const KEY: &str = "workspace_roots";

// A program answers this at once, without a person. Many clients give a call up after 60 s.
const PATIENCE: Duration = Duration::from_secs(10);

/// The client's first root that is a folder; nothing where it has none or does not say.
pub(super) async fn ask(run: &RunHandle) -> Result<Option<Root>> {
    // A modern client answers with a request of its own, whenever it comes back.
    let patience = match run.client().era() {
        Era::Legacy => PATIENCE,
        Era::Modern => Duration::MAX,
    };
    match tokio::time::timeout(patience, run.ask(vec![Question::roots(KEY)])).await {
        Ok(Ok(answers)) => Ok(first_folder(&answers)),
        Ok(Err(error)) if error.kind() == Kind::Cancelled => Err(error),
        Ok(Err(error)) => {
            tracing::info!("the client did not tell its roots, so the workspace is our own folder: {error}");
            Ok(None)
        }
        Err(_) => {
            tracing::info!("the client did not tell its roots in time, so the workspace is our own folder");
            Ok(None)
        }
    }
}

fn first_folder(answers: &Answers) -> Option<Root> {
    let roots = answers.get(KEY).and_then(|answer| answer.get("roots"))?;
    let uris = roots.items().filter_map(|root| Some(root.get("uri")?.as_string()?.into_owned()));
    let found = uris.filter_map(|uri| folder(&uri)).find_map(|folder| Root::open(folder).ok());
    match &found {
        Some(root) => tracing::info!(folder = %root.path().display(), "the workspace is the client's root"),
        None => tracing::info!("the client has no root that is a folder, so the workspace is our own folder"),
    }
    found
}

/// The folder of a `file:` URI on this machine.
fn folder(uri: &str) -> Option<PathBuf> {
    let scheme = uri.get(.."file://".len())?;
    if !scheme.eq_ignore_ascii_case("file://") {
        return None;
    }
    let rest = &uri[scheme.len()..];
    let (host, path) = rest.split_at(rest.find('/')?);
    if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
        return None;
    }
    let path = uri::decode(path).filter(|path| !path.contains('\0'))?;
    // A client that was started nowhere in particular offers `/`; the whole machine is no workspace.
    (!path.trim_matches('/').is_empty()).then(|| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_file_uris_of_this_machine_are_folders() {
        #[track_caller]
        fn check(uri: &str, expect: Option<&str>) {
            assert_eq!(folder(uri), expect.map(PathBuf::from), "{uri}");
        }
        check("file:///home/me/project", Some("/home/me/project"));
        check("FILE://localhost/home/me", Some("/home/me"));
        check("file:///with%20space/gr%C3%B6%C3%9Fe%25", Some("/with space/größe%"));
        check("file://elsewhere/home/me", None);
        check("file:///", None);
        check("file:////", None);
        check("file://", None);
        check("file:///a%00b", None);
        check("file:///a%zz", None);
        check("https://example.com/home", None);
        check("/home/me", None);
        check("é", None);
    }
}
