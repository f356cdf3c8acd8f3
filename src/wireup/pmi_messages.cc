// SPDX-License-Identifier: BSD-3-Clause
// Building and checking messages by their shapes.
#include "wireup/pmi_messages.h"

namespace vicinity::wireup {

using base::fail;
using base::kOther;
using base::Status;

Message make_message(const char* command, const FieldNames& names,
                     std::initializer_list<std::string_view> values) {
  Message message{command, {}};
  size_t i = 0;
  for (std::string_view value : values) {
    if (i == names.size() || !names[i]) break;
    message.fields.push_back({names[i++], std::string(value)});
  }
  return message;
}

Status check_request(const Shape& shape, const Message& request) {
  for (const char* name : shape.asked)
    if (name && !request.find(name))
      return fail(kOther, "PMI request `%s` lacks the field `%s`", shape.request, name);
  return base::kOk;
}

Status check_reply(const Shape& shape, const Message& reply) {
  if (reply.command != shape.reply)
    return fail(kOther, "the launcher answered `%s` with `%.40s` instead of `%s`", shape.request,
                reply.command.c_str(), shape.reply);
  if (const std::string* rc = reply.find("rc"); rc && *rc != "0") {
    const std::string* text = reply.find("msg");
    if (!text) text = reply.find("errmsg");
    return fail(kOther, "the launcher refused `%s`: %.200s (rc=%.20s)", shape.request,
                text ? text->c_str() : "no reason given", rc->c_str());
  }
  for (const char* name : shape.answered)
    if (name && !reply.find(name) && std::string_view(name) != "rc")
      return fail(kOther, "the launcher's answer to `%s` lacks `%s`", shape.request, name);
  return base::kOk;
}

}  // namespace vicinity::wireup
