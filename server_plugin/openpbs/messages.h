// What the shim in pbs_server.bin and the policy service say to each other over a stream socket: packets of
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

// A request, and what the server has found out about who makes it.
struct Ask {
    enum class What : std::uint8_t {
        whole = 0,  // carry it out and answer
        check = 1,  // say what would come of it
        commit = 2  // the server has done its part: do ours, and answer
    };
    std::uint64_t ticket = 0;
    What what = What::whole;
    std::uint32_t privilege = 0;  // enum pbs_privilege
    std::string address;          // the client's, numeric
    ifl::Request request;         // Manager: with our attributes alone; or StatusSched
};

// Nobody waits for the answer any more.
struct Abandon {
    std::uint64_t ticket = 0;
};

// The server has changed something of its queues, schedulers, resources, vnodes or itself, or is about to
// change jobs.
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

// What a listing of a server's object shows beside its own attributes; no attributes: nothing any more.
struct Shown {
    std::uint32_t object_type = 0;
    std::string name;
    ifl::Attributes attributes;
};

// The service is there and has nothing to say.
struct Alive {};

using FromService = std::variant<Answer, Shown, Alive>;

// A packet, to be sent.
std::string packet_of(const ToService& message);
std::string packet_of(const FromService& message);

// Of the data of a packet. Errors say what was expected.
ifl::Result<ToService> to_service(std::string_view data);
ifl::Result<FromService> from_service(std::string_view data);

// The longest data of a packet between the two.
inline constexpr std::size_t kLongestMessage = std::size_t{512} << 20;

}  // namespace pbs::openpbs
