// Terms of OpenPBS's requests that the source files of Scheduling share.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <variant>

#include "cluster/job.h"
#include "ifl/attribute.h"
#include "ifl/error_text.h"
#include "ifl/reply.h"
#include "server_plugin/openpbs/records.h"

namespace pbs::openpbs {

constexpr std::uint32_t kSet = 2;         // OpenPBS's MGR_CMD_SET
constexpr std::uint32_t kUnset = 3;       // MGR_CMD_UNSET
constexpr std::uint32_t kDelete = 1;      // MGR_CMD_DELETE
constexpr const char* kSubjobsToo = "S";  // extend string: also select running subjobs

inline std::string text_of(const ifl::Reply& reply) {
    const auto* text = std::get_if<ifl::TextReply>(&reply.body);
    if (text != nullptr && !text->text.empty()) return text->text;
    const std::string_view known = ifl::error_text(reply.code);
    return known.empty() ? fmt::format("error {}", reply.code) : std::string(known);
}

inline ifl::Attribute attribute(std::string name, std::string resource, std::string value,
                                ifl::Op op = ifl::Op::set) {
    return {std::move(name), std::move(resource), std::move(value), op};
}

// Returns whether the decision only informs users: why the job waits, or when its start is expected.
inline bool is_told(const Decision& decision) {
    return decision.kind == Decision::Kind::comment ||
           (decision.kind == Decision::Kind::estimate && decision.start != 0);
}

// Returns criteria for jobs that have changed since `time`. They begin one second earlier, because the
// server's clock counts whole seconds.
inline ifl::Attributes changed_since(std::time_t time) {
    return {attribute("mtime", {}, fmt::format("{}", time - 1), ifl::Op::ge)};
}

// Returns the id under which the job waits: for a subjob the id of its array, else the job's own.
inline std::string waiting_id(const std::string& job) {
    std::string array = cluster::array_of(job);
    return array.empty() ? job : array;
}

}  // namespace pbs::openpbs
