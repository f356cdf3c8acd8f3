#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One-time import of the MPI Forum's dataset (PyPI pympistandard, data/apis.json) into spec/mpi/*.txt.

The text files are the truth from then on; run this again only to take over a new version of the dataset, and
review the difference. What the dataset does not say (room, entry, checks that depend on the place of a
parameter) is decided here, in the tables below.

    python3 spec/import.py path/to/apis.json
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent

# First match wins: pattern on the name without MPI_, in lower case -> chapter file, room, flags.
PLACES = [
    (r"t_.*", "tools", "world", "anytime tool"),
    (r".*_(to|from)int", "convert", "world", "raw anytime"),
    (r"(win|file)_(create|get|set|call)_errhandler", "errors", "world", ""),
    (r"win_((create|free)_keyval)", "rma", "world", ""),
    (r"(comm|session)_(create|get|set|call)_errhandler|errhandler_free|.*error_(class|code|string)",
     "errors", "world", ""),
    (r"win_.*|r?(put|get)|(r?get_)?r?accumulate|fetch_and_op|compare_and_swap", "rma", "rma", "unsupported"),
    (r"file_.*|register_datarep", "io", "io", "unsupported"),
    (r"comm_(accept|connect|join|spawn|spawn_multiple)|(open|close)_port|(un)?publish_name|lookup_name",
     "dynamic", "world", "unsupported"),
    (r"comm_(disconnect|get_parent)", "dynamic", "world", ""),
    (r"i?neighbor_.*", "neighbor", "coll", "unsupported"),
    (r"(allgatherv?|allreduce|alltoall[vw]?|barrier|bcast|exscan|gatherv?|reduce|reduce_scatter|"
     r"reduce_scatter_block|scan|scatterv?)_init", "coll_persistent", "coll", "unsupported"),
    (r"i(allgatherv?|allreduce|alltoall[vw]?|barrier|bcast|exscan|gatherv?|reduce|reduce_scatter|"
     r"reduce_scatter_block|scan|scatterv?)", "coll_nonblocking", "coll", "unsupported"),
    (r"allgatherv?|allreduce|alltoall[vw]?|barrier|bcast|exscan|gatherv?|reduce|reduce_scatter|"
     r"reduce_scatter_block|scan|scatterv?", "coll", "coll", ""),
    (r"aint_.*|get_address", "datatype", "object", "anytime unlocked"),
    (r"type_.*|(un)?pack.*|get_elements.*", "datatype", "object", ""),
    (r"op_.*|reduce_local", "op", "object", ""),
    (r"info_.*", "info", "world", "anytime"),
    (r"group_.*", "group", "world", ""),
    (r"(comm|session|buffer)_(attach|detach|flush|iflush)(_buffer)?|buffer_.*", "p2p", "p2p", ""),
    (r"attr_.*|keyval_.*|comm_.*|intercomm_.*", "comm", "world", ""),
    (r"cart.*|graph.*|dist_graph.*|topo_test|dims_create", "topology", "world", ""),
    (r"session_.*|init.*|finalize.*|abort|query_thread|is_thread_main|"
     r"get_(version|library_version|hw_resource_info|processor_name)|abi_.*|wtime|wtick|"
     r"pcontrol|(alloc|free)_mem", "environment", "world", ""),
    (r".*", "p2p", "p2p", ""),
]

# Flags of single functions, beside those of their place.
FLAGS = {
    "anytime unlocked": "init init_thread initialized finalized get_version get_library_version "
                        "abi_get_version wtime wtick session_init session_create_errhandler".split(),
    "anytime": "errhandler_free error_class error_string add_error_class add_error_code add_error_string "
               "remove_error_class remove_error_code remove_error_string abi_get_info abi_get_fortran_info "
               "abi_set_fortran_info abi_get_fortran_booleans abi_set_fortran_booleans "
               "session_call_errhandler get_hw_resource_info".split(),
    "unlocked": "finalize comm_rank comm_size comm_remote_size comm_test_inter get_count get_elements "
                "get_elements_x test_cancelled abort session_finalize "
                # These take the engine lock only where the memory is not mapped here.
                "put get accumulate get_accumulate fetch_and_op compare_and_swap win_flush win_flush_all "
                "win_flush_local win_flush_local_all".split(),
    "raw": "op_create type_get_contents type_get_envelope pcontrol wtime wtick".split(),
    "named": "comm_get_name type_get_name".split(),
}
# Functions that only give another one an older or a wider signature: they call its entry.
SAME_AS = {
    "attr_put": "comm_set_attr", "attr_get": "comm_get_attr", "attr_delete": "comm_delete_attr",
    "keyval_create": "comm_create_keyval", "keyval_free": "comm_free_keyval", "type_size_x": "type_size",
    "type_get_extent_x": "type_get_extent", "type_get_true_extent_x": "type_get_true_extent",
    "get_elements_x": "get_elements", "status_set_elements_x": "status_set_elements",
}
DEPRECATED = {"2.0": "attr_put attr_get attr_delete keyval_create keyval_free".split(),
              "4.0": "info_get info_get_valuelen".split(),
              "4.1": "get_elements_x status_set_elements_x type_get_extent_x type_get_true_extent_x "
                     "type_size_x".split()}
