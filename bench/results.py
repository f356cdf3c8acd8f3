# SPDX-License-Identifier: BSD-3-Clause
"""Figures of all rounds: kept, written as tab-separated values and as a Markdown table, read again.

The file of values begins with lines "# key: JSON" (machine, mpis, ...), then a line of names, then one line
for each figure of each round. `raw_us` is the bare cache line just before
that run.
"""

import json
import statistics
from dataclasses import dataclass

import plan

COLUMNS = ("round", "group", "metric", "x", "unit", "mpi", "value", "raw_us")


@dataclass(frozen=True)
class Key:
    group: str
    metric: str
    x: int
    unit: str


class Results:
    def __init__(self, meta):
        self.meta = meta  # machine, date, mode, rounds, command, mpis: [{name, title, ...}], ours
        self.rows = []  # (round, Key, mpi, value, raw)
        self.problems = []  # {mpi, group, what}: wrong results, runs that failed or were cut short
        self.wrong = set()  # names of MPIs with a wrong result or a failed run

    def add(self, number, group, mpi, text, raw):
        """Takes what measure.c printed. What it says of itself is the return value."""
        library, late = "", []
        for line in text.splitlines():
            words = line.split("\t")
            if words[0] == "!library":
                library = " ".join(words[1].split())
                library = library if len(library) < 80 else library[:76] + " ..."
            elif words[0] == "!wrong":
                self.problem(mpi, group, f"WRONG RESULT: {words[1]} of {words[2]}: {words[3]} wrong", True)
            elif words[0] == "!late":
                late.append(f"{words[1]} of {words[2]}")
            elif words[0] == "!missing":
                self.problem(mpi, group, f"{words[1]} is not there")
            elif len(words) == 4:
                key = Key(group, words[0], int(words[1]), words[3])
                self.rows.append((number, key, mpi, float(words[2]), raw))
        if late:
            self.problem(mpi, group, f"too slow: {late[0]} and {len(late) - 1} more left out")
        return library

    def problem(self, mpi, group, what, wrong=False):
        found = {"mpi": mpi, "group": group, "what": what}
        if found not in self.problems:
            self.problems.append(found)
        if wrong:
            self.wrong.add(mpi)

    def names(self):
        return [mpi["name"] for mpi in self.meta["mpis"]]

    def ours(self):
        return self.meta["ours"]

    def table(self):
        """{Key: {mpi: [values]}}, groups and metrics in the order in which they came, then by x."""
        found, places = {}, {}
        for _, key, mpi, value, _ in self.rows:
            found.setdefault(key, {}).setdefault(mpi, []).append(value)
            places.setdefault((key.group, key.metric), len(places))
        keys = sorted(found, key=lambda key: (places[key.group, key.metric], key.x))
        return {key: found[key] for key in keys}

    def raws(self):
        return [raw for raw in dict.fromkeys((n, raw) for n, _, _, _, raw in self.rows) if raw[1] is not None]

    def write_values(self, path):
        with open(path, "w") as file:
            for key, value in {**self.meta, "problems": self.problems}.items():
                print(f"# {key}: {json.dumps(value)}", file=file)
            print(*COLUMNS, sep="\t", file=file)
            for number, key, mpi, value, raw in self.rows:
                near = "" if raw is None else f"{raw:.6g}"
                print(number, key.group, key.metric, key.x, key.unit, mpi, f"{value:.6g}", near, sep="\t",
                      file=file)


def read_values(path):
    """The Results in a file of write_values(); ValueError with the line for what is none."""
    meta, rows = {}, []
    with open(path) as file:
        for number, line in enumerate(file, 1):
            try:
                if line.startswith("# "):
                    name, value = line[2:].split(": ", 1)
                    meta[name] = json.loads(value)
                elif line.rstrip("\n") != "\t".join(COLUMNS):
                    turn, group, metric, x, unit, mpi, value, raw = line.rstrip("\n").split("\t")
                    key = Key(group, metric, int(x), unit)
                    rows.append((int(turn), key, mpi, float(value), float(raw) if raw else None))
            except ValueError as wrong:
                raise ValueError(f"{path}:{number}: is no line of vicinity bench ({wrong})") from wrong
    if "mpis" not in meta or "ours" not in meta:
        raise ValueError(f"{path}: names no MPIs; is it values.tsv of vicinity bench?")
    results = Results({key: value for key, value in meta.items() if key != "problems"})
    results.rows, results.problems = rows, meta.get("problems", [])
    return results


