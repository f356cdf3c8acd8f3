# SPDX-License-Identifier: BSD-3-Clause
# Rooms: each folder of src/ is one static library, vicinity_<room>, and its unit tests.
#
#   vicinity_room(p2p SOURCES match.cc send.cc DEPENDS peer object)
#   vicinity_unit_test(p2p match_test.cc)        -> ctest name unit.p2p.match_test

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
find_package(Threads REQUIRED)
if(VICINITY_TESTS)
  find_package(GTest REQUIRED)
endif()

add_library(vicinity_flags INTERFACE)
target_compile_options(vicinity_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers
  $<$<BOOL:${VICINITY_WERROR}>:-Werror>)
if(VICINITY_SANITIZE)
  string(REPLACE ";" "," sanitizers "${VICINITY_SANITIZE}")
  # Compiling is most of the time of such a run: little optimisation, lines but no variables for the debugger.
  target_compile_options(vicinity_flags INTERFACE -fsanitize=${sanitizers} -fno-omit-frame-pointer -O1 -g1)
  target_link_options(vicinity_flags INTERFACE -fsanitize=${sanitizers})
endif()

# Optimising across rooms costs compile time, so only a release does it. Objects hold ordinary code too, which
# the unit tests link.
if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT VICINITY_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(lto_default ON)
else()
  set(lto_default OFF)
endif()
option(VICINITY_LTO "Optimise libmpi_abi across rooms when linking" ${lto_default})

# The inside of the library: no exceptions, no RTTI, nothing exported by accident.
add_library(vicinity_core_flags INTERFACE)
target_compile_options(vicinity_core_flags INTERFACE -fno-exceptions -fno-rtti -fvisibility=hidden
  -fvisibility-inlines-hidden $<$<BOOL:${VICINITY_LTO}>:-flto> $<$<BOOL:${VICINITY_LTO}>:-ffat-lto-objects>)
target_include_directories(vicinity_core_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(vicinity_core_flags INTERFACE vicinity_flags Threads::Threads)

function(vicinity_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(vicinity_${name} STATIC ${ROOM_SOURCES})
  target_link_libraries(vicinity_${name} PUBLIC vicinity_core_flags ${ROOM_LIBRARIES})
  # Entry headers (what the doors call) are generated before any room that defines them is compiled.
  if(TARGET vicinity_entries)
    add_dependencies(vicinity_${name} vicinity_entries)
    target_include_directories(vicinity_${name} PUBLIC ${CMAKE_BINARY_DIR}/generated)
  endif()
  foreach(dependency ${ROOM_DEPENDS})
    target_link_libraries(vicinity_${name} PUBLIC vicinity_${dependency})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY VICINITY_ROOMS vicinity_${name})
  set_property(GLOBAL APPEND PROPERTY VICINITY_ROOM_LIBRARIES ${ROOM_LIBRARIES})
endfunction()

function(vicinity_unit_test room source)
  cmake_parse_arguments(TEST "" "TIMEOUT" "DEPENDS" ${ARGN})
  if(NOT VICINITY_TESTS)
    return()
  endif()
  get_filename_component(stem ${source} NAME_WE)
  set(target unit_${room}_${stem})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE vicinity_${room} ${TEST_DEPENDS} vicinity_flags GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  if(VICINITY_LTO)
    target_link_options(${target} PRIVATE -fno-lto)
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 60)
  endif()
  if(VICINITY_SANITIZE)
    math(EXPR TEST_TIMEOUT "5 * ${TEST_TIMEOUT}")
  endif()
  add_test(NAME unit.${room}.${stem} COMMAND ${target})
  set_tests_properties(unit.${room}.${stem} PROPERTIES TIMEOUT ${TEST_TIMEOUT})
endfunction()
