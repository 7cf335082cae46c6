"""Calendars and what is in them, by implementations of other people (`recurring-ical-events`, `icalendar`, `dateutil`).

    calendars.py expect FOLDER FROM TO ZONE   prints what each file has from FROM to TO (`2026-01-01T00:00`, in ZONE), as JSON
    calendars.py make SEED COUNT FOLDER       writes COUNT calendars full of invented rules, each with what is in it beside it

An event is `[summary, start, end]`: times with their offset in ZONE, without one if they float, or days, the last one included.
"""

from __future__ import annotations

import json
import random
import sys
from datetime import date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import icalendar
import recurring_ical_events
from dateutil.rrule import rrulestr

EVENTS = 40
# An answer holds no more than a thousand events.
MOST = 900
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/St_Johns", "UTC"]
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


def shown(event: icalendar.Event, zone: ZoneInfo) -> list[str]:
    start, end = event["DTSTART"].dt, event["DTEND"].dt
    if not isinstance(start, datetime):
        return [str(event["SUMMARY"]), start.isoformat(), (end - timedelta(days=1)).isoformat()]
    # By way of UTC, a time that clocks skip becomes one that they show.
    there = lambda moment: moment.astimezone(ZoneInfo("UTC")).astimezone(zone) if moment.tzinfo else moment
    at = lambda moment: there(moment).isoformat(timespec="seconds")
    return [str(event["SUMMARY"]), at(start), at(end)]


def expand(text: str, begin: datetime, end: datetime) -> list[list[str]]:
    calendar = icalendar.Calendar.from_ical(text)
    query = recurring_ical_events.of(calendar, skip_bad_series=False)
    return sorted(shown(event, begin.tzinfo) for event in query.between(begin, end) if event.get("STATUS") != "CANCELLED")


def some(chance: random.Random, values: list, most: int) -> str:
    return ",".join(str(value) for value in chance.sample(values, chance.randint(1, most)))


def signed(most: int) -> list[int]:
    return [number for number in range(-most, most + 1) if number]


def parts(chance: random.Random, freq: str) -> list[str]:
    """Parts of a rule that mean the same to everyone. What the standard leaves open is left out."""
    found = []
    maybe = lambda odds: chance.random() < odds
    # Numbers that share no factor with days, hours and minutes: a rule that never comes true would be followed for ever.
    steps = {
        "YEARLY": [1, 3],
        "MONTHLY": [1, 2, 5],
        "WEEKLY": [1, 2, 3, 5],
        "DAILY": [1, 2, 5, 11, 20],
        "HOURLY": [1, 5, 7, 11, 13],
        "MINUTELY": [37, 61, 211, 547],
        "SECONDLY": [1801, 3607, 7919, 25111],
    }[freq]
    step = chance.choice(steps)
    if step > 1 or maybe(0.2):
        found.append(f"INTERVAL={step}")
    by_month = maybe(0.3) and not (freq == "MONTHLY" and step > 1)
    if by_month:
        found.append("BYMONTH=" + some(chance, list(range(1, 13)), 6))
    kind = chance.choice(["none", "weekday", "weekday", "monthday", "both", "special"])
    if kind in ("weekday", "both"):
        numbered = freq in ("YEARLY", "MONTHLY") and kind == "weekday" and maybe(0.6)
        most = 5 if freq == "MONTHLY" or by_month else 52
        names = [f"{chance.choice(signed(most))}{day}" for day in DAYS] if numbered else DAYS
        found.append("BYDAY=" + some(chance, names, 4))
    if kind in ("monthday", "both") and freq != "WEEKLY":
        found.append("BYMONTHDAY=" + some(chance, signed(28 if by_month else 31), 10))
    if kind == "special" and freq == "YEARLY":
        if maybe(0.5):
            found.append("BYYEARDAY=" + some(chance, signed(366), 12))
        else:
            found.append("BYWEEKNO=" + some(chance, list(range(1, 53)), 6))
            found.append("BYDAY=" + some(chance, DAYS, 3))
    if maybe(0.3):
        found.append("BYHOUR=" + some(chance, list(range(6, 22)), 3))
    if maybe(0.2):
        found.append("BYMINUTE=" + some(chance, list(range(0, 60, 5)), 3))
    if maybe(0.1):
        found.append("BYSECOND=" + some(chance, [0, 15, 30, 59], 2))
    if maybe(0.3):
        found.append("WKST=" + chance.choice(DAYS))
    # `dateutil` counts positions of the first week from the first time on, and not from where the week begins.
    if freq in ("YEARLY", "MONTHLY", "DAILY") and maybe(0.3):
        found.append("BYSETPOS=" + chance.choice(["1", "-1", "-1,1", "1,2", "-2,1", "3,-1"]))
    return found


def is_short(text: str) -> bool:
    return any(freq in text for freq in ("HOURLY", "MINUTELY", "SECONDLY"))


