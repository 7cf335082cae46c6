//! What a write does to the file itself: its permissions, its links, and what becomes of it when something is in the way.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use toolgate_clients::Client;

use crate::scene::{Scene, local};

const ONE: &str = "{\"mcpServers\": {\"a\": {}}}";

#[test]
fn permissions_stay_and_the_backup_has_the_same() {
    for mode in [0o600, 0o640, 0o664, 0o755] {
        let scene = Scene::new(Client::Cursor, ONE);
        fs::set_permissions(scene.path(), Permissions::from_mode(mode)).unwrap();
        scene.set(&local());
        let mode_of = |name: &str| fs::metadata(scene.folder().join(name)).unwrap().mode() & 0o7777;
        assert_eq!(mode_of("config"), mode);
        assert_eq!(mode_of("config.toolgate-backup"), mode);
        scene.undo();
        assert_eq!(mode_of("config"), mode);
    }
}

#[test]
fn a_link_stays_a_link() {
    let scene = Scene::empty(Client::Cursor);
    let dotfiles = scene.folder().join("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    fs::write(dotfiles.join("mcp.json"), ONE).unwrap();
    symlink("dotfiles/link", scene.path()).unwrap();
    symlink("mcp.json", dotfiles.join("link")).unwrap();
    scene.set(&local());
    assert!(scene.path().is_symlink());
    assert!(fs::read_to_string(dotfiles.join("mcp.json")).unwrap().contains("toolgate"));
    scene.undo();
    assert!(scene.path().is_symlink() && dotfiles.join("link").is_symlink());
    assert_eq!(fs::read_to_string(dotfiles.join("mcp.json")).unwrap(), ONE);
}

#[test]
fn a_link_to_nothing_shows_where_the_file_belongs() {
    let scene = Scene::empty(Client::Cursor);
    symlink("elsewhere/mcp.json", scene.path()).unwrap();
    scene.set(&local());
    assert!(scene.path().is_symlink());
    assert!(scene.folder().join("elsewhere/mcp.json").is_file());
}

#[test]
fn a_link_to_itself_is_refused() {
    let scene = Scene::empty(Client::Cursor);
    symlink("config", scene.path()).unwrap();
    let problem = scene.read().unwrap_err();
    assert!(problem.message().starts_with("cannot be read"), "{problem}");
}

#[test]
fn a_write_protected_file_is_left_alone() {
    let scene = Scene::new(Client::Cursor, ONE);
    fs::set_permissions(scene.path(), Permissions::from_mode(0o444)).unwrap();
    let problem = scene.plan(&local()).apply().unwrap_err();
    assert_eq!(problem.message(), "is write-protected");
    assert_eq!(scene.content(), ONE);
    assert_eq!(scene.files(), ["config"]);
}

#[test]
fn a_file_that_changes_under_our_hands_is_left_alone() {
    let scene = Scene::new(Client::Cursor, ONE);
    let plan = scene.plan(&local());
    fs::write(scene.path(), "{}").unwrap();
    assert_eq!(plan.apply().unwrap_err().message(), "has just been changed by another program");
    assert_eq!(scene.content(), "{}");
    assert_eq!(scene.files(), ["config"]);
}

#[test]
fn a_folder_in_its_place_is_refused() {
    let scene = Scene::empty(Client::Cursor);
    fs::create_dir(scene.path()).unwrap();
    assert_eq!(scene.read().unwrap_err().message(), "is not a file");
}
