/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled by one mpicc, run on the library of another: uses what the ABI fixes. Prints "swap ok". */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                              \
        }                                                                              \
    } while (0)

static int rank, size;

/* Status: fields, private words that travel, count and cancelled. */
static void messages(void) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    double out[4] = {rank, 1, 2, 3}, in[8] = {0};
    MPI_Status status, copies[2];
    MPI_Request requests[2];
    int count = -1, flag = -1;
    MPI_Count large = -1;
    MPI_Sendrecv(out, 4, MPI_DOUBLE, next, 7, in, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
    CHECK(status.MPI_SOURCE == before && status.MPI_TAG == 7 && in[0] == before);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    MPI_Get_count_c(&status, MPI_INT, &large);
    MPI_Test_cancelled(&status, &flag);
    CHECK(count == 4 && large == 8 && !flag);
    MPI_Irecv(in, 8, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 4, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, copies);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    CHECK(copies[0].MPI_SOURCE == before);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
}

static void own_sum(void *in, void *inout, int *length, MPI_Datatype *type) {
    if (*type != MPI_INT) abort();
    for (int i = 0; i < *length; ++i) ((int *)inout)[i] += ((int *)in)[i];
}

static void collectives(void) {
    int mine = rank + 1, sum = 0, all = size * (size + 1) / 2;
    struct { double value; int place; } pair = {rank, rank}, largest;
    MPI_Op op;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == all);
    sum = mine;
    MPI_Op_create(own_sum, 1, &op);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    CHECK(sum == all && op == MPI_OP_NULL);
    MPI_Allreduce(&pair, &largest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(largest.place == size - 1);
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void datatypes(void) {
    int numbers[6] = {0, 1, 2, 3, 4, 5}, picked[3] = {0}, integers, addresses, types, combiner;
    MPI_Datatype every_second;
    MPI_Aint lb, extent;
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Type_get_extent(every_second, &lb, &extent);
    CHECK(lb == 0 && extent == 5 * (MPI_Aint)sizeof(int));
    MPI_Type_get_envelope(every_second, &integers, &addresses, &types, &combiner);
    CHECK(combiner == MPI_COMBINER_VECTOR && integers == 3 && types == 1);
    MPI_Sendrecv(numbers, 1, every_second, rank, 0, picked, 3, MPI_INT, rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(picked[1] == 2 && picked[2] == 4);
    MPI_Type_free(&every_second);
    CHECK(every_second == MPI_DATATYPE_NULL);
}

static void communicators(void) {
    MPI_Comm half;
    MPI_Group group;
    int result, *upper, flag, keyval, value = 5, *found = NULL;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_compare(MPI_COMM_WORLD, half, &result);
    CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    MPI_Comm_group(half, &group);
    MPI_Group_free(&group);
    CHECK(group == MPI_GROUP_NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(half, keyval, &value);
    MPI_Comm_get_attr(half, keyval, &found, &flag);
    CHECK(flag && found == &value);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
    CHECK(flag && *upper >= 32767);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &result);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(half)) == half);
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_free(&half);
    CHECK(half == MPI_COMM_NULL && keyval == MPI_KEYVAL_INVALID);
}

static int calls;
static void handler(MPI_Comm *comm, int *code, ...) {
    if (*comm == MPI_COMM_WORLD && *code != MPI_SUCCESS) ++calls;
}

static void errors(void) {
    MPI_Errhandler errhandler;
    char text[MPI_MAX_ERROR_STRING];
    int code, error_class, length;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Send(NULL, 0, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &error_class);
    CHECK(error_class == MPI_ERR_RANK);
    MPI_Error_string(code, text, &length);
    CHECK(length > 0 && (int)strlen(text) == length);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    MPI_Errhandler_free(&errhandler);
    MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    CHECK(calls == 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    int provided, major, minor, flag;
    char value[32];
    int length = sizeof value;
    MPI_Info info;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided >= MPI_THREAD_FUNNELED);
    MPI_Abi_get_version(&major, &minor);
    CHECK(major == MPI_ABI_VERSION);
    messages();
    collectives();
    datatypes();
    communicators();
    errors();
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_get_string(info, "key", &length, value, &flag);
    CHECK(flag && strcmp(value, "value") == 0);
    MPI_Info_free(&info);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        char version[MPI_MAX_LIBRARY_VERSION_STRING];
        MPI_Get_library_version(version, &length);
        version[strcspn(version, "\n")] = 0;
        printf("swap ok: %d ranks on %.60s\n", size, version);
    }
    MPI_Finalize();
    return 0;
}
