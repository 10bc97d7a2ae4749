// The messages between the shim in pbs_server.bin and the policy service, over a stream socket: packets of
// the batch protocol's framing (ifl/packet.h), each with one message in DIS, which begins with its kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ifl/attribute.h"
#include "ifl/error.h"
#include "ifl/request.h"

namespace pbs::openpbs {

// ---- To the service.

// A request, with the server's findings about the requester.
struct Ask {
    enum class What : std::uint8_t {
        whole = 0,  // carry the request out and answer
        check = 1,  // report what would come of the request
        commit = 2  // the server has done its part: do ours, and answer
    };
    std::uint64_t ticket = 0;
    What what = What::whole;
    std::uint32_t privilege = 0;  // enum pbs_privilege
    std::string address;          // the client's, numeric
    ifl::Request request;         // Manager: with our attributes only; or StatusSched
};

// The client doesn't wait for the answer any more.
struct Abandon {
    std::uint64_t ticket = 0;
};

// The server has changed some of its queues, schedulers, resources, vnodes or itself, or is about to change
// jobs.
struct Changed {
    std::uint32_t object_type = 0;
};

using ToService = std::variant<Ask, Abandon, Changed>;

// ---- From the service.

// The answer to a request: the data of one or more packets of a reply.
struct Answer {
    std::uint64_t ticket = 0;
    std::vector<std::string> parts;
};

// The attributes that a listing of a server's object shows beside its own; none: nothing more is shown.
struct Shown {
    std::uint32_t object_type = 0;
    std::string name;
    ifl::Attributes attributes;
};

// A sign of life of a service that has nothing else to send.
struct Alive {};

using FromService = std::variant<Answer, Shown, Alive>;

// Makes a packet to be sent.
std::string packet_of(const ToService& message);
std::string packet_of(const FromService& message);

// Reads the data of a packet. Errors say what was expected.
ifl::Result<ToService> to_service(std::string_view data);
ifl::Result<FromService> from_service(std::string_view data);

// The most bytes of data in a packet between shim and service.
inline constexpr std::size_t kLongestMessage = std::size_t{512} << 20;

}  // namespace pbs::openpbs
