//! `calendar_read`: read the events of calendars.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Deserialize;
use toolgate_core::{Error, Hints, Kind, Result, RunHandle, Tool, ToolSpec, Worded};

use super::Calendar;
use super::answer::{Item, Output, Report, written};
use super::book::Found;
use super::feed::{Copy, Feed, Trouble};
use super::series::{Occurrence, Window};
use super::window::{self, Asked, Period};

/// How many feeds are asked at once.
const AT_ONCE: usize = 8;

pub(super) struct CalendarRead;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "The name of one calendar; all of them if it is left out.")]
    calendar: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "i64",
        range(min = 1, max = 1000),
        description = "How many days to look ahead from `from`; 7 if neither it nor `to` is given."
    )]
    days: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "From when: a day such as `2026-07-28`, or a time such as `2026-07-28T09:30`; now if it is left out."
    )]
    from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "Up to when, instead of `days`; a day is meant up to its end."
    )]
    to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "String",
        description = "The time zone of the answer, such as `Europe/Berlin`; the configured one if it is left out."
    )]
    time_zone: Option<String>,
    /// Whether to return descriptions and links, too.
    #[serde(default)]
    details: bool,
    /// The most events to return.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
}

const fn default_limit() -> usize {
    200
}

impl Tool<Calendar> for CalendarRead {
    type Input = Input;
    type Output = Worded<Output>;
    const SPEC: ToolSpec = ToolSpec {
        name: "calendar_read",
        title: "Read calendar",
        description: "Read the events of the configured calendars for the next days, or for any other time.",
        hints: Hints::READ_ONLY_EXTERNAL,
    };

    async fn run(&self, pack: &Calendar, _: &RunHandle, input: Input) -> Result<Worded<Output>> {
        let zone = input.time_zone.as_deref().map_or_else(|| Ok(pack.zone.clone()), window::zone)?;
        let asked = Asked { from: input.from.as_deref(), to: input.to.as_deref(), days: input.days };
        let period = asked.period(pack.now(), &zone)?;
        let feeds = pack.feeds(input.calendar.as_deref())?;
        let read: Vec<_> = stream::iter(feeds)
            .map(|feed: Arc<Feed>| async move { (feed.read().await, feed) })
            .buffered(AT_ONCE)
            .collect()
            .await;
        if read.iter().all(|(read, _)| read.is_err()) {
            return Err(nothing(read));
        }
        let limit = input.limit.clamp(1, 1_000);
        let window = Window { from: period.from, to: period.to, zone: zone.clone(), most: limit + 1 };
        let mut gathered = Gathered { output: Output::empty(period, &zone), all: Vec::new() };
        for (read, feed) in read {
            gathered.add(&feed, read, &window).await?;
        }
        let output = gathered.finish(&zone, &input, limit);
        Ok(Worded { text: output.in_words(period, &zone), data: output })
    }
}

impl Output {
    fn empty(period: Period, zone: &TimeZone) -> Self {
        Self {
            items: Vec::new(),
            from: written(period.from, zone),
            to: written(period.to, zone),
            time_zone: window::name(zone),
            more: false,
            calendars: Vec::new(),
        }
    }
}

/// What the feeds gave so far.
struct Gathered {
    output: Output,
    /// Occurrences, each with the number of its feed.
    all: Vec<(usize, Occurrence)>,
}

impl Gathered {
    async fn add(&mut self, feed: &Feed, read: Result<Copy, Trouble>, window: &Window) -> Result<()> {
        let number = self.output.calendars.len();
        let mut report =
            Report { name: feed.name.clone(), events: 0, error: None, as_of: None, notes: Vec::new() };
        match read {
            Ok(Copy { book, at_ms, trouble }) => {
                let found = look(book, window.clone()).await?;
                report.notes = found.notes;
                if let Some(trouble) = trouble {
                    report.error = Some(trouble.message);
                    report.as_of = i64::try_from(at_ms)
                        .ok()
                        .and_then(|ms| Timestamp::from_millisecond(ms).ok())
                        .map(|at| written(at, &window.zone));
                }
                self.output.more |= found.more;
                self.all.extend(found.occurrences.into_iter().map(|occurrence| (number, occurrence)));
            }
            Err(trouble) => report.error = Some(trouble.message),
        }
        self.output.calendars.push(report);
        Ok(())
    }

    fn finish(mut self, zone: &TimeZone, input: &Input, limit: usize) -> Output {
        self.all.sort_by(|(number, one), (other_number, other)| {
            one.order().cmp(&other.order()).then(number.cmp(other_number))
        });
        self.output.more |= self.all.len() > limit;
        for (number, occurrence) in self.all.into_iter().take(limit) {
            let report = &mut self.output.calendars[number];
            report.events += 1;
            self.output.items.push(Item::new(&report.name, &occurrence, zone, input.details));
        }
        self.output
    }
}

/// What a book has in a window; rules can take a while.
async fn look(book: Arc<super::book::Book>, window: Window) -> Result<Found> {
    let looking = tokio::task::spawn_blocking(move || book.look(&window));
    looking.await.map_err(|error| Error::new(Kind::Internal, "the calendar could not be read").because(error))
}

/// Not one calendar could be read.
fn nothing(read: Vec<(Result<Copy, Trouble>, Arc<Feed>)>) -> Error {
    let troubles: Vec<_> =
        read.into_iter().filter_map(|(read, feed)| Some((feed.name.clone(), read.err()?))).collect();
    let kind = troubles.first().map_or(Kind::Internal, |(_, trouble)| trouble.kind);
    let said: Vec<String> =
        troubles.iter().map(|(name, trouble)| format!("calendar `{name}`: {}", trouble.message)).collect();
    let hint = "try again later, or ask the person who runs Toolgate to check `calendar.feeds`";
    Error::new(kind, said.join("; ")).hint(hint)
}
