"""The parsers of Prometheus (`prometheus_client`) over the metrics of Toolgate.

    prometheus.py URL

It reads `/metrics` in both text formats, checks that the parsers take all of it and find the same in both, prints one line a
family, and ends with status 1 at the first thing that is wrong.
"""

from __future__ import annotations

import sys
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_plain

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PLAIN = "text/plain; version=0.0.4; charset=utf-8"

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def fetch(url: str, accept: str, expect: str) -> str:
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=20) as reply:
        kind = reply.headers["Content-Type"]
        if kind != expect:
            raise ValueError(f"accepting {accept!r} gave {kind!r}")
        return reply.read().decode()


def samples(families: list) -> Samples:
    found: Samples = {}
    for family in families:
        if not family.documentation or family.type in ("unknown", "untyped"):
            raise ValueError(f"{family.name} has no help or no type")
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            if not sample.name.startswith("toolgate_") or key in found:
                raise ValueError(f"{key} does not belong here, or is there twice")
            found[key] = sample.value
    return found


def main(url: str) -> None:
    strict = list(parse_openmetrics(fetch(url, "application/openmetrics-text;version=1.0.0,*/*;q=0.1", OPENMETRICS)))
    plain = list(parse_plain(fetch(url, "text/plain;version=0.0.4", PLAIN)))
    for family in strict:
        print(f"{family.name} {family.type} {len(family.samples)}")
    in_strict, in_plain = samples(strict), samples(plain)
    if in_strict.keys() != in_plain.keys():
        raise ValueError(f"only in one format: {sorted(in_strict.keys() ^ in_plain.keys())}")
    if in_strict[("toolgate_calls_total", (("outcome", "complete"), ("target", "tool")))] != 1:
        raise ValueError("the one call is not counted")
    print(f"{len(strict)} families, {len(in_strict)} series")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except Exception as wrong:
        sys.exit(f"FAIL {wrong}")
