// SPDX-License-Identifier: BSD-3-Clause
// Which transports UCX has chosen for a connection, read from what it prints for people: the API has no other
// way before 1.14. What is not understood is left out.
#pragma once

#include <string>
#include <string_view>

namespace vicinity::channel::ucx {

// "rc_verbs/mlx5_0:1, ud_verbs/mlx5_0:1" of the text of ucp_ep_print_info(): each once, in its order.
std::string lanes_in(std::string_view text);

}  // namespace vicinity::channel::ucx
