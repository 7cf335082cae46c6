//! The events and time zones of a text, as their lines.

use super::Property;

/// How deep components may stand in each other.
const MOST_DEEP: usize = 16;

/// How many events are read.
const MOST_EVENTS: usize = 100_000;

/// What a text holds.
#[derive(Debug, Default)]
pub(crate) struct Parts<'a> {
    pub(crate) events: Vec<Vec<Property<'a>>>,
    pub(crate) zones: Vec<ZoneText<'a>>,
    /// The time zone of the calendar as a whole, if it names one.
    pub(crate) own_zone: Option<&'a str>,
    /// Whether it ends before it should.
    pub(crate) cut_off: bool,
    /// Whether there are more events than are read.
    pub(crate) too_many: bool,
}

/// A time zone: its own lines, and those of each of its observances.
#[derive(Debug, Default)]
pub(crate) struct ZoneText<'a> {
    pub(crate) own: Vec<Property<'a>>,
    pub(crate) observances: Vec<Vec<Property<'a>>>,
}

/// A text is no calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoCalendar;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Calendar,
    Event,
    Zone,
    Observance,
    Other,
}

impl Kind {
    fn of(name: &str, within: Option<Self>) -> Self {
        let is = |word: &str| name.eq_ignore_ascii_case(word);
        match within {
            None if is("VCALENDAR") => Self::Calendar,
            Some(Self::Calendar) if is("VEVENT") => Self::Event,
            Some(Self::Calendar) if is("VTIMEZONE") => Self::Zone,
            Some(Self::Zone) if is("STANDARD") || is("DAYLIGHT") => Self::Observance,
            // Also what stands within an event, such as an alarm with a summary of its own.
            _ => Self::Other,
        }
    }
}

impl<'a> Parts<'a> {
    /// Reads unfolded lines.
    pub(crate) fn read(text: &'a str) -> Result<Self, NoCalendar> {
        let mut parts = Self::default();
        let mut open: Vec<(Kind, &str)> = Vec::new();
        let (mut any, mut too_deep) = (false, 0_usize);
        for property in text.lines().filter_map(Property::parse) {
            let name = property.value.trim();
            if property.is("BEGIN") {
                if open.len() >= MOST_DEEP {
                    too_deep += 1;
                    continue;
                }
                let kind = Kind::of(name, open.last().map(|(kind, _)| *kind));
                any |= kind == Kind::Calendar;
                open.push((kind, name));
                parts.begin(kind);
            } else if property.is("END") {
                if too_deep > 0 {
                    too_deep -= 1;
                } else if let Some(place) =
                    open.iter().rposition(|(_, known)| known.eq_ignore_ascii_case(name))
                {
                    open.truncate(place);
                }
            } else if let Some((kind, _)) = open.last() {
                parts.take(*kind, property);
            }
        }
        parts.cut_off = !open.is_empty();
        any.then_some(parts).ok_or(NoCalendar)
    }

    fn begin(&mut self, kind: Kind) {
        match kind {
            Kind::Event if self.events.len() >= MOST_EVENTS => self.too_many = true,
            Kind::Event => self.events.push(Vec::new()),
            Kind::Zone => self.zones.push(ZoneText::default()),
            Kind::Observance => {
                if let Some(zone) = self.zones.last_mut() {
                    zone.observances.push(Vec::new());
                }
            }
            Kind::Calendar | Kind::Other => {}
        }
    }

    fn take(&mut self, kind: Kind, property: Property<'a>) {
        let lines = match kind {
            Kind::Event if self.too_many => None,
            Kind::Event => self.events.last_mut(),
            Kind::Zone => self.zones.last_mut().map(|zone| &mut zone.own),
            Kind::Observance => self.zones.last_mut().and_then(|zone| zone.observances.last_mut()),
            Kind::Calendar => {
                if property.is("X-WR-TIMEZONE") {
                    self.own_zone = Some(property.value.trim());
                }
                None
            }
            Kind::Other => None,
        };
        if let Some(lines) = lines {
            lines.push(property);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of events, each ended by a bar.
    #[track_caller]
    fn check(text: &str, expect: &str, cut_off: bool) {
        let parts = Parts::read(text).unwrap();
        let values =
            |event: &Vec<Property<'_>>| event.iter().map(|line| line.value).collect::<Vec<_>>().join(",");
        let events: String = parts.events.iter().map(|event| values(event) + "|").collect();
        assert_eq!((events.as_str(), parts.cut_off), (expect, cut_off), "{text}");
    }

    #[test]
    fn what_stands_within_an_event_is_not_the_event() {
        let alarm = "BEGIN:VALARM\nSUMMARY:beep\nEND:VALARM\n";
        check(
            &format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\n{alarm}UID:1\nEND:VEVENT\nEND:VCALENDAR"),
            "a,1|",
            false,
        );
        check("BEGIN:VCALENDAR\nBEGIN:VTODO\nSUMMARY:a\nEND:VTODO\nEND:VCALENDAR", "", false);
    }

    #[test]
    fn what_is_malformed_costs_no_more_than_itself() {
        check("BEGIN:VCALENDAR\nBEGIN:VEVENT\nnonsense\nUID:1", "1|", true);
        check("begin:vcalendar\nbegin:vevent\nUID:1\nEnd:vEvent\nend:vcalendar", "1|", false);
        check("END:VEVENT\nBEGIN:VCALENDAR\nEND:NOTHING\nBEGIN:VEVENT\nUID:1\nEND:VCALENDAR", "1|", false);
        let deep = "BEGIN:X\n".repeat(100_000);
        let ends = "END:X\n".repeat(100_000);
        let text = format!("BEGIN:VCALENDAR\n{deep}{ends}BEGIN:VEVENT\nUID:1\nEND:VEVENT\nEND:VCALENDAR");
        check(&text, "1|", false);
        for text in ["", "<html>", "BEGIN:VEVENT\nUID:1\nEND:VEVENT"] {
            assert_eq!(Parts::read(text).err(), Some(NoCalendar), "{text}");
        }
    }
}
