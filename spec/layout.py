# SPDX-License-Identifier: BSD-3-Clause
"""Breaks long lines of generated C and C++ behind commas and operators."""

import re

COLUMNS = 110


def fold(line, indent):
    """`line` in lines of at most COLUMNS columns, all but the first indented by `indent` more spaces."""
    if len(line) <= COLUMNS:
        return line
    margin = " " * (len(line) - len(line.lstrip()) + indent)
    lines, current = [], ""
    for piece in re.split(r"(?<=&&) " if "&&" in line else r"(?<=,) ", line):
        joined = f"{current} {piece}" if current else piece
        if current and len(joined) > COLUMNS:
            lines.append(current)
            current = margin + piece
        else:
            current = joined
    return "\n".join(lines + [current])
