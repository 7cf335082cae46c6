//! Memory that this process has no use for any more, given back to the machine.
//!
//! A start touches most of a large program once, and little of it ever again; the kernel counts all of it as ours
//! until somebody else needs the room. So what was only needed to start goes back soon after it, and what was needed
//! for some work goes back when that is long over. The kernel keeps such pages for as long as it has room, so that
//! needing one again costs a microsecond and not a look at the disk.

use std::ops::Range;
use std::time::Duration;

use tokio::time::sleep;

use crate::Tasks;

/// How long a start takes at most, in all likelihood.
const STARTED: Duration = Duration::from_millis(500);

/// How long it is watched whether much is done, and how much that is in processor time.
const LOOK: Duration = Duration::from_secs(5);
const MUCH: Duration = Duration::from_millis(20);

/// How much has to be done before there is something to give back again.
const WORTH: Duration = Duration::from_millis(1);

/// How long to wait after a look that found nothing going on.
const AGAIN: Duration = Duration::from_secs(60);

/// Gives memory back behind the start, and whenever much was done and nothing goes on any more. It never ends.
pub async fn give_back_when_quiet(tasks: &Tasks) {
    sleep(STARTED).await;
    let mut given_back = give_back(tasks).await;
    loop {
        let before = used();
        sleep(LOOK).await;
        let now = used();
        if now.saturating_sub(before) > MUCH {
            continue;
        }
        if now.saturating_sub(given_back) > WORTH {
            given_back = give_back(tasks).await;
        }
        sleep(AGAIN).await;
    }
}

/// Gives back what can be; returns the processor time that was used until then.
async fn give_back(tasks: &Tasks) -> Duration {
    let given = tasks.blocking(|| {
        trim();
        forget_program();
    });
    // Without it all goes on as well, only larger.
    drop(given.await);
    used()
}

/// The processor time that this process has used.
fn used() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let seconds = u64::try_from(used.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(used.tv_nsec).unwrap_or_default())
}

/// Gives back what was allocated and freed again.
fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "there is no safe wrapper")]
        // SAFETY: it looks at free memory only, and takes the allocator's own locks.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}

/// Gives back the pages of the program itself.
fn forget_program() {
    #[cfg(target_os = "linux")]
    {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let program = std::fs::read_link("/proc/self/exe").unwrap_or_default();
        for range in untouched(&maps, &program.to_string_lossy()) {
            let start = std::ptr::with_exposed_provenance_mut(range.start);
            #[expect(unsafe_code, reason = "what it does to memory depends on what is there")]
            // SAFETY: the range is a mapping of the program's file that cannot be written to, and no page of it was
            // changed before either: whoever reads there next gets the same bytes from the file again.
            let forgotten =
                unsafe { rustix::mm::madvise(start, range.len(), rustix::mm::Advice::LinuxDontNeed) };
            if forgotten.is_err() {
                return;
            }
        }
    }
}

/// The mappings of the program's file that hold nothing but what stands in the file, as `/proc/PID/smaps` tells them.
fn untouched(maps: &str, program: &str) -> Vec<Range<usize>> {
    let (mut found, mut mapping) = (Vec::new(), None);
    for line in maps.lines() {
        if let Some(of) = Mapping::parse(line) {
            mapping = Some(of)
                .filter(|of| of.is_read_only && of.file.starts_with('/') && of.file == program)
                .map(|of| of.range);
        } else if line.strip_prefix("Anonymous:").is_some_and(|held| held.trim() == "0 kB") {
            found.extend(mapping.take());
        }
    }
    found
}

/// The first line about a mapping.
struct Mapping<'a> {
    range: Range<usize>,
    is_read_only: bool,
    file: &'a str,
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        let range = address(start)?..address(end)?;
        let is_read_only = matches!(rest.split(' ').next()?, "r--p" | "r-xp");
        // Behind the rights: the offset, the device, the inode, and the file, whose name may hold spaces.
        let file = (0..4).try_fold(rest, |rest, _| Some(rest.split_once(' ')?.1))?;
        Some(Self { range, is_read_only, file: file.trim_start() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55e0a0000000-55e0a0002000 r--p 00000000 fe:00 131 /opt/the gate/toolgate
Size:                  8 kB
Rss:                   8 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
55e0a0002000-55e0a0005000 r-xp 00002000 fe:00 131                        /opt/the gate/toolgate
Anonymous:             0 kB
55e0a0005000-55e0a0006000 r--p 00005000 fe:00 131                        /opt/the gate/toolgate
Anonymous:             4 kB
55e0a0006000-55e0a0007000 rw-p 00006000 fe:00 131                        /opt/the gate/toolgate
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 17                         /usr/lib/libc.so.6
Anonymous:             0 kB
7f0000001000-7f0000002000 r--p 00000000 00:00 0 
Anonymous:             0 kB
7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
";

    fn check(maps: &str, program: &str, expected: &[Range<usize>]) {
        assert_eq!(untouched(maps, program), expected, "{program}");
    }

    #[test]
    fn only_what_stands_in_the_file_of_the_program_is_given_back() {
        let own = [0x55e0_a000_0000..0x55e0_a000_2000, 0x55e0_a000_2000..0x55e0_a000_5000];
        check(MAPS, "/opt/the gate/toolgate", &own);
        check(MAPS, "/opt/the gate", &[]);
        check(MAPS, "", &[]);
        check("", "/opt/the gate/toolgate", &[]);
        check("no line of it\nAnonymous: 0 kB\n", "/opt/the gate/toolgate", &[]);
    }

    #[test]
    fn a_process_goes_on_after_its_program_was_given_back() {
        let before = used();
        trim();
        forget_program();
        let text = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let program = std::fs::read_link("/proc/self/exe").unwrap();
        assert!(!untouched(&text, &program.to_string_lossy()).is_empty(), "it has no such mapping: {text}");
        assert!(used() >= before);
    }
}
