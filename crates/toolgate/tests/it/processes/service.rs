//! `toolgate service`: the unit, and what the user's systemd is asked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::process::{Ended, Place, TOOLGATE, run};

/// A `systemctl` that notes what it is asked, since a test must not change the tester's own services.
const NOTING: &str = r#"#!/bin/sh
echo "$*" >> "$HOME/asked"
case "$*" in
    *is-active*) echo active ;;
    *is-enabled*) echo enabled ;;
esac
"#;

/// One that has no systemd to talk to.
const LOST: &str = "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n";

fn with_systemctl(script: Option<&str>) -> Place {
    let place = Place::new();
    fs::create_dir(place.path().join("bin")).unwrap();
    if let Some(script) = script {
        let path = place.path().join("bin/systemctl");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

fn service(place: &Place, arguments: &[&str]) -> Ended {
    let mut command = place.toolgate(&["service"]);
    command.args(arguments).env("PATH", place.path().join("bin"));
    run(command, b"")
}

fn unit(place: &Place) -> PathBuf {
    place.path().join(".config/systemd/user/toolgate.service")
}

#[test]
fn a_service_is_installed_shown_and_removed() {
    let place = with_systemctl(Some(NOTING));
    let installed = service(&place, &["install"]);
    assert_eq!((installed.code, installed.stdout.as_str()), (0, ""), "{}", installed.stderr);
    let text = fs::read_to_string(unit(&place)).unwrap();
    assert!(text.contains(&format!("ExecStart=\"{TOOLGATE}\" serve --http\n")), "{text}");
    assert_eq!(service(&place, &["install"]).code, 0, "installing again is no mistake");

    let status = service(&place, &["status", "--json"]);
    let told: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!((status.code, &told["active"], &told["installed"]), (0, &"active".into(), &true.into()));

    assert_eq!(service(&place, &["remove"]).code, 0);
    assert!(!unit(&place).exists());
    assert_eq!(service(&place, &["remove"]).code, 0, "there is nothing left to remove");
    let asked = fs::read_to_string(place.path().join("asked")).unwrap();
    let install = "--user --no-pager daemon-reload\n--user --no-pager enable --now toolgate.service\n";
    let status =
        "--user --no-pager is-active toolgate.service\n--user --no-pager is-enabled toolgate.service\n";
    let remove = "--user --no-pager disable --now toolgate.service\n--user --no-pager daemon-reload\n";
    assert_eq!(asked, format!("{install}{install}{status}{remove}"));
}

#[test]
fn where_systemd_cannot_be_asked_the_unit_is_written_and_the_person_told() {
    for script in [Some(LOST), None] {
        let place = with_systemctl(script);
        let installed = service(&place, &["install"]);
        assert_eq!(installed.code, 1);
        assert!(unit(&place).is_file());
        let hint = "systemctl --user daemon-reload && systemctl --user enable --now toolgate.service";
        assert!(installed.stderr.contains(hint), "{}", installed.stderr);
        assert_eq!(service(&place, &["status"]).code, 1);
        assert_eq!(service(&place, &["remove"]).code, 1);
        assert!(!unit(&place).exists());
    }
}

#[test]
fn printing_changes_nothing_and_names_the_configuration() {
    let place = with_systemctl(Some(NOTING));
    fs::write(place.path().join("toolgate.toml"), "").unwrap();
    let printed = service(&place, &["install", "--print"]);
    let config = fs::canonicalize(place.path()).unwrap().join("toolgate.toml");
    let expect = format!("--config \"{}\" serve --http\n", config.display());
    assert!(printed.stdout.contains(&expect), "{}", printed.stdout);
    assert!(!unit(&place).exists() && !place.path().join("asked").exists());
}

#[test]
fn a_unit_of_another_is_not_touched() {
    let place = with_systemctl(Some(NOTING));
    fs::create_dir_all(unit(&place).parent().unwrap()).unwrap();
    fs::write(unit(&place), "[Unit]\n").unwrap();
    for command in ["install", "remove"] {
        let ended = service(&place, &[command]);
        assert_eq!(ended.code, 1);
        assert!(ended.stderr.contains("was not written by toolgate"), "{}", ended.stderr);
    }
    assert_eq!(fs::read_to_string(unit(&place)).unwrap(), "[Unit]\n");
    assert!(!place.path().join("asked").exists());
}
