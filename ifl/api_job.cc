// The C functions of pbs_ifl.h for jobs.

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>

#include "ifl/api.h"
#include "ifl/dis.h"
#include "ifl/packet.h"
#include "ifl/task_map.h"

using namespace pbs::ifl;       // NOLINT(google-build-using-namespace): the exported functions
using namespace pbs::ifl::api;  // NOLINT(google-build-using-namespace)

namespace {

// Prefix of the client's extend string that says: the job has no script, so commit it at once.
constexpr std::string_view kImplicitCommit = ":C:";
constexpr const char* kJob = "a job";

// Makes a modify, hold or release request, which all have the same form.
int manage_job(int connect, RequestType type, const char* job, Attributes attributes, const char* extend) {
    return request_code(connect, type, Manage{MGR_CMD_SET, MGR_OBJ_JOB, job, std::move(attributes)}, extend);
}

int hold_request(int connect, RequestType type, const char* job, const char* hold_types, const char* extend) {
    if (is_empty(job)) return refuse_missing(connect, kJob);
    return guarded(PBSE_SYSTEM, [&] {
        const std::string types = is_empty(hold_types) ? USER_HOLD : hold_types;
        return manage_job(connect, type, job, {{ATTR_h, "", types, Op::set}}, extend);
    });
}

int alter_request(int connect, RequestType type, const char* job, const attrl* list, const char* extend) {
    if (is_empty(job)) return refuse_missing(connect, kJob);
    return guarded(PBSE_SYSTEM, [&] {
        auto attributes = to_attributes(connect, list);
        if (!attributes) return thread_state().error;
        return manage_job(connect, type, job, std::move(*attributes), extend);
    });
}

int run_request(int connect, RequestType type, const char* job, const char* location, const char* extend) {
    if (is_empty(job)) return refuse_missing(connect, kJob);
    return guarded(PBSE_SYSTEM, [&] {
        if (!is_short_enough(connect, view(location))) return thread_state().error;
        return request_code(connect, type, RunJob{job, std::string(view(location)), 0}, extend);
    });
}

int two_names_request(int connect, RequestType type, const char* job, const char* other, const char* extend) {
    return guarded(PBSE_SYSTEM, [&] {
        return request_code(connect, type, MoveJob{job, std::string(view(other))}, extend);
    });
}

int wrong_reply(int connect) {
    return set_error(connect, {PBSE_PROTOCOL, "the type of the server's reply doesn't answer the request"});
}

// The requests of pbs_submit(), one member function for each step. false: the step failed, and the error is
// set.
class Submission {
  public:
    Submission(int number, std::shared_ptr<Connection> connection)
        : number_(number), connection_(std::move(connection)) {}

    bool queue(Attributes attributes, const char* destination, const std::string& extend) {
        auto reply = request_locked(number_, connection_, RequestType::queue_job,
                                    QueueJob{"", std::string(view(destination)), std::move(attributes)},
                                    extend.c_str());
        if (!reply || reply->code != 0) return false;
        if (auto* queued = std::get_if<QueueReply>(&reply->body)) {
            job_ = std::move(queued->job);
            return true;
        }
        if (auto* committed = std::get_if<CommitReply>(&reply->body)) {
            job_ = std::move(committed->job);
            committed_ = true;
            return true;
        }
        wrong_reply(number_);
        return false;
    }

    bool send_script(std::ifstream& script) {
        std::string chunk(kScriptChunk, '\0');
        for (std::uint32_t sequence = 0; script.read(chunk.data(), kScriptChunk) || script.gcount() > 0;
             ++sequence) {
            JobScript body{sequence, 0, "", chunk.substr(0, static_cast<std::size_t>(script.gcount()))};
            if (!accepted(RequestType::job_script, std::move(body))) return false;
        }
        if (script.bad()) set_error(number_, {PBSE_BADSCRIPT, "cannot read the script"});
        return !script.bad();
    }

    bool commit() { return committed_ || accepted(RequestType::commit, JobId{job_}); }

    const std::string& job() const { return job_; }

  private:
    bool accepted(RequestType type, RequestBody body) {
        const auto reply = request_locked(number_, connection_, type, std::move(body), nullptr);
        return reply && reply->code == 0;
    }

