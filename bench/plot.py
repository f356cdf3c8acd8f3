# SPDX-License-Identifier: BSD-3-Clause
"""Draws the medians of bench/compare or bench/locality as one SVG of small charts, without any library.

Each chart is one metric of one run: bytes on a logarithmic x axis, the figure on a logarithmic y axis.
"""
import math
import statistics
from html import escape

WIDTH, HEIGHT, MARGIN, COLUMNS = 360, 230, 46, 3
COLOURS = {"vicinity": "#c0392b", "mpich": "#2c7fb8", "openmpi": "#41ab5d", "impi": "#8856a7",
           "locality": "#c0392b", "locality-rc": "#c0392b", "locality-ud": "#e6735f",
           "network-rc": "#2c7fb8", "network-ud": "#41ab5d"}


def add(values, run, name, text):
    """Takes measure.c's lines 'metric TAB bytes TAB value TAB unit' into
    values[(run, metric, bytes, unit)][name]."""
    for line in text.splitlines():
        words = line.split("\t")
        if len(words) == 4:
            key = (run, words[0], int(words[1]), words[3])
            values.setdefault(key, {}).setdefault(name, []).append(float(words[2]))


def write_values(path, values):
    """Every figure as a line of tab-separated values."""
    with open(path, "w") as file:
        head = ("run", "metric", "bytes", "unit", "name", "median", "least", "most", "rounds")
        print(*head, sep="\t", file=file)
        for (run, metric, size, unit), found in values.items():
            for name, numbers in found.items():
                figures = statistics.median(numbers), min(numbers), max(numbers)
                words = [f"{figure:.6g}" for figure in figures]
                print(run, metric, size, unit, name, *words, len(numbers), sep="\t", file=file)


def nice_bytes(n):
    for unit, size in (("M", 1 << 20), ("K", 1 << 10)):
        if n >= size:
            return f"{n // size}{unit}"
    return str(n)


def nice_value(v):
    return f"{v:.0f}" if v >= 10 else f"{v:.2g}"


def scale(low, high, start, end):
    low, high = math.log(low), math.log(high)
    return lambda v: start + (math.log(v) - low) / ((high - low) or 1) * (end - start)


def chart(title, unit, series, left, top):
    """SVG text of one chart; series: {name: [(bytes, value)]}"""
    points = [p for line in series.values() for p in line if p[1] > 0]
    x = scale(min(p[0] for p in points), max(p[0] for p in points), left + MARGIN, left + WIDTH - 12)
    low, high = min(p[1] for p in points) / 1.2, max(p[1] for p in points) * 1.2
    y = scale(low, high, top + HEIGHT - 28, top + 24)
    out = [f'<text x="{left + WIDTH / 2}" y="{top + 14}" class="t">{escape(title)} ({unit})</text>',
           f'<rect x="{left + MARGIN}" y="{top + 24}" width="{WIDTH - MARGIN - 12}" height="{HEIGHT - 52}" '
           'class="box"/>']
    for n in sorted({p[0] for p in points}):
        out.append(f'<text x="{x(n):.1f}" y="{top + HEIGHT - 14}" class="x">{nice_bytes(n)}</text>')
    decade = math.floor(math.log10(low))
    while 10 ** decade < high:
        value = 10 ** decade
        if value >= low:
            out.append(f'<line x1="{left + MARGIN}" x2="{left + WIDTH - 12}" y1="{y(value):.1f}" '
                       f'y2="{y(value):.1f}" class="grid"/><text x="{left + MARGIN - 4}" '
                       f'y="{y(value) + 3:.1f}" class="y">{nice_value(value)}</text>')
        decade += 1
    for name, line in series.items():
        colour = COLOURS.get(name, "#555")
        path = " ".join(f"{x(n):.1f},{y(v):.1f}" for n, v in line if v > 0)
        wide = 2.4 if name == "vicinity" or name.startswith("locality") else 1.4
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{wide}"/>')
    return "\n".join(out)


def svg(values, names, caption):
    """values[(run, metric, bytes, unit)][name] = numbers; figures without a size are left out."""
    charts = {}
    for (run, metric, size, unit), found in values.items():
        if size == 0 or metric == "rate":
            continue
        series = charts.setdefault((run, metric, unit), {})
        for name in names:
            if found.get(name):
                series.setdefault(name, []).append((size, statistics.median(found[name])))
    charts = {key: series for key, series in charts.items() if series}
    rows = math.ceil(len(charts) / COLUMNS)
    width, height = COLUMNS * WIDTH, rows * HEIGHT + 50
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="10">',
           "<style>.t{text-anchor:middle;font-size:12px;font-weight:bold}.x{text-anchor:middle}"
           ".y{text-anchor:end}.box{fill:none;stroke:#888}.grid{stroke:#ddd}</style>",
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="12" y="18">{escape(caption)}</text>']
    for number, name in enumerate(names):
        out.append(f'<rect x="{12 + 110 * number}" y="26" width="18" height="6" '
                   f'fill="{COLOURS.get(name, "#555")}"/>'
                   f'<text x="{34 + 110 * number}" y="33">{escape(name)}</text>')
    for number, ((run, metric, unit), series) in enumerate(charts.items()):
        left, top = number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT + 44
        out.append(chart(f"{metric}, {run}", unit, series, left, top))
    return "\n".join(out) + "\n</svg>\n"
