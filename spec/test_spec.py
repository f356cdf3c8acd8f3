#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the generator that need no compiler. `test_spec.py --accept` writes the golden files anew."""

import dataclasses
import pathlib
import re
import sys
import tempfile
import unittest

import doors
import entries
import header
import layout
import model
import reports

GOLDEN = model.HERE / "golden"
# One of each manner: blocking, completion, handles in and out, arrays, narrowing, unsupported, tools, raw...
TYPICAL = ["MPI_Send", "MPI_Recv", "MPI_Waitall", "MPI_Comm_split", "MPI_Comm_free", "MPI_Comm_get_name",
           "MPI_Type_indexed", "MPI_Get_count", "MPI_Pack", "MPI_Allgatherv", "MPI_Op_create", "MPI_Put",
           "MPI_File_read", "MPI_T_cvar_get_info", "MPI_Wtime", "MPI_Session_init", "MPI_Attr_get"]


def golden_text(function):
    """Everything that is generated for one function."""
    parts = []
    for name, wide in function.forms:
        parts.append(header.prototype(function, name, wide))
        if not function.has("unsupported"):
            parts.append(entries.declaration(function, wide))
        parts.append(doors.door(function, name, wide))
    return "\n".join(parts)


def parse(text, chapter="p2p"):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{chapter}.txt"
        path.write_text(text)
        return model.load_chapter(path, model.load_kinds())


class Data(unittest.TestCase):
    def setUp(self):
        self.functions = model.load()

    def test_all_functions_of_the_abi_are_there(self):
        names = reports.names(self.functions)
        self.assertEqual(len(self.functions), 503)
        self.assertEqual(len(names), 664)
        self.assertEqual(len(set(names)), 664)
        self.assertFalse([name for name in names if re.search(r"_(c2f|f2c|f08)", name)])

    def test_every_alias_names_an_entry_with_the_same_types(self):
        by_key = {f.key: f for f in self.functions}
        for function in self.functions:
            if not function.has("as"):
                continue
            target = by_key[function.entry]
            mine = [re.sub(r"MPI_(Comm_)?(copy|delete)(_attr)?_function|MPI_(Copy|Delete)_function", "FN",
                           entries.entry_type(function, p), flags=re.I) for p in function.parameters]
            theirs = [re.sub(r"MPI_(Comm_)?(copy|delete)(_attr)?_function", "FN",
                             entries.entry_type(target, p), flags=re.I) for p in target.parameters]
            self.assertEqual(mine, theirs, function.name)

    def test_lengths_of_arrays_are_known(self):
        for function in self.functions:
            names = {p.name for p in function.parameters}
            for p in function.parameters:
                if p.length and not p.length.startswith("MPI_MAX_"):
                    self.assertIn(p.length, names, f"{function.name} {p.name}")

    def test_flags_are_known(self):
        known = {"unsupported", "raw", "anytime", "unlocked", "tool", "named", "as", "deprecated",
                 "rooted"}
        for function in self.functions:
            self.assertLessEqual(set(function.flags), known, function.name)

    def test_constants_have_one_value_each(self):
        seen = set()
        for file in ("integers", "errors", "handles", "datatypes", "pointers"):
            for _, line in model.sections(model.HERE / "abi" / f"{file}.txt"):
                name, _ = line.split()
                self.assertNotIn(name, seen)
                seen.add(name)


class Parsing(unittest.TestCase):
    def test_parameter(self):
        function, = parse("MPI_X -> p2p unlocked as=y\n    counts[n]*  in  XFER_NUM_ELEM_NNI const\n"
                          "    n  in  ARRAY_LENGTH\n")
        p = function.parameters[0]
        self.assertEqual((p.name, p.length, p.large, p.const), ("counts", "n", True, True))
        self.assertEqual(p.declaration(), "const int counts[]")
        self.assertEqual(p.declaration(wide=True), "const MPI_Count counts[]")
        self.assertEqual(function.entry, "y")
        self.assertEqual(function.forms, [("MPI_X", False), ("MPI_X_c", True)])

    def test_errors_name_file_and_line(self):
        for text, message in (("MPI_X -> p2p\n    a in NOSUCHKIND\n", "p2p.txt:2: unknown kind NOSUCHKIND"),
                              ("MPI_X p2p\n", "p2p.txt:1: cannot read function"),
                              ("MPI_X -> p2p\n    a sideways INDEX\n", "p2p.txt:2: cannot read parameter")):
            with self.assertRaisesRegex(ValueError, re.escape(message)):
                parse(text)


class Doors(unittest.TestCase):
    def setUp(self):
        self.functions = {f.name: f for f in model.load()}

    def test_golden(self):
        for name in TYPICAL:
            self.assertEqual((GOLDEN / f"{name}.txt").read_text(), golden_text(self.functions[name]), name)

    def test_no_door_is_long(self):
        for function in self.functions.values():
            for name, wide in function.forms:
                text = doors.door(function, name, wide)
                self.assertLessEqual(text.count("\n"), 22, name)
                self.assertLessEqual(max(map(len, text.splitlines())), layout.COLUMNS, name)

    def test_the_communicator_is_checked_first(self):
        checks = doors.checks(self.functions["MPI_Send"])
        self.assertEqual(checks[0], "door.running()")
        self.assertIn("handle(comm,", checks[1])

    def test_collectives_leave_counts_and_types_to_their_entry(self):
        self.assertEqual(len(doors.checks(self.functions["MPI_Bcast"])), 2)

    def test_unsupported_functions_have_no_entry(self):
        port = dataclasses.replace(self.functions["MPI_Open_port"], flags={"unsupported": None})
        functions = {**self.functions, port.name: port}
        self.assertNotIn("open_port", entries.render(list(functions.values()), port.room))
        self.assertIn("door.unsupported()", doors.door(port, "MPI_Open_port", False))

    def test_files_report_to_the_handler_of_files(self):
        self.assertEqual(doors.finish(self.functions["MPI_File_read"]), "door.finish_file(fh)")
        self.assertEqual(doors.finish(self.functions["MPI_File_delete"]), "door.finish_file(MPI_FILE_NULL)")


class Layout(unittest.TestCase):
    def test_fold(self):
        line = "  int f(" + ", ".join(["argument"] * 20) + ");"
        folded = layout.fold(line, 4)
        self.assertLessEqual(max(map(len, folded.splitlines())), layout.COLUMNS)
        self.assertEqual(re.sub(r"\s+", " ", folded), re.sub(r"\s+", " ", line))


if __name__ == "__main__":
    if sys.argv[1:] == ["--accept"]:
        for each in model.load():
            if each.name in TYPICAL:
                (GOLDEN / f"{each.name}.txt").write_text(golden_text(each))
    else:
        unittest.main()
