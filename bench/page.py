# SPDX-License-Identifier: BSD-3-Clause
"""The page: page.html with page.css, chart.js, page.js and figures inside, one file that needs no network."""

import json
import statistics
from pathlib import Path

import plan
import results as kept

HERE = Path(__file__).resolve().parent


def figures(results):
    """One entry for each metric of each group: [{group, section, metric, ..., points}]."""
    found = {}
    for key, by_mpi in results.table().items():
        entry = found.setdefault((key.group, key.metric), {
            "group": key.group,
            "section": plan.section(key.metric),
            "metric": key.metric,
            "unit": key.unit,
            "what": plan.explained(key.metric),
            "xName": plan.x_name(key.metric),
            "more": plan.more_is_better(key.unit),
            "compared": plan.compared(key.unit),
            "points": [],
        })
        values = {name: [statistics.median(v), min(v), max(v), len(v)] for name, v in by_mpi.items()}
        entry["points"].append({"x": key.x, "values": values})
    return list(found.values())


def data(results):
    return {
        "meta": results.meta,
        "sections": plan.SECTIONS,
        "figures": figures(results),
        "raw": [[number, round(raw, 5)] for number, raw in results.raws()],
        "problems": results.problems,
        "summary": [list(row) for row in kept.summary(results)],
    }


def html(results):
    """The text of the page. Figures stand in a script element as JSON, whose `<` cannot end it."""
    text = json.dumps(data(results), separators=(",", ":")).replace("<", "\\u003c")
    page = (HERE / "page.html").read_text()
    for mark, content in (("/*STYLE*/", (HERE / "page.css").read_text()),
                          ("/*CHART*/", (HERE / "chart.js").read_text()),
                          ("/*SCRIPT*/", (HERE / "page.js").read_text()), ("/*DATA*/", text)):
        page = page.replace(mark, content)
    return page
