// SPDX-License-Identifier: BSD-3-Clause
// ucx_abi.h against the installed headers of UCX (built only where there are some).
#include <gtest/gtest.h>
#include <ucp/api/ucp.h>

#include <type_traits>

#include "channel/ucx/ucx_abi.h"

namespace ours = vicinity::channel::ucx::abi;

#define SAME_PLACE(our_type, our_field, their_type, their_field)                                \
  static_assert(offsetof(ours::our_type, our_field) == offsetof(their_type, their_field) &&     \
                sizeof(ours::our_type::our_field) == sizeof(std::declval<their_type>().their_field))

SAME_PLACE(ContextParams, mask, ucp_params_t, field_mask);
SAME_PLACE(ContextParams, features, ucp_params_t, features);
SAME_PLACE(WorkerParams, mask, ucp_worker_params_t, field_mask);
SAME_PLACE(WorkerParams, thread_mode, ucp_worker_params_t, thread_mode);
SAME_PLACE(EndpointParams, mask, ucp_ep_params_t, field_mask);
SAME_PLACE(EndpointParams, address, ucp_ep_params_t, address);
SAME_PLACE(EndpointParams, error_mode, ucp_ep_params_t, err_mode);
SAME_PLACE(EndpointParams, on_error, ucp_ep_params_t, err_handler.cb);
SAME_PLACE(EndpointParams, on_error_arg, ucp_ep_params_t, err_handler.arg);
SAME_PLACE(RequestParam, mask, ucp_request_param_t, op_attr_mask);
SAME_PLACE(RequestParam, flags, ucp_request_param_t, flags);
SAME_PLACE(RequestParam, request, ucp_request_param_t, request);
SAME_PLACE(RequestParam, sent, ucp_request_param_t, cb.send);
SAME_PLACE(RequestParam, received, ucp_request_param_t, cb.recv_am);
SAME_PLACE(RequestParam, datatype, ucp_request_param_t, datatype);
SAME_PLACE(RequestParam, user, ucp_request_param_t, user_data);
SAME_PLACE(ArrivalParam, attributes, ucp_am_recv_param_t, recv_attr);
SAME_PLACE(ArrivalParam, reply, ucp_am_recv_param_t, reply_ep);
SAME_PLACE(HandlerParam, mask, ucp_am_handler_param_t, field_mask);
SAME_PLACE(HandlerParam, id, ucp_am_handler_param_t, id);
SAME_PLACE(HandlerParam, flags, ucp_am_handler_param_t, flags);
SAME_PLACE(HandlerParam, callback, ucp_am_handler_param_t, cb);
SAME_PLACE(HandlerParam, arg, ucp_am_handler_param_t, arg);
SAME_PLACE(GenericType, unpack, ucp_generic_dt_ops_t, unpack);
SAME_PLACE(GenericType, packed_size, ucp_generic_dt_ops_t, packed_size);
static_assert(sizeof(ours::GenericType) == sizeof(ucp_generic_dt_ops_t));

static_assert(sizeof(ucp_datatype_t) == sizeof(ours::Datatype));
static_assert(sizeof(ucs_status_t) == sizeof(ours::StatusCode) &&
              std::is_signed_v<std::underlying_type_t<ucs_status_t>>);
static_assert(ours::kContextFeatures == UCP_PARAM_FIELD_FEATURES &&
              ours::kFeatureWakeup == UCP_FEATURE_WAKEUP && ours::kFeatureActiveMessages == UCP_FEATURE_AM &&
              ours::kWorkerThreadMode == UCP_WORKER_PARAM_FIELD_THREAD_MODE &&
              ours::kSerialized == UCS_THREAD_MODE_SERIALIZED);
static_assert(ours::kEndpointAddress == UCP_EP_PARAM_FIELD_REMOTE_ADDRESS &&
              ours::kEndpointErrorMode == UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE &&
              ours::kEndpointErrorHandler == UCP_EP_PARAM_FIELD_ERR_HANDLER &&
              ours::kErrorModePeer == UCP_ERR_HANDLING_MODE_PEER &&
              ours::kCloseForce == UCP_EP_CLOSE_FLAG_FORCE);
static_assert(ours::kParamCallback == UCP_OP_ATTR_FIELD_CALLBACK &&
              ours::kParamUser == UCP_OP_ATTR_FIELD_USER_DATA &&
              ours::kParamDatatype == UCP_OP_ATTR_FIELD_DATATYPE &&
              ours::kParamFlags == UCP_OP_ATTR_FIELD_FLAGS && ours::kSendEager == UCP_AM_SEND_FLAG_EAGER &&
              ours::kSendRendezvous == UCP_AM_SEND_FLAG_RNDV);
static_assert(ours::kArrivalMayKeep == UCP_AM_RECV_ATTR_FLAG_DATA &&
              ours::kArrivalRendezvous == UCP_AM_RECV_ATTR_FLAG_RNDV &&
              ours::kHandlerId == UCP_AM_HANDLER_PARAM_FIELD_ID &&
              ours::kHandlerFlags == UCP_AM_HANDLER_PARAM_FIELD_FLAGS &&
              ours::kHandlerCallback == UCP_AM_HANDLER_PARAM_FIELD_CB &&
              ours::kHandlerArg == UCP_AM_HANDLER_PARAM_FIELD_ARG &&
              ours::kHandlerWholeMessage == UCP_AM_FLAG_WHOLE_MSG);
static_assert(ours::kOk == UCS_OK && ours::kInProgress == UCS_INPROGRESS &&
              ours::kNoResource == UCS_ERR_NO_RESOURCE && ours::kBusy == UCS_ERR_BUSY &&
              ours::kLastError == UCS_ERR_LAST);

TEST(UcxLayout, ErrorsAreToldFromRequests) {
  for (int status : {UCS_OK, UCS_ERR_NO_RESOURCE, UCS_ERR_CONNECTION_RESET}) {
    void* answer = UCS_STATUS_PTR(status);
    EXPECT_EQ(ours::is_error(answer), static_cast<bool>(UCS_PTR_IS_ERR(answer)));
    EXPECT_EQ(ours::error_of(answer), UCS_PTR_RAW_STATUS(answer));
  }
  EXPECT_TRUE(UCP_API_MAJOR == ours::kMajor && UCP_API_MINOR >= ours::kMinor);
}
