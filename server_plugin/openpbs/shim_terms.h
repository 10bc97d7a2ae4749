// Terms that the source files of Shim share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "ifl/dis.h"
#include "ifl/pbs_error.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::openpbs {

constexpr std::chrono::seconds kLongSilence{60};

// Returns whether the client has closed its end. If so, nobody waits for an answer, and the server has to
// read from the connection to notice that.
bool has_left(int sock);

// Returns the code of a reply, given the data of its packet; PBSE_PROTOCOL if the data aren't a reply.
inline int code_of(const std::string& reply) {
    ifl::DisReader in(reply);
    (void)in.get_unsigned("type");
    (void)in.get_unsigned("version");
    const int code = in.get_i32("code");
    return in.failed() ? PBSE_PROTOCOL : code;
}

// Returns the kind of objects that an extend string names: "history" in "object=history;limit=5". Empty: it
// names none.
inline std::string_view kind_of(std::string_view extend) {
    constexpr std::string_view kBegin = "object=";
    if (!extend.starts_with(kBegin)) return {};
    extend.remove_prefix(kBegin.size());
    return extend.substr(0, extend.find(';'));
}

// Returns the command of the second probe. The server permits this command only to clients who may see all
// objects of the kind that the extend string names, or may do the action that it names.
inline std::uint32_t command_of_proof(std::string_view extend) {
    const std::string_view kind = kind_of(extend);
    const bool managers = kind == "fairshare" || kind == "registration" || kind == "changes" ||
                          extend.starts_with("object=explanation;");
    return managers ? PBS_CMD_CREATE : PBS_CMD_SET;
}

// Returns the address of a connection's client; empty if it isn't an IPv4 address.
std::string address_of(int sock);

}  // namespace pbs::openpbs
