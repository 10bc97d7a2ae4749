// MessageJob: writes a line to the output of a running job.
#include "ifl/pbs_error.h"
#include "server_plugin/host/life/message.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {
namespace {

// Writes the message to the job's output files, one after the other.
class WriteMessage final : public Answered {
  public:
    explicit WriteMessage(std::string streams) : streams_(std::move(streams)) {}

    Remaining step(Context& context, ifl::StatusParts&) override {
        if (!writer_) {
            if (streams_.empty()) return Remaining::nothing;
            const auto& body = std::get<ifl::MessageJob>(context.request.body);
            const char stream = streams_.front();
            streams_.erase(0, 1);
            const Job* job = context.state().job(body.job);
            if (job == nullptr || job->state != job_state::kRunning)
                return end(ifl::Reply::error(PBSE_BADSTATE));
            auto writer = MessageWriter::start(context.server, *job, stream, body.text);
            if (!writer) return end(refuse(writer.error()));
            writer_.emplace(std::move(*writer));
            return Remaining::later;
        }
        const auto done = writer_->poll();
        if (!done) return Remaining::later;
        writer_.reset();
        return *done ? Remaining::more : end(refuse(done->error()));
    }

  private:
    std::string streams_;  // the streams that are still to be written, 'o' and 'e'
    std::optional<MessageWriter> writer_;
};

}  // namespace

ifl::Reply message_job(Context& context) {
    const auto& body = std::get<ifl::MessageJob>(context.request.body);
    const auto target = own_target(context, body.job);
    if (!target) return refuse(target.error());
    const Job* job = target->job;
    if (job->is_array()) return ifl::Reply::error(PBSE_NOSUP, "not supported for Array Jobs");
    if (job->state != job_state::kRunning) return ifl::Reply::error(PBSE_BADSTATE);
    if (body.text.empty() || body.file > 3) return ifl::Reply::error(PBSE_IVALREQ);
    // 1 is stdout, 2 stderr, 3 both. 0 leaves the choice to the server, which uses stderr, as PBS does.
    std::string streams;
    if ((body.file & 1U) != 0) streams += 'o';
    if (body.file == 0 || (body.file & 2U) != 0) streams += 'e';
    context.rest = std::make_unique<WriteMessage>(std::move(streams));
    return {};
}

}  // namespace pbs::host
