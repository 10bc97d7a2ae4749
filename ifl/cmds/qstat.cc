// qstat: shows jobs, queues and servers.

#include <cstdio>
#include <ctime>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/job_id.h"
#include "ifl/cmds/qstat_format.h"
#include "ifl/cmds/qstat_options.h"
#include "ifl/cmds/text.h"
#include "ifl/pbs_error.h"

namespace {

using namespace pbs::cmds;

constexpr Program kProgram{"qstat", ""};

class Qstat {
  public:
    Qstat(QstatOptions options, std::time_t now)
        : options_(std::move(options)), shown_(shown_job_attributes(options_)), now_(now) {}

    int run() {
        if (options_.operands.empty())
            ask("");
        else if (options_.object == QstatObject::jobs && options_.together)
            ask_together();
        else
            for (const std::string& operand : options_.operands) ask(operand);
        if (report_) fmt::print("{}", report_->text());
        return status_;
    }

  private:
    struct Server {
        Connection connection;
        QstatHeading heading;
        std::string version;
    };

    void failed(int pbs_error) { status_ = exit_status(pbs_error); }

    Server* server(const std::string& name) {
        if (const auto known = servers_.find(name); known != servers_.end()) return &known->second;
        auto connection = Connection::open(name);
        if (!connection) {
            complain(kProgram, connection.error().message);
            status_ = connection.error().status;
            return nullptr;
        }
        const StatusList status(pbs_statserver(connection->handle(), nullptr, nullptr));
        if (status == nullptr) {
            complain(kProgram, connection->error_text());
            failed(pbs_errno);
            return nullptr;
        }
        Server server{std::move(*connection), {}, {}};
        server.heading.server = view(status->name);
        server.heading.comment = value_of(status->attribs, ATTR_comment).value_or("");
        const auto highest = parse_integer(value_of(status->attribs, ATTR_max_job_sequence_id).value_or("0"));
        server.heading.long_ids = highest && *highest > PBS_DFLT_MAX_JOB_SEQUENCE_ID;
        server.version = value_of(status->attribs, ATTR_version).value_or("");
        if (options_.format == ListFormat::json && !report_) {
            // JSON readers get a document from every server that answers, even if all jobs fail
            report_.emplace(server.heading.server, server.version, now_);
        }
        return &servers_.emplace(name, std::move(server)).first->second;
    }

    void ask(const std::string& operand) {
        switch (options_.object) {
            case QstatObject::jobs:
                if (is_job_id(operand))
                    ask_job(operand);
                else
                    ask_jobs_of_queue(operand);
                break;
            case QstatObject::queues:
                ask_queues(operand);
                break;
            case QstatObject::servers:
                ask_server(operand);
                break;
        }
    }

    void ask_job(const std::string& operand) {
        const auto id = parse_job_id(operand);
        if (!id) {
            complain(kProgram, id.error().message);
            status_ = id.error().status;
            return;
        }
        if (Server* at = server(id->server)) {
            show_jobs(
                *at,
                pbs_statjob(at->connection.handle(), sent_job_id(*id).c_str(), shown_.attributes(), extend()),
                shown_job_id(at->connection, *id));
        }
    }

    // -E: the jobs of each server in one request.
    void ask_together() {
        std::map<std::string, std::string> lists;
        for (const std::string& operand : options_.operands) {
            const auto id = parse_job_id(operand);
            if (!id) {
                complain(kProgram, "-E takes job identifiers only: " + operand);
                status_ = 1;
                return;
            }
            std::string& list = lists[id->server];
            list += (list.empty() ? "" : ",") + sent_job_id(*id);
        }
        for (const auto& [name, list] : lists) {
            if (Server* at = server(name)) {
                show_jobs(*at,
                          pbs_statjob(at->connection.handle(), list.c_str(), shown_.attributes(), extend()),
                          list);
            }
        }
    }