    int number_;
    std::shared_ptr<Connection> connection_;
    std::string job_;
    bool committed_ = false;
};

char* submit(int connect, const attropl* list, const char* script, const char* destination,
             const char* extend) {
    const auto connection = find_connection(connect);
    if (!connection) {
        set_error(connect, {PBSE_IVALREQ, "not a connection"});
        return nullptr;
    }
    auto attributes = to_attributes(connect, list);
    if (!attributes) return nullptr;
    for (Attribute& attribute : *attributes) attribute.op = Op::set;

    std::ifstream file;
    std::string full_extend(view(extend));
    if (is_empty(script)) {
        full_extend.insert(0, kImplicitCommit);
    } else {
        file.open(script, std::ios::binary);
        if (!file) {
            set_error(connect, {PBSE_BADSCRIPT, std::string("cannot open the script ") + script});
            return nullptr;
        }
    }
    const auto lock = connection->lock();
    Submission submission(connect, connection);
    if (!submission.queue(std::move(*attributes), destination, full_extend)) return nullptr;
    if (file.is_open() && !submission.send_script(file)) return nullptr;
    if (!submission.commit()) return nullptr;
    return c_string(submission.job());
}

struct FreeDeleted {
    void operator()(batch_deljob_status* list) const { pbs_delstatfree(list); }
};

batch_deljob_status* c_deleted(const std::vector<DeleteReply::Job>& failed) {
    std::unique_ptr<batch_deljob_status, FreeDeleted> list;
    batch_deljob_status* last = nullptr;
    for (const DeleteReply::Job& job : failed) {
        auto* status = static_cast<batch_deljob_status*>(std::calloc(1, sizeof(batch_deljob_status)));
        if (!status) throw std::bad_alloc();
        if (last) {
            last->next = status;
        } else {
            list.reset(status);
        }
        last = status;
        status->name = c_string(job.job);
        status->code = static_cast<int>(job.code);
    }
    return list.release();
}

// A NULL-terminated array of strings in one block of memory.
char** c_string_array(const std::vector<std::string>& strings) {
    std::size_t size = (strings.size() + 1) * sizeof(char*);
    for (const std::string& s : strings) size += s.size() + 1;
    auto* array = static_cast<char**>(std::malloc(size));
    if (!array) throw std::bad_alloc();
    char* text = reinterpret_cast<char*>(array + strings.size() + 1);
    for (std::size_t i = 0; i < strings.size(); ++i) {
        array[i] = text;
        std::memcpy(text, strings[i].c_str(), strings[i].size() + 1);
        text += strings[i].size() + 1;
    }
    array[strings.size()] = nullptr;
    return array;
}

}  // namespace

