//! A value that must not be printed, logged or written by accident.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// A value that must not be printed: it has no `Display`, is no part of any serialized text, and is wiped when the
/// last holder lets go of it.
///
/// ```compile_fail,E0277
/// println!("{}", toolgate_host::Secret::new(String::from("hunter2")));
/// ```
#[derive(Clone)]
pub struct Secret(Arc<Zeroizing<String>>);

impl Secret {
    /// Takes a value over.
    pub fn new(value: String) -> Self {
        Self(Arc::new(Zeroizing::new(value)))
    }

    /// The value itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_show_in_debug_output() {
        let secret = Secret::new("correct horse".into());
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "[secret] Some([secret])");
        assert_eq!(secret.expose(), "correct horse");
    }
}
