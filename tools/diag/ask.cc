#include "tools/diag/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "ifl/pbs_ifl.h"
#include "values/text.h"

namespace pbs::diag {
namespace {

using values::is_digit;

bool is_part_of_word(char c) {
    return values::is_alnum(c) || c == '_';
}

tl::unexpected<cmds::Error> failed(const cmds::Connection& connection, std::string_view what) {
    return tl::unexpected(
        cmds::Error{fmt::format("{}: {}", what, connection.error_text()), cmds::exit_status(pbs_errno)});
}

}  // namespace

cmds::Result<cmds::StatusList> ask_part(const cmds::Connection& connection, const std::string& part) {
    cmds::StatusList list(pbs_statdiagnosis(connection.handle(), part.c_str(), nullptr));
    if (!list && pbs_errno != 0) return failed(connection, part);
    return list;
}

std::string without_numbers(std::string_view comment) {
    std::string text;
    for (std::size_t at = 0; at < comment.size();) {
        const bool in_word = at > 0 && is_part_of_word(comment[at - 1]);
        if (!is_digit(comment[at]) || in_word) {
            text += comment[at++];
            continue;
        }
        while (at < comment.size() && is_digit(comment[at])) ++at;
        text += 'N';
    }
    return text;
}

cmds::Result<std::vector<Reason>> ask_reasons(const cmds::Connection& connection) {
    cmds::AttrList queued;
    queued.add("job_state", "", "Q", EQ);
    cmds::AttrList comment;
    comment.add("comment", "", "");
    const cmds::StatusList jobs(
        pbs_selstat(connection.handle(), queued.operations(), comment.attributes(), nullptr));
    if (!jobs && pbs_errno != 0) return failed(connection, "queued jobs");
    std::unordered_map<std::string, std::size_t> counts;
    for (const batch_status* job = jobs.get(); job != nullptr; job = job->next)
        ++counts[without_numbers(
            cmds::value_of(job->attribs, "comment").value_or("(no comment: no cycle has looked at it)"))];
    std::vector<Reason> reasons;
    reasons.reserve(counts.size());
    for (auto& [text, count] : counts) reasons.push_back({text, count});
    std::ranges::sort(reasons, [](const Reason& a, const Reason& b) {
        return a.jobs != b.jobs ? a.jobs > b.jobs : a.text < b.text;
    });
    return reasons;
}

}  // namespace pbs::diag
