#pragma once

namespace zmq {

class context_t {};
class message_t {};
class socket_t {};

}  // namespace zmq
