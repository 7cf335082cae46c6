//! Where a repository elsewhere is.

use std::net::IpAddr;

use url::{Host, Url};

/// The address of a repository. It holds no password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::vault) struct Remote {
    pub(super) url: String,
    pub(super) scheme: Scheme,
    /// Whether a password may travel there.
    pub(super) private: bool,
}

/// How it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vault) enum Scheme {
    Https,
    Http,
    Ssh,
    File,
}

impl Scheme {
    /// Its name, as git knows it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
            Self::Ssh => "ssh",
            Self::File => "file",
        }
    }
}

impl Remote {
    /// Reads an address; an error says what is wrong with it, as the end of a sentence and without the address.
    pub(in crate::vault) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty()
            || text.starts_with('-')
            || text.contains("::")
            || text.contains(|c: char| c.is_control() || c == ' ')
        {
            return Err("is no address of a repository".into());
        }
        let made = |scheme, private| Ok(Self { url: text.to_owned(), scheme, private });
        if text.starts_with('/') {
            return made(Scheme::File, false);
        }
        let Some((scheme, _)) = text.split_once("://") else {
            // `someone@host:path`, as SSH writes it.
            let (host, path) = text.split_once(':').ok_or("is no address of a repository")?;
            let fits =
                !host.contains('/') && !host.starts_with('-') && !host.contains("@-") && !path.is_empty();
            return if fits { made(Scheme::Ssh, false) } else { Err("is no address of a repository".into()) };
        };
        let scheme = match scheme {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            "ssh" => Scheme::Ssh,
            "file" => Scheme::File,
            _ => return Err(format!("has the scheme `{}`, which is not used", scheme.escape_default())),
        };
        let url = Url::parse(text).map_err(|_| "is no address of a repository")?;
        if url.password().is_some() || (!url.username().is_empty() && scheme != Scheme::Ssh) {
            return Err(
                "holds a name or a password, which belong in `vault.git.username` and `vault.git.token`"
                    .into(),
            );
        }
        if url.host_str().is_some_and(|host| host.starts_with('-')) || url.username().starts_with('-') {
            return Err("is no address of a repository".into());
        }
        made(scheme, scheme == Scheme::Https || (scheme == Scheme::Http && is_here(&url)))
    }
}

impl Remote {
    /// Whether what travels there can be read by others on the way.
    pub(in crate::vault) fn is_open(&self) -> bool {
        self.scheme == Scheme::Http && !self.private
    }
}

/// Whether an address is on this machine.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::from(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::from(address).is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_that_git_may_use() {
        #[track_caller]
        fn check(text: &str, expect: Option<(Scheme, bool)>) {
            let parsed = Remote::parse(text);
            assert_eq!(
                parsed.as_ref().ok().map(|remote| (remote.scheme, remote.private)),
                expect,
                "{text} {parsed:?}"
            );
            assert!(!parsed.is_err_and(|error| error.contains("sesame")), "{text}");
        }
        check("https://git.example.com/notes.git", Some((Scheme::Https, true)));
        check("http://git.example.com/notes.git", Some((Scheme::Http, false)));
        check("http://127.0.0.1:3000/notes.git", Some((Scheme::Http, true)));
        check("ssh://git@example.com:22/notes.git", Some((Scheme::Ssh, false)));
        check("git@example.com:me/notes.git", Some((Scheme::Ssh, false)));
        check("file:///srv/notes.git", Some((Scheme::File, false)));
        check("/srv/notes.git", Some((Scheme::File, false)));
        for text in [
            "",
            "notes.git",
            "ext::sh -c id",
            "ext::sh",
            "fd::17",
            "git://example.com/notes.git",
            "https://me:sesame@example.com/notes.git",
            "https://sesame@example.com/notes.git",
            "--upload-pack=id",
            "-x@host:path",
            "ssh://-oProxyCommand=id/x",
            "me@-oProxyCommand=id:x",
            "https://exa mple.com",
            "https://",
            "https://a\n",
        ] {
            check(text, None);
        }
    }
}
