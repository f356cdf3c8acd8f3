// SPDX-License-Identifier: BSD-3-Clause
// Strings and sections: what is too long for glue.h.
#include "glue.h"

#include <algorithm>
#include <cstring>

namespace vicinity::fortran {
namespace {

size_t elements(const CFI_cdesc_t& section) {
  size_t count = 1;
  for (int i = 0; i < section.rank; ++i)
    count *= static_cast<size_t>(std::max<CFI_index_t>(section.dim[i].extent, 0));
  return count;
}

// Also for assumed-size arrays, whose last extent is -1.
bool contiguous(const CFI_cdesc_t& section) {
  auto expected = static_cast<CFI_index_t>(section.elem_len);
  for (int i = 0; i < section.rank; ++i) {
    const CFI_dim_t& dim = section.dim[i];
    if (dim.extent != 1 && dim.sm != expected) return dim.extent == 0;
    expected *= dim.extent;
  }
  return true;
}

// Calls visit(address) for the first `wanted` elements, in the order of the array.
template <class Visit>
void for_elements(const CFI_cdesc_t& section, size_t wanted, Visit&& visit) {
  CFI_index_t at[CFI_MAX_RANK] = {};
  char* address = static_cast<char*>(section.base_addr);
  for (size_t i = 0; i < wanted; ++i) {
    visit(address);
    for (int d = 0; d < section.rank; ++d) {
      address += section.dim[d].sm;
      if (++at[d] < section.dim[d].extent) break;
      address -= at[d] * section.dim[d].sm;
      at[d] = 0;
    }
  }
}

void gather(const CFI_cdesc_t& section, char* into) {
  for_elements(section, elements(section), [&](const char* from) {
    memcpy(into, from, section.elem_len);
    into += section.elem_len;
  });
}

void scatter(const char* from, const CFI_cdesc_t& section) {
  for_elements(section, elements(section), [&](char* into) {
    memcpy(into, from, section.elem_len);
    from += section.elem_len;
  });
}

// The error handler hears of it; if it returns, so do we.
int refuse(int error) {
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, error);
  return error;
}

int count_neighbours(MPI_Comm comm, int topology, bool sending) {
  int count = 0, rank = 0, in = 0, out = 0, weighted = 0;
  switch (topology) {
    case MPI_CART:
      PMPI_Cartdim_get(comm, &count);
      return 2 * count;
    case MPI_GRAPH:
      PMPI_Comm_rank(comm, &rank);
      PMPI_Graph_neighbors_count(comm, rank, &count);
      return count;
    case MPI_DIST_GRAPH:
      PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
      return sending ? out : in;
    default:
      return 0;
  }
}

// `count` times `datatype`, laid over the elements of a section with gaps. The datatype must be dense and
// cover whole elements, or be a whole number of times in one.
int lay(const CFI_cdesc_t& section, MPI_Count count, MPI_Datatype datatype, MPI_Datatype* made) {
  MPI_Count size = 0, lower = 0, extent = 0;
  PMPI_Type_size_c(datatype, &size);
  PMPI_Type_get_extent_c(datatype, &lower, &extent);
  const auto length = static_cast<MPI_Count>(section.elem_len);
  const bool fits = size == extent && lower == 0 && size > 0 && (size * count) % length == 0;
  const auto wanted = static_cast<size_t>(fits ? size * count / length : 0);
  if (!fits || wanted > elements(section)) return MPI_ERR_BUFFER;
  MPI_Datatype element = MPI_BYTE;
  const bool inside = length % size == 0;
  int code = PMPI_Type_contiguous_c(inside ? length / size : length, inside ? datatype : MPI_BYTE, &element);
  std::vector<MPI_Count> places;
  places.reserve(wanted);
  for_elements(section, wanted,
               [&](char* at) { places.push_back(at - static_cast<char*>(section.base_addr)); });
  if (code == MPI_SUCCESS)
    code = PMPI_Type_create_hindexed_block_c(static_cast<MPI_Count>(wanted), 1, places.data(), element, made);
  if (code == MPI_SUCCESS) code = PMPI_Type_commit(made);
  PMPI_Type_free(&element);
  return code;
}

}  // namespace

int partners(int comm) {
  const auto c = handle<MPI_Comm>(comm);
  int inter = 0, count = 0;
  if (c == MPI_COMM_NULL || PMPI_Comm_test_inter(c, &inter) != MPI_SUCCESS) return 0;
  inter ? PMPI_Comm_remote_size(c, &count) : PMPI_Comm_size(c, &count);
  return count;
}

int neighbours(int comm, bool sending) {
  const auto c = handle<MPI_Comm>(comm);
  int topology = MPI_UNDEFINED;
  if (c == MPI_COMM_NULL || PMPI_Topo_test(c, &topology) != MPI_SUCCESS) return 0;
  return count_neighbours(c, topology, sending);
}

Text::Text(const char* text, size_t size, bool drop_leading) {
  while (size > 0 && text[size - 1] == ' ') --size;
  while (drop_leading && size > 0 && *text == ' ') ++text, --size;
  text_.assign(text, size);
}

TextOut::TextOut(char* target, size_t size, int room)
    : target_(target), size_(size), buffer_(static_cast<size_t>(std::max(room, 1)) + 1) {
  buffer_[0] = '\x01';  // what C has not written starts so
}

void TextOut::store() {
  if (buffer_[0] == '\x01') return;
  const size_t length = std::min(strnlen(buffer_.data(), buffer_.size()), size_);
  memcpy(target_, buffer_.data(), length);
  memset(target_ + length, ' ', size_ - length);
}

Copied::Copied(const CFI_cdesc_t* section, bool written, int*)
    : section_(section), written_(written), address_(to_address(section->base_addr)) {
  if (address_ != section->base_addr || contiguous(*section)) return;
  copy_.resize(std::max<size_t>(elements(*section) * section->elem_len, 1));
  gather(*section, copy_.data());
  address_ = copy_.data();
}

Copied::~Copied() {
  if (written_ && !copy_.empty()) scatter(copy_.data(), *section_);
}

Section::Section(const CFI_cdesc_t* section, MPI_Count count, int datatype, int* code)
    : address_(to_address(section->base_addr)), count_(count), datatype_(handle<MPI_Datatype>(datatype)) {
  if (address_ != section->base_addr || contiguous(*section) || count <= 0) return;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int problem = lay(*section, count, datatype_, &made);
  if (problem != MPI_SUCCESS) {
    *code = refuse(problem);
    return;
  }
  made_ = true;
  count_ = 1;
  datatype_ = made;
}

Section::~Section() {
  if (made_) PMPI_Type_free(&datatype_);
}

Flat::Flat(const CFI_cdesc_t* section, int* code) : address_(to_address(section->base_addr)) {
  if (address_ == section->base_addr && !contiguous(*section)) *code = refuse(MPI_ERR_BUFFER);
}

}  // namespace vicinity::fortran
