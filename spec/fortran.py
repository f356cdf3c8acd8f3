# SPDX-License-Identifier: BSD-3-Clause
"""What the Fortran bindings make of the API (MPI 5.0, chapter 19): which functions there are, their types,
names and symbols. It follows from the kinds of the C description; what does not is in the tables below."""

import model

HANDLES = {"MPI_Comm", "MPI_Group", "MPI_Win", "MPI_File", "MPI_Session", "MPI_Message", "MPI_Info",
           "MPI_Errhandler", "MPI_Request", "MPI_Op", "MPI_Datatype"}
INTEGERS = {"int": "INTEGER", "MPI_Aint": "INTEGER(KIND=MPI_ADDRESS_KIND)",
            "MPI_Count": "INTEGER(KIND=MPI_COUNT_KIND)", "MPI_Offset": "INTEGER(KIND=MPI_OFFSET_KIND)"}
# Removed from the standard before mpi_f08 came.
NOT_IN_F08 = {"MPI_Attr_delete", "MPI_Attr_get", "MPI_Attr_put", "MPI_Keyval_create", "MPI_Keyval_free"}
# Parameters that Fortran does not have.
ONLY_C = {"ARGUMENT_COUNT", "ARGUMENT_LIST", "VARARGS"}
# Fortran's name where C had to take another one.
NAMES = {"indx": "index"}
# The glue of these is written by hand (bindings/fortran/special*.cc).
SPECIAL = set("""
    MPI_Abi_get_fortran_booleans MPI_Abi_set_fortran_booleans MPI_Aint_add MPI_Aint_diff MPI_Wtime MPI_Wtick
    MPI_Init MPI_Init_thread MPI_Pcontrol MPI_Info_create_env
    MPI_Comm_create_keyval MPI_Type_create_keyval MPI_Win_create_keyval MPI_Keyval_create
    MPI_Comm_set_attr MPI_Type_set_attr MPI_Win_set_attr MPI_Attr_put
    MPI_Comm_get_attr MPI_Type_get_attr MPI_Win_get_attr MPI_Attr_get
    MPI_Comm_create_errhandler MPI_Win_create_errhandler MPI_File_create_errhandler
    MPI_Session_create_errhandler MPI_Op_create MPI_Grequest_start MPI_Register_datarep
    MPI_Comm_spawn MPI_Comm_spawn_multiple
    """.split())
# Functions that are not subroutines, and their result.
RESULTS = {"MPI_Wtime": "DOUBLE PRECISION", "MPI_Wtick": "DOUBLE PRECISION",
           "MPI_Aint_add": INTEGERS["MPI_Aint"], "MPI_Aint_diff": INTEGERS["MPI_Aint"]}
# Large forms that have a name of their own, because the generic could not tell the procedures apart.
OWN_LARGE_NAME = {"MPI_Op_create", "MPI_Register_datarep"}
NO_IERROR = {"MPI_Pcontrol", *RESULTS}


def functions():
    """All functions that Fortran has."""
    return [f for f in model.load() if not f.name.startswith("MPI_T_") and f.chapter != "convert"]


def parameters(function, wide=False):
    if function.name == "MPI_Info_create_env":
        return [p for p in function.parameters if p.kind == "INFO"]
    return [p for p in function.of_form(wide) if p.kind not in ONLY_C]


def name(parameter):
    return NAMES.get(parameter.name, parameter.name)


def is_choice(parameter):
    return parameter.kind in ("BUFFER", "UNCHECKED_BUFFER")


def is_logical(parameter):
    return parameter.kind.startswith("LOGICAL")


def has_choice(function):
    return any(is_choice(p) for p in function.parameters)


def is_string(parameter):
    return parameter.kind in ("STRING", "STRING_ARRAY", "STRING_2DARRAY")


def symbol(function, f08=False, wide=False):
    """Without the leading `p` of a profiling name."""
    text = function.name.lower() + ("_c" if wide else "")
    if f08:
        text += "_f08ts" if has_choice(function) else "_f08"
    return text + "_"


def c_type(parameter, wide):
    return parameter.wide if wide else parameter.small


def large_in_f08(function):
    """The generic must be able to tell the large procedure from the plain one: some integer of default kind
    becomes wider (address and count kinds are the same here)."""
    if function.name in OWN_LARGE_NAME:
        return True
    return function.large and (any(p.large and p.small == "int" for p in parameters(function)) or
                               len(parameters(function)) != len(parameters(function, True)))


def dimensions(parameter):
    if parameter.rows:
        return f"({parameter.rows}, *)"
    if parameter.kind in ("STRING_ARRAY", "WEIGHTS") or parameter.array and parameter.kind != "STRING":
        return "(*)"
    return "(count, *)" if parameter.kind == "STRING_2DARRAY" else ""


def intent(parameter, f08):
    if is_choice(parameter) and not parameter.const or parameter.kind == "WEIGHTS":
        return ""
    if parameter.kind == "STATUS" and parameter.direction == "out" or parameter.kind.startswith("FUNCTION:"):
        return ""
    if not f08 and parameter.kind in ("ERROR_CODE",):
        return ""
    if parameter.array and parameter.direction == "out":
        return ""
    return {"in": ", INTENT(IN)", "out": ", INTENT(OUT)", "inout": ", INTENT(INOUT)"}[parameter.direction]


def stays_busy(function):
    """Are buffers and arrays in use after the call has returned? (MPI 5.0, 19.1.17)"""
    outputs = {p.kind for p in function.parameters if p.direction != "in"}
    return "REQUEST" in outputs or function.chapter in ("rma", "io") or function.name.endswith("_init")
