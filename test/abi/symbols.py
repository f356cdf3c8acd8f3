#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does libmpi_abi.so.1 export exactly the names of its list? symbols.py LIBRARY MAP"""

import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(library, map_file):
    with open(map_file, encoding="ascii") as file:
        wanted = set(re.findall(r"\b(?:P?MPIX?|vicinity)_\w+(?=;)", file.read()))
    listing = output("nm", "-D", "--defined-only", library).splitlines()
    found = {line.split()[-1] for line in listing}
    wrong = [f"missing: {name}" for name in sorted(wanted - found)]
    wrong += [f"exported by accident: {name}" for name in sorted(found - wanted)]
    place = {line.split()[-1]: line.split()[0] for line in listing}
    wrong += [f"P{name} is something else" for name in sorted(wanted & found)
              if name.startswith(("MPI", "PMPI")) and place.get("P" + name, place[name]) != place[name]]
    used = set(re.findall(r"\b(P?MPIX?_\w+)", output("readelf", "-rW", library)))
    wrong += [f"called from inside, where a tool would see it: {name}" for name in sorted(used)]
    dynamic = output("readelf", "-d", library)
    if "[libmpi_abi.so.1]" not in dynamic:
        wrong.append("the SONAME is not libmpi_abi.so.1")
    wrong += [f"needs {name}" for name in re.findall(r"NEEDED.*\[(lib(?:stdc|gcc)\S*)\]", dynamic)]
    standard = {name for name in wanted if name.startswith(("MPI_", "PMPI_"))}
    if len(standard) != 1328:
        wrong.append(f"the list has {len(standard)} names of the standard, not 2 * 664")
    print("\n".join(wrong[:20]) or f"{len(found)} symbols")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