def times(text: str, begin: datetime, count: int) -> list[datetime]:
    """The first times of a rule. One that has none is not followed up to the year 9999."""
    until = begin + timedelta(days=60 if is_short(text) else 5_000)
    try:
        return list(rrulestr(f"{text};UNTIL={until.strftime('%Y%m%dT%H%M%S')}", dtstart=begin).xafter(begin, count=count, inc=True))
    except ValueError:
        return []


def rule(chance: random.Random, day: date) -> tuple[str, datetime]:
    """A rule, and a first time that fits it; not long before a day, if it is one of hours or less."""
    while True:
        freq = chance.choice(["YEARLY", "MONTHLY", "WEEKLY", "DAILY"] * 2 + ["HOURLY", "MINUTELY", "SECONDLY"])
        text = ";".join([f"FREQ={freq}", *parts(chance, freq)])
        before = chance.randint(0, 40 if is_short(text) else 4_000)
        begin = datetime.combine(day, time(chance.randint(6, 20), chance.choice([0, 15, 30]))) - timedelta(days=before)
        first = next(iter(times(text, begin, 1)), None)
        if first is not None:
            return text, first


def ended(chance: random.Random, text: str, first: datetime, stamp: str) -> str:
    how = chance.random()
    if how < 0.3:
        return f"{text};COUNT={chance.randint(1, 60)}"
    if how < 0.6:
        until = first + timedelta(days=chance.randint(1, 2_000), hours=chance.randint(0, 23))
        form = {"day": "%Y%m%d", "utc": "%Y%m%dT%H%M%SZ", "local": "%Y%m%dT%H%M%S"}[stamp]
        return f"{text};UNTIL={until.strftime(form)}"
    return text


def event(chance: random.Random, number: int, day: date) -> str:
    text, first = rule(chance, day)
    kind = chance.choice(["day", "utc", "local", "zone", "zone", "zone"])
    often = is_short(text) or any(part in text for part in ("BYHOUR", "BYMINUTE", "BYSECOND"))
    if kind == "day" and often:
        kind = "utc"
    if kind == "day":
        first = datetime.combine(first.date(), time())
    plain = "%Y%m%dT%H%M%S"
    name = chance.choice(ZONES)
    head, form = {
        "day": (";VALUE=DATE", "%Y%m%d"),
        "utc": ("", plain + "Z"),
        "local": ("", plain),
        "zone": (f";TZID={name}", plain),
    }[kind]
    stamp = "utc" if kind == "zone" else kind
    lines = ["BEGIN:VEVENT", f"UID:{number}", "DTSTAMP:20260101T000000Z", f"SUMMARY:{number} {kind}"]
    lines.append(f"DTSTART{head}:{first.strftime(form)}")
    # Where clocks are moved, hours of Python are those of the clock and not those that pass; few rules are about nights.
    minutes = 0 if is_short(text) else chance.choice([0, 15, 90])
    lines.append("DURATION:" + (f"P{chance.randint(1, 4)}D" if kind == "day" else f"PT{minutes}M"))
    lines.append("RRULE:" + ended(chance, text, first, stamp))
    known = times(text, first, 8)
    for line in ("EXDATE", "RDATE"):
        # A time that is left out takes all others of its day with it there.
        if chance.random() < 0.3 and not (line == "EXDATE" and often):
            chosen = chance.sample(known, min(len(known), 3))
            moved = timedelta(days=3) if line == "RDATE" else timedelta()
            lines.append(f"{line}{head}:" + ",".join((moment + moved).strftime(form) for moment in chosen))
    return "\r\n".join([*lines, "END:VEVENT"])


def make(seed: int, count: int, folder: Path) -> None:
    chance = random.Random(seed)
    for number in range(count):
        day = date(2026, 1, 1) + timedelta(days=chance.randint(0, 700))
        events = [event(chance, place, day) for place in range(EVENTS)]
        text = "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//x", *events, "END:VCALENDAR", ""])
        zone = chance.choice(ZONES)
        begin = datetime.combine(day, time(0, 0), ZoneInfo(zone))
        end = begin + timedelta(days=chance.choice([1, 7, 31]))
        found = expand(text, begin, end)
        if len(found) > MOST:
            end = begin + timedelta(days=1)
            found = expand(text, begin, end)
        (folder / f"{number}.ics").write_bytes(text.encode())
        asked = {"from": begin.strftime("%Y-%m-%dT%H:%M"), "to": end.strftime("%Y-%m-%dT%H:%M"), "time_zone": zone}
        (folder / f"{number}.json").write_text(json.dumps({"asked": asked, "found": found}))


def main(arguments: list[str]) -> None:
    match arguments:
        case ["expect", folder, begin, end, zone]:
            at = lambda text: datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
            files = sorted(Path(folder).glob("*.ics"))
            print(json.dumps({file.stem: expand(file.read_text(), at(begin), at(end)) for file in files}))
        case ["make", seed, count, folder]:
            make(int(seed), int(count), Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
