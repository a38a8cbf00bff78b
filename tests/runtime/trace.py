"""trace.py [--killed|--any] FILE…: a trace is JSON, its events nest on each track, and each has what its kind
needs; prints how many events there are of each kind, for trace.sh.

With --killed the array has no end, and events on a track may have none; with --any either may be so.
"""
import collections
import json
import re
import sys

CATEGORIES = {"build", "cache", "fusion", "groups", "host", "launch", "stage", "transfer", "wait"}
ATTRIBUTE = re.compile(r"(spvfuse|code|error|telemetry|process)(\.[a-z][a-z0-9_-]*|\.[0-9]+)+$")


def read(path, killed):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    ended = text.endswith("]\n")
    assert killed != "--killed" or not ended, "the process was not killed"
    return json.loads(text if ended or not killed else text + "]")


def check_event(e, named):
    assert isinstance(e["pid"], int) and isinstance(e["tid"], int), e
    for key in e.get("args", {}):
        assert ATTRIBUTE.match(key) or (e["ph"] == "M" and key == "name"), key
    if e["ph"] == "M":
        assert e["name"] in ("process_name", "thread_name") and e["args"]["name"], e
        named.add((e["name"], e["pid"], e["tid"]))
        return
    assert e["ts"] > 0, e
    assert e["ph"] in "BEiX", e
    if e["ph"] != "E":
        assert e["cat"] in CATEGORIES and e["name"], e


def spans(events, killed):
    """The events with durations as (begin, end) pairs, after a check that they nest."""
    open_events, pairs = collections.defaultdict(list), []
    last, ended = {}, collections.defaultdict(float)
    for e in events:
        track = (e["pid"], e["tid"])
        if e["ph"] == "M":
            continue
        if e["ph"] == "X":
            begun = open_events[track][-1]["ts"] if open_events[track] else 0
            assert e["dur"] >= 0 and e["ts"] >= max(begun, ended[track] - 0.001), ("it does not nest", e)
            ended[track] = e["ts"] + e["dur"]
            continue
        assert e["ts"] >= last.get(track, 0), ("time goes backwards", e)
        last[track] = e["ts"]
        if e["ph"] == "B":
            open_events[track].append(e)
        elif e["ph"] == "E":
            assert open_events[track], ("an end without a beginning", e)
            pairs.append((open_events[track].pop(), e))
    left = sum(len(list_) for list_ in open_events.values())
    assert killed or left == 0, f"{left} events have no end"
    return pairs, left


def count(events, pairs, pid):
    counts = collections.Counter()
    for begin, end in pairs:
        attributes = {**begin.get("args", {}), **end.get("args", {})}
        on_device = begin["pid"] != pid
        if begin["cat"] == "launch":
            counts["device launches" if on_device else "launches"] += \
                attributes.get("spvfuse.command.count", 1)
        elif begin["name"] == "fuse":
            refused = "spvfuse.fusion.refusal.rule" in attributes
            counts["refused" if refused else "fused"] += 1
        else:
            counts[begin["name"]] += 1
        if "error.type" in attributes:
            counts["errors"] += 1
    for e in events:
        if e["ph"] == "i":
            counts[e["name"]] += 1
        elif e["ph"] == "X":
            counts["stage " + e["name"]] += 1
    return counts


def main(arguments):
    killed = arguments.pop(0) if arguments[0] in ("--killed", "--any") else None
    counts = collections.Counter()
    for path in arguments:
        events = read(path, killed)
        named = set()
        for e in events:
            check_event(e, named)
        pid = events[0]["pid"]
        assert ("process_name", pid) in {name[:2] for name in named}
        for e in events:
            assert e["pid"] == pid or ("thread_name", e["pid"], e["tid"]) in named or e["ph"] == "M", e
        pairs, left = spans(events, killed)
        counts += count(events, pairs, pid)
        counts["running"] += left
    for name in sorted(counts):
        print(name, counts[name], sep=": ")


main(sys.argv[1:])
