//! A file that is written to through memory.
//!
//! What is put there belongs to the kernel at once, so it survives the end of this process, without a call of the
//! kernel for each piece. In return the room has to be there before: where a file system finds only later that there
//! is none, the kernel knows no other way to tell than to end the process.

use std::fs::File;
use std::io;

/// Room in a file, all zeros at first.
#[derive(Debug)]
pub struct MappedFile(os::Mapping);

impl MappedFile {
    /// Makes an empty file this long, and maps it; none where that is not safe.
    ///
    /// # Errors
    /// There is no room for it, or the file was not opened for reading and writing. It may be longer than before then.
    pub fn new(file: &File, length: usize) -> io::Result<Option<Self>> {
        Ok(os::Mapping::new(file, length)?.map(Self))
    }

    /// How many bytes there is room for.
    pub fn length(&self) -> usize {
        self.0.length()
    }

    /// Puts bytes at a place, the first of them last: whoever looks meanwhile, or after this process was killed in the
    /// middle of it, finds a zero there. `false` if there is no room, and then nothing was done.
    pub fn put(&mut self, at: usize, bytes: &[u8]) -> bool {
        let Some(end) = at.checked_add(bytes.len()) else { return false };
        let Some(place) = self.0.bytes().get_mut(at..end) else { return false };
        if let ([to_first, to_rest @ ..], [first, rest @ ..]) = (place, bytes) {
            to_rest.copy_from_slice(rest);
            // Neither the compiler nor the processor may bring this one forward.
            std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
            os::store(to_first, *first);
        }
        true
    }

    /// Makes the first bytes zeros again.
    pub fn clear(&mut self, length: usize) {
        let bytes = self.0.bytes();
        let length = length.min(bytes.len());
        bytes[..length].fill(0);
    }
}

#[cfg(target_os = "linux")]
mod os {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt as _;
    use std::ptr::NonNull;

    use rustix::fs::fstatfs;
    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

    /// File systems that keep room which was written to once: ext4, XFS, and memory.
    const SAFE: [u64; 3] = [0xEF53, 0x5846_5342, 0x0102_1994];
    /// What is written at once to make room.
    static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

    #[derive(Debug)]
    pub(super) struct Mapping {
        start: NonNull<u8>,
        length: usize,
    }

    #[expect(unsafe_code, reason = "a pointer says nothing of threads")]
    // SAFETY: the memory belongs to this value alone, and is reached by `&mut self` only.
    unsafe impl Send for Mapping {}

    impl Mapping {
        pub(super) fn new(file: &File, length: usize) -> io::Result<Option<Self>> {
            // The type of this number is another one on every machine.
            let kind = u64::try_from(fstatfs(file)?.f_type).unwrap_or_default();
            if length == 0 || !SAFE.contains(&kind) {
                return Ok(None);
            }
            for at in (0..length).step_by(ZEROS.len()) {
                file.write_all_at(&ZEROS[..ZEROS.len().min(length - at)], at as u64)?;
            }
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            #[expect(unsafe_code, reason = "what a mapping does depends on where it is put")]
            // SAFETY: the kernel chooses a place that nothing else uses.
            let start = unsafe { mmap(std::ptr::null_mut(), length, rights, MapFlags::SHARED, file, 0)? };
            let Some(start) = NonNull::new(start.cast::<u8>()) else { return Ok(None) };
            let mapping = Self { start, length };
            #[expect(unsafe_code, reason = "what it does to memory depends on what is there")]
            // SAFETY: the range is the mapping. It is only made ready to be written to, which an old kernel refuses.
            let ready = unsafe { madvise(start.as_ptr().cast(), length, Advice::LinuxPopulateWrite) };
            if let Err(error) = ready {
                tracing::debug!(%error, "a mapped file is made ready piece by piece");
            }
            Ok(Some(mapping))
        }

        pub(super) fn length(&self) -> usize {
            self.length
        }

        pub(super) fn bytes(&mut self) -> &mut [u8] {
            #[expect(unsafe_code, reason = "memory that the kernel gave")]
            // SAFETY: it is mapped for as long as this value lives, all of it was written, and this process reaches it
            // by this value only. Another process may read the file, and has no business writing to it.
            unsafe {
                std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length)
            }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            #[expect(unsafe_code, reason = "nothing may use the memory from here on")]
            // SAFETY: the range is the mapping, and slices of it cannot outlive this value.
            let gone = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
            if let Err(error) = gone {
                tracing::debug!(%error, "a mapped file stays mapped");
            }
        }
    }

    /// Writes a byte now.
    pub(super) fn store(place: &mut u8, byte: u8) {
        #[expect(unsafe_code, reason = "others look at the memory, of whom the compiler does not know")]
        // SAFETY: it is a place that was borrowed for writing.
        unsafe {
            std::ptr::write_volatile(place, byte);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod os {
    use std::fs::File;
    use std::io;

    /// There is none here.
    #[derive(Debug)]
    pub(super) enum Mapping {}

    impl Mapping {
        pub(super) fn new(_file: &File, _length: usize) -> io::Result<Option<Self>> {
            Ok(None)
        }

        pub(super) fn length(&self) -> usize {
            match *self {}
        }

        pub(super) fn bytes(&mut self) -> &mut [u8] {
            match *self {}
        }
    }

    pub(super) fn store(place: &mut u8, byte: u8) {
        *place = byte;
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs::OpenOptions;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    /// An empty file in memory, which is a safe place on every machine.
    fn file() -> (TempDir, PathBuf, File) {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = folder.path().join("file");
        let file = OpenOptions::new().read(true).append(true).create_new(true).open(&path).unwrap();
        (folder, path, file)
    }

    #[test]
    fn what_was_put_is_in_the_file_at_once_and_the_rest_is_zeros() {
        let (_folder, path, file) = file();
        let mut mapped = MappedFile::new(&file, 100_000).unwrap().unwrap();
        assert_eq!(mapped.length(), 100_000);
        for (at, text) in [(0, "one\n"), (4, "two\n"), (99_999, "!"), (7, "")] {
            assert!(mapped.put(at, text.as_bytes()), "{at}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), [b"one\ntwo\n".as_slice(), &[0; 99_991], b"!"].concat());
        mapped.clear(5);
        drop((mapped, file));
        assert_eq!(std::fs::read(&path).unwrap()[..10], *b"\0\0\0\0\0wo\n\0\0");
    }

    #[test]
    fn what_does_not_fit_is_not_put_at_all() {
        let (_folder, path, file) = file();
        let mut mapped = MappedFile::new(&file, 10).unwrap().unwrap();
        for (at, text) in [(10, "x"), (7, "abcd"), (0, "0123456789a"), (usize::MAX, "ab")] {
            assert!(!mapped.put(at, text.as_bytes()), "{at}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), [0; 10]);
    }

    #[test]
    fn a_file_is_not_mapped_where_it_has_no_length_or_may_not_be_written_to() {
        let (_folder, path, file) = file();
        assert!(MappedFile::new(&file, 0).unwrap().is_none());
        assert!(MappedFile::new(&File::open(path).unwrap(), 10).is_err());
    }

    #[test]
    fn a_file_is_not_mapped_where_room_is_not_kept() {
        let file = OpenOptions::new().read(true).write(true).open("/proc/self/comm").unwrap();
        assert!(MappedFile::new(&file, 10).unwrap().is_none());
    }
}
