# SPDX-License-Identifier: BSD-3-Clause
"""The MPI API as data: reads spec/mpi/*.txt and spec/abi/*.txt (formats in spec/README.md)."""

import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent

# Chapters in the order of the standard, with their titles in the coverage table.
CHAPTERS = {
    "p2p": "Point-to-point, partitioned, completion (3, 4)",
    "datatype": "Datatypes and packing (5)",
    "coll": "Blocking collectives (6)",
    "op": "Reduction operations (6.9)",
    "coll_nonblocking": "Nonblocking collectives (6.12)",
    "coll_persistent": "Persistent collectives (6.13)",
    "group": "Groups (7.3)",
    "comm": "Communicators, attributes, names (7)",
    "topology": "Process topologies (8)",
    "neighbor": "Neighbourhood collectives (8.6 to 8.8)",
    "errors": "Error handlers, classes, codes (9.3 to 9.5)",
    "environment": "Environment, init, sessions, ABI (9, 11, 20)",
    "info": "Info (10)",
    "dynamic": "Dynamic processes (11.8 to 11.11)",
    "rma": "One-sided (12)",
    "io": "Files (14)",
    "tools": "Tools interface (15)",
    "convert": "Integer handles (19, 20)",
}

# Kinds of handles that are references inside the library: C type -> class in vicinity::object.
OBJECTS = {
    "MPI_Comm": "Communicator", "MPI_Group": "Group", "MPI_Datatype": "Datatype", "MPI_Op": "Op",
    "MPI_Errhandler": "Errhandler", "MPI_Info": "Info", "MPI_Win": "Window",
}
NULLS = {
    "MPI_Comm": "MPI_COMM_NULL", "MPI_Group": "MPI_GROUP_NULL", "MPI_Datatype": "MPI_DATATYPE_NULL",
    "MPI_Op": "MPI_OP_NULL", "MPI_Errhandler": "MPI_ERRHANDLER_NULL", "MPI_Info": "MPI_INFO_NULL",
    "MPI_Win": "MPI_WIN_NULL",
}


@dataclasses.dataclass
class Parameter:
    name: str
    direction: str          # in, out, inout
    kind: str
    small: str              # C type of one element in the plain form, and in the _c form
    wide: str
    array: bool = False
    length: str = ""        # name of the parameter, or the constant, that is the length of the array
    rows: str = ""          # second dimension
    const: bool = False
    large: bool = False     # differs between the two forms
    large_only: bool = False

    @property
    def pointer(self):
        """Does the C type gain a * because the parameter is an output?"""
        itself = self.array or self.small.endswith("*") or self.kind == "VARARGS"
        return self.direction != "in" and not itself

    def declaration(self, wide=False):
        """As in a prototype of mpi.h."""
        if self.kind == "VARARGS":
            return "..."
        base = self.wide if wide else self.small
        const = "const " if self.const or self.kind == "PROFILE_LEVEL" else ""
        stars = base[len(base.rstrip("*")):] + ("*" if self.is_indirect else "")
        brackets = ""
        if self.array and self.kind != "STRING":
            brackets = "[]" + (f"[{self.rows}]" if self.rows else "")
        return f"{const}{base.rstrip('*')} {stars}{self.name}{brackets}"

    @property
    def object(self):
        """The class in vicinity::object behind this handle; None if the library takes it as it is."""
        raw = self.array or self.kind.startswith(("PEER_", "UNCHECKED_"))
        return None if raw else OBJECTS.get(self.small)

    @property
    def is_indirect(self):
        return self.pointer or self.kind == "STATUS" and not self.array or self.kind.startswith("FUNCTION:")

    def c_type(self, wide=False):
        """As declaration(), but only the type, arrays as pointers."""
        base = self.wide if wide else self.small
        const = "const " if self.const else ""
        if self.rows:
            return f"{const}{base} (*)[{self.rows}]"
        array = self.array and self.kind != "STRING"
        return f"{const}{base}" + ("*" if self.is_indirect or array else "")


@dataclasses.dataclass
class Function:
    name: str               # MPI_Send
    room: str
    chapter: str
    flags: dict = dataclasses.field(default_factory=dict)
    parameters: list = dataclasses.field(default_factory=list)
    returns: str = "int"

    @property
    def key(self):
        return self.name.removeprefix("MPI_").removeprefix("MPIX_").lower()

    @property
    def entry(self):
        return self.flags.get("as", self.key)

    def has(self, flag):
        return flag in self.flags

    @property
    def large(self):
        return any(p.large for p in self.parameters)

    @property
    def forms(self):
        """(name, wide?) of each C function that this entry describes."""
        return [(self.name, False)] + ([(self.name + "_c", True)] if self.large else [])

    def of_form(self, wide):
        return [p for p in self.parameters if wide or not p.large_only]


def sections(path):
    """Yields (title, line) of a file whose parts start with [title]; comments and blank lines left out."""
    title = ""
    for line in path.read_text().splitlines():
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            title = line.strip("[]") if line != "[...]" else "..."
        else:
            yield title, line


def load_kinds(folder=HERE / "mpi"):
    kinds = {}
    for title, line in sections(folder / "kinds.txt"):
        types = title.split()
        for kind in line.split():
            kinds[kind] = (types[0], types[-1])
    return kinds


def parse_parameter(line, kinds, where):
    match = re.fullmatch(r"\s+(\w+)(?:\[(\w*)\])?(?:\[(\w+)\])?(\*?)\s+(in|out|inout)\s+(\S+)((?: \w+)*)",
                         line)
    if not match:
        raise ValueError(f"{where}: cannot read parameter `{line.strip()}`")
    name, length, rows, star, direction, kind, words = match.groups()
    if kind.startswith("FUNCTION:"):
        small = kind.removeprefix("FUNCTION:")
        wide = small + "_c" if star else small
    elif kind + star in kinds:
        small, wide = kinds[kind + star]
    else:
        raise ValueError(f"{where}: unknown kind {kind + star}")
    flags = words.split()
    return Parameter(name, direction, kind, small, wide, length is not None, length or "", rows or "",
                     "const" in flags, bool(star), "large_only" in flags)


def load_chapter(path, kinds):
    functions = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            functions[-1].parameters.append(parse_parameter(line, kinds, where))
            continue
        match = re.fullmatch(r"(MPIX?_\w+) -> (\w+)((?: [\w=.]+)*)", line)
        if not match:
            raise ValueError(f"{where}: cannot read function `{line}`")
        flags = dict((flag.split("=") + [""])[:2] for flag in match[3].split())
        returns = kinds[flags.pop("returns")][0] if "returns" in flags else "int"
        functions.append(Function(match[1], match[2], path.stem, flags, [], returns))
        if returns != "int" or match[1].endswith("_toint"):
            functions[-1].flags["raw"] = ""
    return functions


def load(folder=HERE / "mpi"):
    """All functions, chapters in the order of the standard."""
    kinds = load_kinds(folder)
    return [f for chapter in CHAPTERS for f in load_chapter(folder / f"{chapter}.txt", kinds)]


def load_extensions():
    """The functions of include/mpi-ext.h, which are not in the standard."""
    return load_chapter(HERE / "mpix.txt", load_kinds())
