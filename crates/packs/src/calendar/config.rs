//! What can be set for calendars.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What can be set for calendars. Written as text it shows the addresses of feeds.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CalendarConfig {
    /// The time zone of answers, such as `Europe/Berlin`. Without it: that of the machine.
    #[schemars(example = "Europe/Berlin")]
    pub time_zone: Option<String>,
    /// The most bytes that a feed may have, as it comes and when its compression is undone.
    #[schemars(range(min = 1))]
    pub max_bytes: u64,
    /// How many milliseconds a feed may take to come, redirects included.
    #[schemars(range(min = 1))]
    pub timeout_ms: u64,
    /// For how many milliseconds a feed is taken as it is before its server is asked whether it changed.
    pub refresh_ms: u64,
    /// The calendars, by name.
    pub feeds: BTreeMap<String, FeedConfig>,
}

impl Default for CalendarConfig {
    fn default() -> Self {
        Self {
            time_zone: None,
            max_bytes: 10 << 20,
            timeout_ms: 20_000,
            refresh_ms: 60_000,
            feeds: BTreeMap::new(),
        }
    }
}

/// Where a calendar comes from: an address or a file.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FeedConfig {
    /// The address of an iCalendar feed, with `https` or `webcal`; whoever knows it can read the calendar, so it is
    /// shown nowhere. A user name and a password may stand in it.
    #[schemars(example = "{secret:WORK_CALENDAR}")]
    pub url: Option<String>,
    /// An iCalendar file on this machine.
    #[schemars(example = "/path/to/a/calendar.ics")]
    pub file: Option<PathBuf>,
}

impl CalendarConfig {
    /// The addresses that are written here, or referred to.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        self.feeds.values().filter_map(|feed| feed.url.as_deref())
    }
}