# Names of parameters that the ABI header spells otherwise.
RENAMED = {"index": "indx", "pe_session": "session", "err": "error"}


def place(key):
    for pattern, chapter, room, flags in PLACES:
        if re.fullmatch(pattern, key):
            return chapter, room, flags.split()
    raise SystemExit(f"no place for {key}")


def flags_of(key, flags):
    found = list(flags)
    for names, keys in FLAGS.items():
        if key in keys:
            found += names.split()
    if key.startswith("status_"):
        found.append("unlocked")
    found += [f"as={SAME_AS[key]}"] if key in SAME_AS else []
    found += [f"deprecated={version}" for version, keys in DEPRECATED.items() if key in keys]
    return list(dict.fromkeys(found))


def kind_of(key, parameter, room, names):
    """The kind, made more precise where the dataset leaves the check to the reader."""
    kind = parameter["kind"].removeprefix("POLY")
    name = parameter["name"]
    if kind in ("FUNCTION", "FUNCTION_SMALL"):
        return f"FUNCTION:{parameter['func_type']}"
    scalar_in = parameter["length"] is None and parameter["param_direction"] == "in"
    if kind == "RANK" and scalar_in and "comm" in names and room == "p2p":
        return "DEST" if name == "dest" or key == "precv_init" else "SOURCE"
    if kind == "RANK" and scalar_in and name == "rank" and room == "world":
        return "MEMBER"
    if kind == "TAG" and scalar_in and key != "precv_init" and (
            name == "recvtag" or ("source" in names and name == "tag")):
        return "RECV_TAG"
    if scalar_in and room == "p2p" and kind == "XFER_NUM_ELEM":
        return "XFER_NUM_ELEM_NNI"
    if scalar_in and kind == "DTYPE_NUM_ELEM" and name in ("incount", "outcount"):
        return "DTYPE_NUM_ELEM_NNI"
    return kind


def parameter_line(key, parameter, room, names):
    kind = kind_of(key, parameter, room, names)
    large = "*" if parameter["kind"].startswith("POLY") or key in ("psend_init", "precv_init") and \
        parameter["name"] == "count" else ""
    length, name = parameter["length"], RENAMED.get(parameter["name"], parameter["name"])
    suffix = ""
    if isinstance(length, list):
        suffix = f"[{length[0]}][{length[1]}]"
    elif length is not None and not (kind == "STRING" and parameter["constant"]) and kind not in (
            "ARGUMENT_LIST", "STRING_2DARRAY"):
        suffix = f"[{'' if length == '*' else length}]"
    direction = parameter["param_direction"]
    if key == "info_create_env" and kind.startswith("ARGUMENT_"):
        kind, direction = {"ARGUMENT_COUNT": "ARRAY_LENGTH_NNI", "ARGUMENT_LIST": "STRING_ARRAY"}[kind], "in"
        suffix = ""
    if key == "cancel" or parameter["pointer"] and kind == "REQUEST":
        direction = "inout"
    words = [f"    {name + suffix + large:31} {direction:5} {kind}"]
    words += ["const"] if parameter["constant"] and kind not in ("PROFILE_LEVEL",) else []
    words += ["large_only"] if parameter["large_only"] else []
    return " ".join(words)


def function_text(function):
    key = function["name"].lower().removeprefix("mpi_")
    chapter, room, flags = place(key)
    parameters = [p for p in function["parameters"] if "c_parameter" not in p["suppress"]]
    names = [p["name"] for p in parameters]
    result = "" if function["return_kind"] == "ERROR_CODE" else f" returns={function['return_kind']}"
    head = " ".join([function["name"], "->", room, *flags_of(key, flags)]) + result
    return chapter, "\n".join([head, *(parameter_line(key, p, room, names) for p in parameters)])


def main(path):
    chapters = {}
    for function in json.loads(pathlib.Path(path).read_text()).values():
        attributes = function["attributes"]
        if attributes["callback"] or attributes["predefined_function"] or not attributes["c_expressible"]:
            continue
        if re.search(r"_(c2f|f2c|c2f08|f082c|f082f|f2f08)$", function["name"]):
            continue  # not in the ABI; *_toint and *_fromint take their place
        chapter, text = function_text(function)
        chapters.setdefault(chapter, []).append(text)
    for chapter, texts in chapters.items():
        header = "# SPDX-License-Identifier: BSD-3-Clause\n" \
            "# Functions of this chapter; the format is in spec/README.md.\n"
        (HERE / "mpi" / f"{chapter}.txt").write_text(header + "\n" + "\n\n".join(sorted(texts)) + "\n")
        print(f"{chapter}: {len(texts)}")


if __name__ == "__main__":
    main(sys.argv[1])
