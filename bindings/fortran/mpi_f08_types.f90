! SPDX-License-Identifier: BSD-3-Clause
! What the constants and interfaces of module mpi_f08 are made of: handle types with their comparisons, the
! status, kinds, and the interfaces of callbacks (MPI 5.0, 19.1.2 and A.1.3).
module mpi_f08_types
  use, intrinsic :: iso_c_binding, only : C_PTR
  implicit none
  private :: C_PTR

  include 'mpi_kinds.inc'

  type, bind(C) :: MPI_Status
    integer :: MPI_SOURCE
    integer :: MPI_TAG
    integer :: MPI_ERROR
    integer :: internal(5)
  end type MPI_Status

  type, bind(C) :: MPI_Comm
    integer :: MPI_VAL
  end type MPI_Comm

  type, bind(C) :: MPI_Group
    integer :: MPI_VAL
  end type MPI_Group

  type, bind(C) :: MPI_Win
    integer :: MPI_VAL
  end type MPI_Win

  type, bind(C) :: MPI_File
    integer :: MPI_VAL
  end type MPI_File

  type, bind(C) :: MPI_Session
    integer :: MPI_VAL
  end type MPI_Session

  type, bind(C) :: MPI_Message
    integer :: MPI_VAL
  end type MPI_Message

  type, bind(C) :: MPI_Info
    integer :: MPI_VAL
  end type MPI_Info

  type, bind(C) :: MPI_Errhandler
    integer :: MPI_VAL
  end type MPI_Errhandler

  type, bind(C) :: MPI_Request
    integer :: MPI_VAL
  end type MPI_Request

  type, bind(C) :: MPI_Op
    integer :: MPI_VAL
  end type MPI_Op

  type, bind(C) :: MPI_Datatype
    integer :: MPI_VAL
  end type MPI_Datatype

  interface operator(==)
    module procedure comm_equal, group_equal, win_equal, file_equal
    module procedure session_equal, message_equal, info_equal, errhandler_equal
    module procedure request_equal, op_equal, datatype_equal
  end interface
  private :: comm_equal, group_equal, win_equal, file_equal
  private :: session_equal, message_equal, info_equal, errhandler_equal
  private :: request_equal, op_equal, datatype_equal
  interface operator(/=)
    module procedure comm_differ, group_differ, win_differ, file_differ
    module procedure session_differ, message_differ, info_differ, errhandler_differ
    module procedure request_differ, op_differ, datatype_differ
  end interface
  private :: comm_differ, group_differ, win_differ, file_differ
  private :: session_differ, message_differ, info_differ, errhandler_differ
  private :: request_differ, op_differ, datatype_differ

  abstract interface
    subroutine MPI_User_function(invec, inoutvec, len, datatype)
      import
      type(C_PTR), value :: invec, inoutvec
      integer :: len
      type(MPI_Datatype) :: datatype
    end subroutine
    subroutine MPI_User_function_c(invec, inoutvec, len, datatype)
      import
      type(C_PTR), value :: invec, inoutvec
      integer(kind=MPI_COUNT_KIND) :: len
      type(MPI_Datatype) :: datatype
    end subroutine
    subroutine MPI_Grequest_query_function(extra_state, status, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      type(MPI_Status) :: status
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_free_function(extra_state, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
      import
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      logical :: complete
      integer :: ierror
    end subroutine
    subroutine MPI_Comm_copy_attr_function(oldcomm, comm_keyval, extra_state, attribute_val_in, &
        attribute_val_out, flag, ierror)
      import
      type(MPI_Comm) :: oldcomm
      integer :: comm_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine
    subroutine MPI_Comm_delete_attr_function(comm, comm_keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_Comm) :: comm
      integer :: comm_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine
    subroutine MPI_Type_copy_attr_function(oldtype, type_keyval, extra_state, attribute_val_in, &
        attribute_val_out, flag, ierror)
      import
      type(MPI_Datatype) :: oldtype
      integer :: type_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine
    subroutine MPI_Type_delete_attr_function(datatype, type_keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_Datatype) :: datatype
      integer :: type_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine
    subroutine MPI_Win_copy_attr_function(oldwin, win_keyval, extra_state, attribute_val_in, &
        attribute_val_out, flag, ierror)
      import
      type(MPI_Win) :: oldwin
      integer :: win_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine
    subroutine MPI_Win_delete_attr_function(win, win_keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_Win) :: win
      integer :: win_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine
    subroutine MPI_Comm_errhandler_function(comm, error_code)
      import
      type(MPI_Comm) :: comm
      integer :: error_code
    end subroutine
    subroutine MPI_Win_errhandler_function(win, error_code)
      import
      type(MPI_Win) :: win
      integer :: error_code
    end subroutine
    subroutine MPI_File_errhandler_function(file, error_code)
      import
      type(MPI_File) :: file
      integer :: error_code
    end subroutine
    subroutine MPI_Session_errhandler_function(session, error_code)
      import
      type(MPI_Session) :: session
      integer :: error_code
    end subroutine
    subroutine MPI_Datarep_extent_function(datatype, extent, extra_state, ierror)
      import
      type(MPI_Datatype) :: datatype
      integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
      integer :: ierror
    end subroutine
    subroutine MPI_Datarep_conversion_function(userbuf, datatype, count, filebuf, position, &
        extra_state, ierror)
      import
      type(C_PTR), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer :: count
      integer(kind=MPI_OFFSET_KIND) :: position
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine
    subroutine MPI_Datarep_conversion_function_c(userbuf, datatype, count, filebuf, position, &
        extra_state, ierror)
      import
      type(C_PTR), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer(kind=MPI_COUNT_KIND) :: count
      integer(kind=MPI_OFFSET_KIND) :: position
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine
  end interface

contains

  elemental logical function comm_equal(a, b)
    type(MPI_Comm), intent(in) :: a, b
    comm_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function group_equal(a, b)
    type(MPI_Group), intent(in) :: a, b
    group_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function win_equal(a, b)
    type(MPI_Win), intent(in) :: a, b
    win_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function file_equal(a, b)
    type(MPI_File), intent(in) :: a, b
    file_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function session_equal(a, b)
    type(MPI_Session), intent(in) :: a, b
    session_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function message_equal(a, b)
    type(MPI_Message), intent(in) :: a, b
    message_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function info_equal(a, b)
    type(MPI_Info), intent(in) :: a, b
    info_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function errhandler_equal(a, b)
    type(MPI_Errhandler), intent(in) :: a, b
    errhandler_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function request_equal(a, b)
    type(MPI_Request), intent(in) :: a, b
    request_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function op_equal(a, b)
    type(MPI_Op), intent(in) :: a, b
    op_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function datatype_equal(a, b)
    type(MPI_Datatype), intent(in) :: a, b
    datatype_equal = a%MPI_VAL == b%MPI_VAL
  end function

  elemental logical function comm_differ(a, b)
    type(MPI_Comm), intent(in) :: a, b
    comm_differ = a%MPI_VAL /= b%MPI_VAL
  end function

  elemental logical function group_differ(a, b)
    type(MPI_Group), intent(in) :: a, b
    group_differ = a%MPI_VAL /= b%MPI_VAL
  end function

  elemental logical function win_differ(a, b)
    type(MPI_Win), intent(in) :: a, b
    win_differ = a%MPI_VAL /= b%MPI_VAL
  end function

  elemental logical function file_differ(a, b)
    type(MPI_File), intent(in) :: a, b
    file_differ = a%MPI_VAL /= b%MPI_VAL
  end function

  elemental logical function session_differ(a, b)
    type(MPI_Session), intent(in) :: a, b
    session_differ = a%MPI_VAL /= b%MPI_VAL
  end function

  elemental logical function message_differ(a, b)
    type(MPI_Message), intent(in) :: a, b
    message_differ = a%MPI_VAL /= b%MPI_VAL
  end function

  elemental logical function info_differ(a, b)
    type(MPI_Info), intent(in) :: a, b
    info_differ = a%MPI_VAL /= b%MPI_VAL
  end function

  elemental logical function errhandler_differ(a, b)
    type(MPI_Errhandler), intent(in) :: a, b
    errhandler_differ = a%MPI_VAL /= b%MPI_VAL
  end function

  elemental logical function request_differ(a, b)
    type(MPI_Request), intent(in) :: a, b
    request_differ = a%MPI_VAL /= b%MPI_VAL
  end function

  elemental logical function op_differ(a, b)
    type(MPI_Op), intent(in) :: a, b
    op_differ = a%MPI_VAL /= b%MPI_VAL
  end function

  elemental logical function datatype_differ(a, b)
    type(MPI_Datatype), intent(in) :: a, b
    datatype_differ = a%MPI_VAL /= b%MPI_VAL
  end function

end module mpi_f08_types
