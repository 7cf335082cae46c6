//! The pack `calendar`: events of iCalendar feeds, by address or file.
//!
//! It only reads. A feed is text of others: what it says is bounded, and costs no more than itself if it is bad.

mod answer;
mod book;
mod budget;
mod civil;
mod config;
mod event;
mod feed;
mod ical;
mod read;
mod rule;
mod series;
mod window;
mod words;
mod zone;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use toolgate_core::{AnyTool, Error, Kind, Pack, Result, tool};
use toolgate_host::{Clock, Secret};

use crate::Unready;
use feed::{Feed, Local, Place, Remote};

pub use config::{CalendarConfig, FeedConfig};
pub use feed::address_forms;

/// How many letters the name of a calendar may have.
const MOST_NAME: usize = 64;

/// Events of calendars.
#[derive(Debug)]
pub struct Calendar {
    feeds: Vec<Arc<Feed>>,
    zone: TimeZone,
    clock: Clock,
}

impl Calendar {
    /// What is configured; `fill` puts a secret where the address of a feed refers to it.
    ///
    /// # Errors
    /// Something is missing, or cannot be meant.
    pub fn new(
        config: &CalendarConfig,
        fill: impl Fn(&str) -> Result<Secret, String>,
    ) -> Result<Self, Unready> {
        Self::at(config, fill, Clock::system())
    }

    /// The same, by another clock.
    ///
    /// # Errors
    /// Something is missing, or cannot be meant.
    pub fn at(
        config: &CalendarConfig,
        fill: impl Fn(&str) -> Result<Secret, String>,
        clock: Clock,
    ) -> Result<Self, Unready> {
        let zone = zone(config)?;
        let mut feeds: Vec<Arc<Feed>> = Vec::new();
        for (name, feed) in &config.feeds {
            let key = feed_key(name);
            let is_plain = |letter: char| !letter.is_control() && letter != '`';
            if name.trim() != name || name.is_empty() || name.len() > MOST_NAME || !name.chars().all(is_plain)
            {
                let hint = "give it a short name in one line, such as `work`";
                return Err(Unready::wrong(key, "has a name that cannot be used", hint));
            }
            if feeds.iter().any(|other| is_same(&other.name, name)) {
                let hint = "give it another name: letters may be large or small";
                return Err(Unready::wrong(key, "has the name of another calendar", hint));
            }
            let place = place(config, feed, &key, &fill)?;
            feeds.push(Arc::new(Feed::new(name, place, config.refresh_ms, clock.clone())));
        }
        if feeds.is_empty() {
            return Err(Unready::Needs("set `calendar.feeds.NAME.url` or `calendar.feeds.NAME.file`".into()));
        }
        Ok(Self { feeds, zone, clock })
    }

    fn now(&self) -> Timestamp {
        let ms = i64::try_from(self.clock.unix_ms()).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
    }

    /// The feeds that a caller means.
    fn feeds(&self, name: Option<&str>) -> Result<Vec<Arc<Feed>>> {
        let Some(name) = name else { return Ok(self.feeds.clone()) };
        let is_meant = |feed: &&Arc<Feed>| is_same(&feed.name, name.trim());
        let found: Vec<Arc<Feed>> = self.feeds.iter().filter(is_meant).cloned().collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let there: Vec<String> = self.feeds.iter().map(|feed| format!("`{}`", feed.name)).collect();
        Err(Error::new(Kind::NotFound, "there is no calendar of this name")
            .hint(format!("use {}, or leave `calendar` out", there.join(" or "))))
    }
}

/// The key of a feed, from the top of the file.
pub fn feed_key(name: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !name.is_empty() && name.chars().all(is_bare) {
        return format!("calendar.feeds.{name}");
    }
    format!("calendar.feeds.\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

fn is_same(name: &str, other: &str) -> bool {
    name.to_lowercase() == other.to_lowercase()
}

/// Where a feed comes from.
fn place(
    config: &CalendarConfig,
    feed: &FeedConfig,
    key: &str,
    fill: &impl Fn(&str) -> Result<Secret, String>,
) -> Result<Place, Unready> {
    match (&feed.url, &feed.file) {
        (Some(url), None) => {
            let url = fill(url).map_err(Unready::Needs)?;
            let bytes = usize::try_from(config.max_bytes).unwrap_or(usize::MAX);
            let time = Duration::from_millis(config.timeout_ms);
            Ok(Place::Remote(Remote::new(&format!("{key}.url"), &url, time, bytes)?))
        }
        (None, Some(path)) => Ok(Place::Local(Local::new(&format!("{key}.file"), path, config.max_bytes)?)),
        (Some(_), Some(_)) => {
            Err(Unready::wrong(key, "has both a `url` and a `file`", "make two calendars of it"))
        }
        (None, None) => Err(Unready::wrong(key, "comes from nowhere", "set its `url` or its `file`")),
    }
}

/// The time zone of answers: the configured one, else the machine's, else UTC.
fn zone(config: &CalendarConfig) -> Result<TimeZone, Unready> {
    let Some(name) = &config.time_zone else {
        let machine = TimeZone::try_system().ok().filter(|zone| !zone.is_unknown());
        return Ok(machine.unwrap_or(TimeZone::UTC));
    };
    let hint = "give a name of the tz database, such as `Europe/Berlin` or `UTC`";
    zone::known(name).ok_or_else(|| Unready::wrong("calendar.time_zone", "is not known", hint))
}

impl Pack for Calendar {
    const NAME: &'static str = "calendar";

    fn tools() -> Vec<AnyTool<Self>> {
        vec![tool(read::CalendarRead)]
    }
}
