// Terms that the parts of Shim share.
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

// The code of a reply, from its packet's data; PBSE_PROTOCOL if the data isn't a reply.
inline int code_of(const std::string& reply) {
    ifl::DisReader in(reply);
    (void)in.get_unsigned("type");
    (void)in.get_unsigned("version");
    const int code = in.get_i32("code");
    return in.failed() ? PBSE_PROTOCOL : code;
}

// The kind in an extend string: "history" in "object=history;limit=5".
inline std::string_view kind_of(std::string_view extend) {
    constexpr std::string_view kBegin = "object=";
    if (!extend.starts_with(kBegin)) return {};
    extend.remove_prefix(kBegin.size());
    return extend.substr(0, extend.find(';'));
}

// The probe's command: one that the server allows only to the requesters who may see everything of the kind.
inline std::uint32_t command_of_proof(std::string_view kind) {
    return kind == "fairshare" ? PBS_CMD_CREATE : PBS_CMD_SET;
}

// The address of a connection's client; empty if it isn't an IPv4 address.
std::string address_of(int sock);

}  // namespace pbs::openpbs
