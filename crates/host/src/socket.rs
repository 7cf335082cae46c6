//! A socket for this user's processes alone, by which they talk to each other.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};

use crate::standing::{FolderState, Standing};

/// The longest path that the kernel takes as the address of a socket.
const LONGEST_ADDRESS: usize = 107;

/// A socket for this user's processes alone. Dropping it takes its name away.
#[derive(Debug)]
pub struct PrivateSocket {
    listener: UnixListener,
    path: PathBuf,
}

/// The process at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerProcess {
    /// Its number, where the system tells it.
    pub pid: Option<u32>,
}

impl PrivateSocket {
    /// Listens in a folder under a name, in place of whatever had the name: who calls holds a lock that says that
    /// nobody listens there any more.
    ///
    /// # Errors
    /// The folder does not let us, or is one that others can write in.
    pub fn bind(folder: &Path, name: &str) -> io::Result<Self> {
        make_private(folder)?;
        // It gets its name once it is for its owner only, and takes a dead one's name without a gap.
        let new = format!(".{name}.new");
        let (path, new_path) = (folder.join(name), folder.join(&new));
        match fs::remove_file(&new_path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let address = Address::of(folder, &new)?;
        let listener = UnixListener::bind(&address.path)?;
        fs::set_permissions(&new_path, Permissions::from_mode(0o600))?;
        fs::rename(&new_path, &path)?;
        Ok(Self { listener, path })
    }

    /// The next process of this user that connects; those of others are turned away.
    ///
    /// # Errors
    /// Nothing can be accepted just now.
    pub async fn accept(&self) -> io::Result<(UnixStream, PeerProcess)> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            match of_this_user(&stream) {
                Ok(peer) => return Ok((stream, peer)),
                Err(error) => tracing::warn!("turned away at the control socket: {error}"),
            }
        }
    }
}

impl Drop for PrivateSocket {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "cannot remove a socket");
        }
    }
}

/// Connects to the socket in a folder under a name; `None` where nobody listens.
///
/// # Errors
/// It may not be used, or a process of another user listens there.
pub async fn connect(folder: &Path, name: &str) -> io::Result<Option<(UnixStream, PeerProcess)>> {
    let address = match Address::of(folder, name) {
        Err(error) if is_absent(&error) => return Ok(None),
        address => address?,
    };
    match UnixStream::connect(&address.path).await {
        Ok(stream) => {
            let peer = of_this_user(&stream)?;
            Ok(Some((stream, peer)))
        }
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Makes a folder for its owner only. One that is there stays as it is, but must not let others in to write.
///
/// # Errors
/// It cannot be made, belongs to another user, or others can write in it.
pub fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned()));
    match Standing::of(folder) {
        Standing::Folder(FolderState { ours: false, .. }) => refuse("the folder belongs to another user"),
        Standing::Folder(FolderState { mode, .. }) if mode & 0o022 != 0 => {
            refuse("others can write in the folder")
        }
        Standing::Folder(_) => Ok(()),
        Standing::Missing { .. } | Standing::NotAFolder | Standing::Hidden => refuse("it is no folder"),
    }
}

/// Who is at the other end, which must be a process of this user.
fn of_this_user(stream: &UnixStream) -> io::Result<PeerProcess> {
    let credentials = stream.peer_cred()?;
    check_user(credentials.uid(), geteuid().as_raw())?;
    Ok(PeerProcess { pid: credentials.pid().and_then(|pid| u32::try_from(pid).ok()) })
}

fn check_user(theirs: u32, ours: u32) -> io::Result<()> {
    if theirs == ours {
        return Ok(());
    }
    let why = format!("it is a process of user {theirs}, and this one is of user {ours}");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Where a socket is, in words that the kernel takes.
struct Address {
    path: PathBuf,
    /// Holds the folder open while the path goes by its number.
    _folder: Option<OwnedFd>,
}

impl Address {
    fn of(folder: &Path, name: &str) -> io::Result<Self> {
        let path = folder.join(name);
        if path.as_os_str().len() <= LONGEST_ADDRESS {
            return Ok(Self { path, _folder: None });
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = open(folder, flags, Mode::empty())?;
        let path = Path::new("/proc/self/fd").join(handle.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _folder: Some(handle) })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const NAME: &str = "control.sock";

    async fn converse(folder: &Path) {
        let socket = PrivateSocket::bind(folder, NAME).unwrap();
        let (connected, accepted) = tokio::join!(connect(folder, NAME), socket.accept());
        let ((mut there, _), (mut here, peer)) = (connected.unwrap().unwrap(), accepted.unwrap());
        assert_eq!(peer.pid, Some(std::process::id()));
        there.write_all(b"hello").await.unwrap();
        let mut heard = [0; 5];
        here.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"hello");
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn processes_of_one_user_meet_and_nobody_else_gets_in() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        assert!(connect(&folder, NAME).await.unwrap().is_none());
        let socket = PrivateSocket::bind(&folder, NAME).unwrap();
        assert_eq!((mode(&folder), mode(&folder.join(NAME))), (0o700, 0o600));
        drop(socket);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        converse(&folder).await;
    }

    #[tokio::test]
    async fn a_socket_that_a_killed_process_left_is_replaced() {
        let place = tempfile::tempdir().unwrap();
        // One that was never dropped: its name stays, and nobody listens.
        drop(std::os::unix::net::UnixListener::bind(place.path().join(NAME)).unwrap());
        assert!(connect(place.path(), NAME).await.unwrap().is_none());
        fs::write(place.path().join(format!(".{NAME}.new")), "").unwrap();
        converse(place.path()).await;
    }

    #[tokio::test]
    async fn a_folder_with_a_long_name_will_do() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("x".repeat(100)).join("y".repeat(100));
        assert!(connect(&folder, NAME).await.unwrap().is_none());
        converse(&folder).await;
    }

    #[tokio::test]
    async fn a_folder_that_others_can_write_in_will_not() {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
        let refused = PrivateSocket::bind(place.path(), NAME).unwrap_err();
        assert_eq!(refused.to_string(), "others can write in the folder");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_process_of_another_user_is_refused() {
        check_user(1000, 1000).unwrap();
        check_user(0, 0).unwrap();
        for (theirs, ours) in [(1001, 1000), (0, 1000), (65534, 0)] {
            let refused = check_user(theirs, ours).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{theirs} {ours}");
        }
    }
}