    // Returns the server that a destination names, and sets `queue` to its queue. nullptr: there is no
    // server to ask, and the error has been printed.
    Server* server_of(const std::string& operand, std::string& queue) {
        const auto destination = parse_destination(operand);
        if (!destination) {
            complain(kProgram, destination.error().message);
            status_ = 1;
            return nullptr;
        }
        queue = destination->queue;
        return server(destination->server);
    }

    void ask_jobs_of_queue(const std::string& operand) {
        std::string queue;
        Server* at = server_of(operand, queue);
        if (at == nullptr) return;
        AttrList criteria = options_.criteria;
        if (!queue.empty()) criteria.add(ATTR_q, "", queue, EQ);
        batch_status* jobs =
            criteria.empty()
                ? pbs_statjob(at->connection.handle(), nullptr, shown_.attributes(), extend())
                : pbs_selstat(at->connection.handle(), criteria.operations(), shown_.attributes(), extend());
        show_jobs(*at, jobs, queue);
    }

    const char* extend() const { return options_.extend.empty() ? nullptr : options_.extend.c_str(); }

    void show_jobs(Server& at, batch_status* list, const std::string& asked) {
        const StatusList jobs(list);
        if (jobs == nullptr) {
            if (const int code = pbs_errno; code != PBSE_NONE) {
                report_problem(at.connection, code, asked);
                return;
            }
        }
        if (options_.format == ListFormat::json) {
            report_->add("Jobs", at.heading.server, jobs.get());
            return;
        }
        if (jobs == nullptr) return;
        if (options_.full)
            fmt::print("{}", full_text(jobs.get(), "Job Id", options_));
        else if (options_.alternate)
            fmt::print("{}", alternate_jobs_text(jobs.get(), at.heading, options_, now_));
        else
            fmt::print("{}", jobs_text(jobs.get(), at.heading, options_));
        at.heading.shown = false;
    }

    void report_problem(const Connection& connection, int code, const std::string& asked) {
        std::string text = job_error_text(connection, code, asked);
        if (code == PBSE_HISTJOBID) {
            text = fmt::format("{} {}, use -x or -H to obtain historical job information", asked,
                               view(pbs_geterrmsg(connection.handle())));
        }
        complain(kProgram, text);
        status_ = query_status(code);
    }

    void ask_queues(const std::string& operand) {
        std::string queue;
        Server* at = server_of(operand, queue);
        if (at == nullptr) return;
        const StatusList queues(pbs_statque(at->connection.handle(), queue.c_str(), nullptr, nullptr));
        if (queues == nullptr) {
            if (const int code = pbs_errno; code != PBSE_NONE) {
                complain(kProgram, fmt::format("{} {}", at->connection.error_text(), queue));
                failed(code);
            }
            return;
        }
        if (options_.format == ListFormat::json)
            report_->add("Queue", at->heading.server, queues.get());
        else if (options_.queue_limits)
            fmt::print("{}", queue_limits_text(queues.get(), at->heading.server, options_));
        else if (options_.full)
            fmt::print("{}", full_text(queues.get(), "Queue", options_));
        else
            fmt::print("{}", queues_text(queues.get(), first_));
        first_ = false;
    }

    void ask_server(const std::string& name) {
        Server* at = server(name);
        if (at == nullptr) return;
        const StatusList status(pbs_statserver(at->connection.handle(), nullptr, nullptr));
        if (status == nullptr) {
            complain(kProgram, fmt::format("{} {}", at->connection.error_text(), name));
            failed(pbs_errno);
            return;
        }
        if (options_.format == ListFormat::json)
            report_->add("Server", at->heading.server, status.get());
        else if (options_.full)
            fmt::print("{}", full_text(status.get(), "Server", options_));
        else
            fmt::print("{}", servers_text(status.get(), first_));
        first_ = false;
    }

    QstatOptions options_;
    AttrList shown_;
    std::time_t now_;
    std::map<std::string, Server> servers_;
    std::optional<JsonReport> report_;
    bool first_ = true;
    int status_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    auto options = parse_arguments({"qstat", kQstatUsage}, arguments_of(argc, argv), parse_qstat_options);
    if (!options) return options.error();
    return Qstat(std::move(*options), std::time(nullptr)).run();
}