extern "C" {

char* pbs_submit(int connect, struct attropl* attributes, const char* script, const char* destination,
                 const char* extend) {
    return guarded(static_cast<char*>(nullptr),
                   [&] { return submit(connect, attributes, script, destination, extend); });
}

int pbs_alterjob(int connect, const char* job, struct attrl* attributes, const char* extend) {
    return alter_request(connect, RequestType::modify_job, job, attributes, extend);
}

int pbs_asyalterjob(int connect, const char* job, struct attrl* attributes, const char* extend) {
    return alter_request(connect, RequestType::modify_job_async, job, attributes, extend);
}

struct batch_deljob_status* pbs_deljoblist(int connect, char** jobs, int count, const char* extend) {
    return guarded(static_cast<batch_deljob_status*>(nullptr), [&]() -> batch_deljob_status* {
        DeleteJobList body;
        for (int i = 0; jobs && i < count && jobs[i]; ++i) body.jobs.emplace_back(jobs[i]);
        if (body.jobs.empty()) {
            refuse_missing(connect, kJob);
            return nullptr;
        }
        const auto reply = request(connect, RequestType::delete_job_list, std::move(body), extend);
        const auto* result = reply ? std::get_if<DeleteReply>(&reply->body) : nullptr;
        return result ? c_deleted(result->failed) : nullptr;
    });
}

int pbs_deljob(int connect, const char* job, const char* extend) {
    if (is_empty(job)) return refuse_missing(connect, kJob);
    return guarded(PBSE_SYSTEM, [&] {
        const auto reply = request(connect, RequestType::delete_job_list, DeleteJobList{{job}}, extend);
        const auto* result = reply ? std::get_if<DeleteReply>(&reply->body) : nullptr;
        if (result && !result->failed.empty()) {
            Reply refusal = Reply::error(static_cast<int>(result->failed.front().code));
            return set_result(connect, find_connection(connect), refusal);
        }
        return thread_state().error;
    });
}

int pbs_holdjob(int connect, const char* job, const char* hold_types, const char* extend) {
    return hold_request(connect, RequestType::hold_job, job, hold_types, extend);
}

int pbs_rlsjob(int connect, const char* job, const char* hold_types, const char* extend) {
    return hold_request(connect, RequestType::release_job, job, hold_types, extend);
}

int pbs_runjob(int connect, const char* job, const char* location, const char* extend) {
    return run_request(connect, RequestType::run_job, job, location, extend);
}

int pbs_asyrunjob(int connect, const char* job, const char* location, const char* extend) {
    return run_request(connect, RequestType::async_run_job, job, location, extend);
}

int pbs_asyrunjob_ack(int connect, const char* job, const char* location, const char* extend) {
    return run_request(connect, RequestType::run_job_acknowledged, job, location, extend);
}

int pbs_runtasks(int connect, const char* job, const struct pbs_task_map* tasks, const char* extend) {
    if (is_empty(job) || tasks == nullptr) return refuse_missing(connect, "a job and its tasks");
    return guarded(PBSE_SYSTEM, [&] {
        std::vector<HostTasks> all;
        for (; tasks->procs != 0; ++tasks) all.push_back({tasks->procs, view(tasks->host)});
        const Status vnodes{"", {{"resources_available", "host", "", Op::set}}};
        const auto reply = request(connect, RequestType::status_node, vnodes, nullptr);
        if (!reply || reply->code != 0) return thread_state().error;
        const auto* status = std::get_if<StatusReply>(&reply->body);
        const auto location = location_of(all, status ? status->objects : std::vector<ObjectStatus>());
        if (!location) return set_error(connect, location.error());
        return run_request(connect, RequestType::run_job_acknowledged, job, location->c_str(), extend);
    });
}

int pbs_movejob(int connect, const char* job, const char* destination, const char* extend) {
    if (is_empty(job)) return refuse_missing(connect, kJob);
    return two_names_request(connect, RequestType::move_job, job, destination, extend);
}

int pbs_orderjob(int connect, const char* job1, const char* job2, const char* extend) {
    if (is_empty(job1) || is_empty(job2)) return refuse_missing(connect, "two jobs");
    return two_names_request(connect, RequestType::order_job, job1, job2, extend);
}

int pbs_rerunjob(int connect, const char* job, const char* extend) {
    if (is_empty(job)) return refuse_missing(connect, kJob);
    return guarded(PBSE_SYSTEM,
                   [&] { return request_code(connect, RequestType::rerun_job, JobId{job}, extend); });
}

int pbs_sigjob(int connect, const char* job, const char* signal, const char* extend) {
    if (is_empty(job) || !signal) return refuse_missing(connect, "a job and a signal");
    return guarded(PBSE_SYSTEM, [&] {
        return request_code(connect, RequestType::signal_job, SignalJob{job, signal}, extend);
    });
}

int pbs_msgjob(int connect, const char* job, int file, const char* message, const char* extend) {
    if (is_empty(job) || is_empty(message) || file < 0)
        return refuse_missing(connect, "a job, a file and a message");
    return guarded(PBSE_SYSTEM, [&] {
        return request_code(connect, RequestType::message_job,
                            MessageJob{job, static_cast<std::uint32_t>(file), message}, extend);
    });
}

int pbs_jobend(int fd, char** job, char** message, int* exit_status) {
    return guarded(PBSE_SYSTEM, [&] {
        constexpr std::size_t kLongest = 8192;
        constexpr int kPatience = 30 * 1000;
        constexpr int kVersion = 1;
        PacketReader packets(kLongest);
        auto answer = packets.next();
        pollfd ready{fd, POLLIN, 0};
        while (answer && !*answer && poll(&ready, 1, kPatience) == 1) {
            const ssize_t count = read(fd, packets.room(kLongest), kLongest);
            packets.filled(count < 0 ? 0 : static_cast<std::size_t>(count));
            if (count <= 0) break;
            answer = packets.next();
        }
        if (!answer || !*answer) return PBSE_PROTOCOL;
        DisReader reader(**answer);
        const std::int64_t version = reader.get_signed("version");
        const std::string id = reader.get_string("job", kLongest);
        const std::string why = reader.get_string("message", kLongest);
        const std::int32_t status = reader.get_i32("exit status");
        if (reader.failed() || version != kVersion) return PBSE_PROTOCOL;
        *job = c_string(id);
        *message = c_string(why);
        *exit_status = status;
        return 0;
    });
}

char* pbs_locjob(int connect, const char* job, const char* extend) {
    if (is_empty(job)) {
        refuse_missing(connect, kJob);
        return nullptr;
    }
    return guarded(static_cast<char*>(nullptr), [&]() -> char* {
        const auto reply = request(connect, RequestType::locate_job, JobId{job}, extend);
        if (!reply || reply->code != 0) return nullptr;
        if (const auto* location = std::get_if<LocateReply>(&reply->body)) return c_string(location->server);
        wrong_reply(connect);
        return nullptr;
    });
}

char** pbs_selectjob(int connect, struct attropl* criteria, const char* extend) {
    return guarded(static_cast<char**>(nullptr), [&]() -> char** {
        auto attributes = to_attributes(connect, criteria);
        if (!attributes) return nullptr;
        const auto reply =
            request(connect, RequestType::select_jobs, Select{std::move(*attributes), {}}, extend);
        if (!reply || reply->code != 0) return nullptr;
        if (const auto* selection = std::get_if<SelectReply>(&reply->body))
            return c_string_array(selection->jobs);
        wrong_reply(connect);
        return nullptr;
    });
}

void pbs_delstatfree(struct batch_deljob_status* list) {
    while (list) {
        batch_deljob_status* next = list->next;
        std::free(list->name);
        std::free(list);
        list = next;
    }
}

}  // extern "C"
