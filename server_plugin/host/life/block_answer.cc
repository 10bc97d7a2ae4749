#include "server_plugin/host/life/block_answer.h"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "ifl/dis.h"
#include "ifl/packet.h"
#include "server_plugin/host/base/client_call.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/life/job_life.h"

namespace pbs::host {
namespace {

constexpr int kAnswerVersion = 1;
constexpr std::chrono::milliseconds kPatience{20};
// The most reasons that wait to be told. A qsub whose reason isn't told sees by itself, within half a minute,
// that its job is gone.
constexpr std::size_t kMostUntold = 10'000;
constexpr std::string_view kNeverRan = "has ended without having run";
constexpr std::string_view kEnded = "ended";  // qsub knows it, too (ifl/cmds/waiting_qsub.cc)
constexpr std::size_t kGreetingSize = 276;    // as in terminal.h

std::string why_ended(const std::string& reason) {
    return reason.empty() ? std::string(kNeverRan) : fmt::format("{}: {}", kNeverRan, reason);
}

}  // namespace

uint64_t BlockAnswer::packed() const {
    return port | (static_cast<uint64_t>(static_cast<uint16_t>(exit_status)) & 0x7fffU) << 16U |
           static_cast<uint64_t>(!ran) << 31U | static_cast<uint64_t>(uid) << 32U;
}

BlockAnswer BlockAnswer::unpacked(uint64_t value) {
    // Shift the exit status's highest bit into the sign, and back.
    const auto doubled = static_cast<int16_t>(static_cast<uint16_t>(value >> 15U & 0xfffeU));
    return {static_cast<uint16_t>(value), static_cast<int16_t>(doubled >> 1), (value >> 31U & 1U) == 0,
            static_cast<uid_t>(value >> 32U)};
}

void note_block_answer(Change& change, Job& job) {
    const int64_t port = job.attributes.integer("block", 0);
    if (port <= 0) return;
    const auto user = find_user(std::string(job.owner()));
    if (!user) return;
    set_attribute(job, "block", "-1");
    const BlockAnswer note{static_cast<uint16_t>(port),
                           static_cast<int16_t>(job.attributes.integer("Exit_status", 0)), job.stime != 0,
                           user->uid};
    change.link(job.sequence, LinkKind::to_answer, note.packed());
}

void tell_reason(Server& server, const Job& job, const std::string& reason) {
    if (job.stime != 0 || job.running()) return;
    // Without a note nobody takes the reason (note_block_answer() makes none if there is no such user).
    if (!server.state.dependencies.of(job.sequence, LinkKind::to_answer).empty())
        server.keep_end_reason(job.sequence, reason);
    const int64_t port = job.attributes.integer("interactive", 0);
    if (port <= 0 || server.untold_reasons.size() >= kMostUntold) return;
    std::string text = job.id;
    text += '\0';
    text += kEnded;
    text.resize(kGreetingSize, '\0');
    text += why_ended(reason);
    server.untold_reasons.push_back({static_cast<uint16_t>(port), std::string(job.owner()), std::move(text)});
}

void tell_untold_reasons(Server& server) {
    for (int left = kMostCallsAtOnce; left > 0 && !server.untold_reasons.empty(); --left) {
        const UntoldReason told = std::move(server.untold_reasons.front());
        server.untold_reasons.pop_front();
        const auto user = find_user(told.owner);
        if (!user) continue;
        // As below, writing doesn't block. A qsub that isn't there any more needs no reason.
        if (auto client = call_client(told.port, user->uid, kPatience))
            (void)write_all(client->get(), told.text);
    }
}

void give_block_answer(Server& server, const Link& link) {
    const BlockAnswer note = BlockAnswer::unpacked(link.other);
    const std::string id = server.state.job_id(link.job);
    const std::string reason = server.take_end_reason(link.job);
    auto client = call_client(note.port, note.uid, kPatience);
    std::string answer;
    ifl::DisWriter writer(answer);
    writer.put_signed(kAnswerVersion);
    writer.put_string(id);
    writer.put_string(note.ran ? "" : why_ended(reason));
    writer.put_signed(note.exit_status);
    // The answer is the first data on this socket, so it fits into the socket's buffer, and writing doesn't
    // block.
    if (client && write_all(client->get(), ifl::make_packet(answer))) return;
    server.parts.log.job(id,
                         "its qsub, which waited for its end, can't be told: " +
                             (client ? std::string("it does not take the answer") : client.error().message));
}

}  // namespace pbs::host
