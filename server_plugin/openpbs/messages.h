// The messages between the shim, which is the plugin's code in pbs_server.bin, and the policy service, over a
// stream socket. Each message is a packet with the framing of the batch protocol (ifl/packet.h): the number
// of its kind, and its members, in DIS.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ifl/attribute.h"
#include "ifl/error.h"
#include "ifl/request.h"

namespace pbs::openpbs {

// ---- Messages to the service.

// A request, and what the server has found out about its client.
struct Ask {
    enum class Kind : std::uint8_t {
        whole = 0,   // carry the request out and answer
        check = 1,   // check whether the request would succeed
        commit = 2,  // the server has done its part: carry out the plugin's part, and answer
        again = 3    // as whole; a service before this one had the request, and a program counts on it
    };
    std::uint64_t ticket = 0;
    Kind what = Kind::whole;
    std::uint32_t privilege = 0;  // bits of enum pbs_privilege
    std::string address;          // the client's address, in numbers
    // Manager, with the plugin's attributes only; StatusSched; or a start that is to be tested. The answer to
    // a start has the place as a text. The server then gets the start at this place; the service already
    // counts the job as running.
    ifl::Request request;
};

// A message that nobody waits for the answer to the request any more. If the service has granted the request:
// the tested start hasn't come about, or the registered program's connection is closed.
struct Abandon {
    std::uint64_t ticket = 0;
};

// A message that the server has carried out the tested start, or may have: queries from now on show it. For
// each start that the service has granted, the shim sends this message or Abandon.
struct Started {
    std::uint64_t ticket = 0;
};

// A message that objects of a type have changed at the server: queues, schedulers, resources, vnodes or the
// server itself. If the type is that of jobs, the server is about to change jobs.
struct Changed {
    std::uint32_t object_type = 0;
};

using ToService = std::variant<Ask, Abandon, Changed, Started>;

// ---- Messages from the service.

// The answer to a request: a reply, as the data of one or more packets.
struct Answer {
    std::uint64_t ticket = 0;
    std::vector<std::string> parts;
};

// The attributes that the shim adds to a listing of an object of the server. If there are none, the shim adds
// nothing.
struct AddedAttributes {
    std::uint32_t object_type = 0;
    std::string name;
    ifl::Attributes attributes;
};

// A sign of life, which the service sends if it has nothing else to send.
struct Alive {};

using FromService = std::variant<Answer, AddedAttributes, Alive>;

// Returns the packet to send for a message.
std::string packet_of(const ToService& message);
std::string packet_of(const FromService& message);

// Reads the data of a packet. Errors say what was expected.
ifl::Result<ToService> to_service(std::string_view data);
ifl::Result<FromService> from_service(std::string_view data);

// The longest wait for changes. It has to be below 15 minutes, because the server closes a connection on
// which nothing has come for so long.
inline constexpr std::chrono::seconds kLongestWait{600};

// The most bytes of data in a packet between shim and service.
inline constexpr std::size_t kLongestMessage = std::size_t{512} << 20;

}  // namespace pbs::openpbs
