// SPDX-License-Identifier: BSD-3-Clause
// Tags of the messages of an exchange, on the file's own communicator.
#pragma once

namespace vicinity::io {

enum ExchangeTag : int { kHead = 1, kGroups, kData, kReply, kAnswer };

}  // namespace vicinity::io