def gain(key, medians, ours):
    """By how much ours is better than the best of the others; None where one is missing."""
    others = [value for name, value in medians.items() if name != ours]
    if ours not in medians or not others or not plan.compared(key.unit):
        return None
    mine = medians[ours]
    if plan.more_is_better(key.unit):
        return mine / max(others) if max(others) > 0 else None
    return min(others) / mine if mine > 0 else None


def short(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def cell(values):
    if not values:
        return "-"
    middle = short(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({short(min(values))}..{short(max(values))})"


def summary(results):
    """[(group, section, figures, ahead, median gain)] of what can be compared."""
    found = {}
    for key, by_mpi in results.table().items():
        medians = {name: statistics.median(values) for name, values in by_mpi.items()}
        ratio = gain(key, medians, results.ours())
        if ratio is not None:
            found.setdefault((key.group, plan.section(key.metric)), []).append(ratio)
    return [(group, section, len(ratios), sum(r > 1 for r in ratios), statistics.median(ratios))
            for (group, section), ratios in found.items()]


def markdown_rows(results, wanted):
    names, last = results.names(), None
    for key, by_mpi in results.table().items():
        if (key.group, plan.section(key.metric)) != wanted:
            continue
        medians = {name: statistics.median(values) for name, values in by_mpi.items()}
        ratio = gain(key, medians, results.ours())
        cells = [cell(by_mpi.get(name)) for name in names]
        shown = key.metric if key.metric != last else ""
        last = key.metric
        row = [shown, str(key.x), key.unit, *cells, f"{ratio:.2f}" if ratio else ""]
        yield "| " + " | ".join(row) + " |"


def markdown(results):
    """The whole table as text."""
    table, meta = results.table(), results.meta
    lines = ["# " + meta["title"], "", f"{meta['machine']}; {meta['date']}; `{meta['command']}`", ""]
    raw = [value for _, value in results.raws()]
    if raw:
        middle, least, most = short(statistics.median(raw)), short(min(raw)), short(max(raw))
        lines += [f"The bare cache line, one way, beside the runs: {middle} us ({least}..{most}).", ""]
    lines += [f"Medians of {meta['rounds']} interleaved rounds (least..most). `gain` is how many times "
              f"better {meta['ours_title']} is than the best of the others; below 1 it is behind.", ""]
    lines += ["| | library | settings | with more ranks than cores |", "|---|---|---|---|"]
    for mpi in meta["mpis"]:
        lines.append(f"| {mpi['title']} | {mpi['library']} | `{mpi['fits']}` | `{mpi['crowd']}` |")
    lines += ["", *[f"- **{p['mpi']}**, {p['group']}: {p['what']}" for p in results.problems], ""]
    if len(results.names()) > 1:
        lines += ["| ranks | figures | ahead | median gain |", "|---|---|---|---|"]
        lines += [f"| {group}: {section} | {count} | {ahead} | {middle:.2f} |"
                  for group, section, count, ahead, middle in summary(results)]
    head = "| | {} | unit | " + " | ".join(mpi["title"] for mpi in meta["mpis"]) + " | gain |"
    for group, section in dict.fromkeys((key.group, plan.section(key.metric)) for key in table):
        metric = next(k.metric for k in table if (k.group, plan.section(k.metric)) == (group, section))
        lines += ["", f"## {group}: {section.lower()}", "", head.format(plan.x_name(metric)),
                  "|---" * (len(results.names()) + 4) + "|", *markdown_rows(results, (group, section))]
    return "\n".join(lines) + "\n"
