/* SPDX-License-Identifier: BSD-3-Clause */
/* An invalid argument of every kind: the right class, words that name the argument, no damage. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int line, int code, int wanted, const char *word) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, error_class = 0;
    MPI_Error_string(code, text, &length);
    MPI_Error_class(code, &error_class);
    if (error_class != wanted || !strstr(text, word)) {
        fprintf(stderr, "line %d: class %d, wanted %d with `%s`: %s\n", line, error_class, wanted, word,
                text);
        ++failures;
    }
}
#define EXPECT(call, wanted, word) expect(__LINE__, call, wanted, word)

int main(int argc, char **argv) {
    const MPI_Comm world = MPI_COMM_WORLD;
    int x = 0;
    char name[MPI_MAX_PORT_NAME];
    MPI_Comm other;
    MPI_Request request;
    MPI_Datatype type, stale;
    MPI_File file;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    EXPECT(MPI_Send(&x, 1, MPI_INT, 0, -5, world), MPI_ERR_TAG, "`tag` is -5");
    EXPECT(MPI_Send(&x, 1, MPI_INT, 1, 0, world), MPI_ERR_RANK, "`dest` is 1");
    EXPECT(MPI_Send(&x, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT, "`count` is -1");
    EXPECT(MPI_Send(NULL, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER, "`buf`");
    EXPECT(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, world), MPI_ERR_TYPE, "`datatype` is 0x200");
    EXPECT(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM, "`comm` is 0x100");
    EXPECT(MPI_Send(&x, 1, (MPI_Datatype)MPI_COMM_WORLD, 0, 0, world), MPI_ERR_TYPE, "another class");
    EXPECT(MPI_Recv(&x, 1, MPI_INT, -7, 0, world, MPI_STATUS_IGNORE), MPI_ERR_RANK, "`source` is -7");
    MPI_Type_contiguous(2, MPI_INT, &type);
    EXPECT(MPI_Isend(&x, 1, type, 0, 0, world, &request), MPI_ERR_TYPE, "MPI_Type_commit");
    stale = type;
    MPI_Type_free(&type);
    EXPECT(MPI_Type_size(stale, &x), MPI_ERR_TYPE, "freed");
    EXPECT(MPI_Type_commit(&stale), MPI_ERR_TYPE, "freed");
    EXPECT(MPI_Type_vector(-1, 1, 1, MPI_INT, &type), MPI_ERR_COUNT, "`count` is -1");
    EXPECT(MPI_Comm_split(world, 0, 0, NULL), MPI_ERR_ARG, "`newcomm`");
    EXPECT(MPI_Bcast(&x, 1, MPI_INT, 9, world), MPI_ERR_ROOT, "`root` is 9");
    EXPECT(MPI_Bcast(&x, -1, MPI_INT, 0, world), MPI_ERR_COUNT, "`count` is -1");
    EXPECT(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP, "`op` is 0x20");
    EXPECT(MPI_Group_incl(MPI_GROUP_NULL, 0, NULL, NULL), MPI_ERR_GROUP, "`group`");
    EXPECT(MPI_Info_set(MPI_INFO_NULL, "key", "value"), MPI_ERR_INFO, "`info`");
    EXPECT(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &x), MPI_ERR_ARG, "`status`");
    EXPECT(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "`array_of_requests`");
    EXPECT(MPI_Cart_coords(world, 5, 1, &x), MPI_ERR_RANK, "`rank` is 5");
    EXPECT(MPI_Errhandler_free(NULL), MPI_ERR_ARG, "`errhandler`");
    EXPECT(MPI_T_cvar_get_num(&x), MPI_T_ERR_NOT_INITIALIZED, "");
    /* Not implemented yet: said so, through the handler of the communicator. */
    EXPECT(MPI_Close_port("nowhere"), MPI_ERR_PORT, "port_name");
    EXPECT(MPI_Comm_join(-1, &other), MPI_ERR_ARG, "fd");
    /* Files and windows have handlers of their own. */
    EXPECT(MPI_File_open(world, "x", 0, MPI_INFO_NULL, &file), MPI_ERR_AMODE, "`amode` is 0");
    EXPECT(MPI_Win_free(&win), MPI_ERR_WIN, "`win`");
    if (MPI_Comm_get_name(MPI_COMM_NULL, name, &x) != MPI_SUCCESS || strcmp(name, "MPI_COMM_NULL") != 0)
        ++failures;
    MPI_Finalize();
    return failures != 0;
}
