// The shim's functions that decode requests, which the server calls as it reads them.

#include "server_plugin/openpbs/shim.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ifl/dis.h"
#include "ifl/program_requests.h"
#include "server_plugin/openpbs/owned.h"
#include "server_plugin/openpbs/shim_terms.h"
#include "values/object_types.h"

namespace pbs::openpbs {
namespace {

constexpr unsigned long kManager = 9;
constexpr unsigned long kStatusQueue = 20;
constexpr unsigned long kStatusServer = 21;
constexpr unsigned long kStatusSched = 81;
constexpr unsigned long kRegisterSched = 98;
constexpr std::size_t kLongestUser = 257;    // the longest name that libpbs reads
constexpr std::size_t kLongestObject = 600;  // more than libpbs accepts, so that libpbs reports the error
constexpr std::size_t kLongestNames = 1U << 20;
// The greatest number of a type of the plugin's objects: of those that managers edit (kObjectTypes), and of
// the others, up to PBS_OBJ_QUOTA_USE.
constexpr std::uint32_t kLastType = [] {
    std::uint32_t last = PBS_OBJ_QUOTA_USE;
    for (const values::ObjectTypeRow& row : values::kObjectTypes)
        last = std::max(last, static_cast<std::uint32_t>(row.type));
    return last;
}();

// Returns whether requests of this type change jobs, or may end them. Requests for new jobs don't count,
// because the server itself tells its scheduler of new jobs.
bool changes_jobs(unsigned long type) {
    constexpr std::array<unsigned long, 17> kTypes{6,  7,  11, 12, 13, 14, 15, 17, 23,
                                                   50, 72, 90, 91, 92, 96, 97, 100};
    return std::ranges::find(kTypes, type) != kTypes.end();
}

bool is_start(unsigned long type) {
    using Type = ifl::RequestType;
    return type == static_cast<unsigned long>(Type::run_job) ||
           type == static_cast<unsigned long>(Type::async_run_job) ||
           type == static_cast<unsigned long>(Type::run_job_acknowledged);
}

bool is_own_type(std::uint64_t type) {
    return type >= PBS_OBJ_POLICY && type <= kLastType;
}

std::string header(unsigned long type, const std::string& user) {
    std::string data;
    ifl::DisWriter out(data);
    out.put_unsigned(ifl::kProtocolType);
    out.put_unsigned(ifl::kProtocolVersion);
    out.put_unsigned(type);
    out.put_string(user);
    return data;
}

std::uint32_t listed_type(unsigned long request) {
    return request == kStatusServer  ? PBS_OBJ_SERVER
           : request == kStatusQueue ? PBS_OBJ_QUEUE
                                     : PBS_OBJ_SCHED;
}

}  // namespace

std::string address_of(int sock) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    std::array<char, INET_ADDRSTRLEN> text{};
    if (getpeername(sock, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET)
        return {};
    return inet_ntop(AF_INET, &peer.sin_addr, text.data(), text.size()) != nullptr ? text.data() : "";
}

Shim::Shim(const Library& library, Link& link, ShimOptions options)
    : library_(library), link_(link), options_(std::move(options)) {}

Shim::Connection Shim::connection_of(int sock) const {
    struct stat status {};
    if (fstat(sock, &status) != 0) return {};
    return {sock, status.st_ino};
}

bool Shim::is_schedulers(const Connection& connection) const {
    return schedulers_.contains({connection.sock, connection.inode});
}

Shim::Held* Shim::held(int sock) {
    const auto found = held_.find(sock);
    if (found == held_.end()) return nullptr;
    if (found->second.connection == connection_of(sock)) return &found->second;
    end(found->second.connection);
    return nullptr;
}

int Shim::feed_header(unsigned long type, void* request, int* type_out, int* version_out) {
    return library_.feed(header(type, current_.user), [&] {
        return library_.real().decode_header(current_.connection.sock, request, type_out, version_out);
    });
}

int Shim::decode_header(int sock, void* request, int* type, int* version) {
    current_ = Current{};
    if (!library_.on_connection()) return library_.real().decode_header(sock, request, type, version);
    current_.connection = connection_of(sock);
    if (Held* waiting = held(sock)) return decode_header_again(*waiting, request, type, version);
    unsigned long protocol = 0;
    unsigned long protocol_version = 0;
    if (const int rc = library_.get_unsigned(sock, protocol); rc != 0) return rc;
    std::string data;
    ifl::DisWriter out(data);
    out.put_unsigned(protocol);
    const auto feed = [&] {
        return library_.feed(data,
                             [&] { return library_.real().decode_header(sock, request, type, version); });
    };
    // If the request is of another protocol, libpbs reads no further than its number.
    if (protocol != ifl::kProtocolType) return feed();
    if (const int rc = library_.get_unsigned(sock, protocol_version); rc != 0) return rc;
    if (const int rc = library_.get_unsigned(sock, current_.type); rc != 0) return rc;
    if (const int rc = library_.get_text(sock, kLongestUser, current_.user); rc != 0) return rc;
    out.put_unsigned(protocol_version);
    out.put_unsigned(current_.type);
    out.put_string(current_.user);
    if (is_start(current_.type) && !is_schedulers(current_.connection)) {
        if (const int rc = read_start(sock); rc != 0) return rc;
        if (held_.contains(sock)) {
            current_.type = kManager;
            return feed_header(kManager, request, type, version);
        }
    }
    // Tell the service before the server makes the change. The service then queries the server later, and its
    // queries see the change.
    if (changes_jobs(current_.type) && !is_schedulers(current_.connection)) link_.send(Changed{PBS_OBJ_JOB});
    if (current_.type == kRegisterSched) {
        if (schedulers_.size() > 1000) schedulers_.clear();
        schedulers_.insert({current_.connection.sock, current_.connection.inode});
    }
    return feed();
}

// Reads a start with its extend string, and holds it if it is to be tested.
int Shim::read_start(int sock) {
    ifl::RunJob run;
    unsigned long argument = 0;
    if (const int rc = library_.get_text(sock, kLongestObject, run.job); rc != 0) return rc;
    if (const int rc = library_.get_any_text(sock, run.destination); rc != 0) return rc;
    if (const int rc = library_.get_unsigned(sock, argument); rc != 0) return rc;
    run.argument = argument;
    Extend extend;
    if (const int rc = library_.get_extend(sock, extend.text, extend.present); rc != 0) return rc;
    current_.extend = extend;
    if (extend.text.starts_with("check=")) {
        const auto checked = ifl::is_checked(extend.text);
        if (!checked || *checked)
            return hold(sock,
                        {static_cast<ifl::RequestType>(current_.type), current_.user, std::move(run), {}});
        current_.extend = Extend{};  // check=False is the same as no extend string
    }
    current_.run = std::move(run);
    return 0;
}

// Returns the held start that the server has been given on this connection; null: there is none.
Shim::Held* Shim::starting(int sock) {
    if (!library_.on_connection()) return nullptr;
    Held* const waiting = held(sock);
    const bool again = is_current(sock) && current_.course == Course::again;
    return waiting != nullptr && waiting->step == Step::starting && !again ? waiting : nullptr;
}

// Handles a call for a connection whose request isn't answered yet. Further data that the client may have
// sent has to wait.
int Shim::decode_header_again(Held& waiting, void* request, int* type, int* version) {
    current_.user = waiting.request.user;
    current_.type = kManager;
    current_.course = Course::again;
    if (waiting.step == Step::server && waiting.is_start()) {
        waiting.step = Step::starting;
        current_.course = Course::server;
        current_.run = std::get<ifl::RunJob>(waiting.request.body);
        current_.extend = Extend{};
        // Let the server acknowledge each start, so that the service learns of a refusal.
        current_.type = static_cast<unsigned long>(
            waiting.wants_reply() ? waiting.request.type : ifl::RequestType::run_job_acknowledged);
        return feed_header(current_.type, request, type, version);
    }
    if (waiting.waits_for_changes()) {
        end_wait(waiting);
    } else if (waiting.step == Step::turn && !turn_) {
        waiting.step = Step::probing;
        current_.course = Course::probe;
    } else if (waiting.step == Step::server || waiting.step == Step::proving) {
        current_.course = waiting.step == Step::server ? Course::server : Course::prove;
        waiting.step = Step::probing;
    } else {
        // Unread bytes of the client would make the server call this function again and again. So wait a
        // millisecond for the service.
        take(link_.receive(std::chrono::milliseconds(1)));
    }
    return feed_header(kManager, request, type, version);
}

int Shim::feed_manage(int sock, void* request, unsigned long command, unsigned long object_type,
                      std::string_view object, const RawAttributes& attributes) {
    std::string data;
    ifl::DisWriter out(data);
    out.put_unsigned(command);
    out.put_unsigned(object_type);
    out.put_string(object);
    put_raw(out, attributes);
    return library_.feed(data, [&] { return library_.real().decode_manage(sock, request); });
}

int Shim::feed_status(int sock, void* request, std::string_view name, const RawAttributes& wanted) {
    std::string data;
    ifl::DisWriter out(data);
    out.put_string(name);
    put_raw(out, wanted);
    return library_.feed(data, [&] { return library_.real().decode_status(sock, request); });
}

int Shim::probe(int sock, void* request, unsigned long command) {
    current_.extend = Extend{};
    return feed_manage(sock, request, command, PBS_OBJ_POLICY, {}, {});
}

int Shim::decode_manage(int sock, void* request) {
    if (!is_current(sock) || current_.type != kManager) return library_.real().decode_manage(sock, request);
    if (current_.course == Course::probe || current_.course == Course::again) {
        // The server lets operators set, but not create: a start needs no more.
        const Held* waiting = held(sock);
        return probe(sock, request, waiting != nullptr && waiting->is_start() ? PBS_CMD_SET : PBS_CMD_CREATE);
    }
    if (current_.course == Course::prove) {
        const Held* waiting = held(sock);
        return probe(sock, request, command_of_proof(waiting == nullptr ? "" : waiting->request.extend));
    }
    if (current_.course == Course::server) {
        const Held& waiting = held_.at(sock);
        const auto& body = std::get<ifl::Manage>(waiting.request.body);
        current_.extend = Extend{!waiting.request.extend.empty(), waiting.request.extend};
        return feed_manage(sock, request, body.command, body.object_type, body.object, waiting.servers_part);
    }
    if (is_schedulers(current_.connection)) return library_.real().decode_manage(sock, request);
    unsigned long command = 0;
    unsigned long object_type = 0;
    std::string object;
    RawAttributes attributes;
    if (const int rc = library_.get_unsigned(sock, command); rc != 0) return rc;
    if (const int rc = library_.get_unsigned(sock, object_type); rc != 0) return rc;
    if (const int rc = library_.get_text(sock, kLongestObject, object); rc != 0) return rc;
    if (const int rc = library_.get_attributes(sock, attributes); rc != 0) return rc;
    constexpr unsigned long kMost = UINT32_MAX;
    if (command > kMost || object_type > kMost)
        return feed_manage(sock, request, command, object_type, object, attributes);
    return classify(
        sock, request,
        {static_cast<std::uint32_t>(command), static_cast<std::uint32_t>(object_type), object, {}},
        std::move(attributes));
}

int Shim::classify(int sock, void* request, ifl::Manage body, RawAttributes attributes) {
    const std::uint32_t type = body.object_type;
    const bool own = is_own_type(type) && body.command <= PBS_CMD_UNSET;
    const bool settable =
        body.command == PBS_CMD_CREATE || body.command == PBS_CMD_SET || body.command == PBS_CMD_UNSET;
    const auto ours = [&](const RawAttribute& one) { return own || is_ours(type, one.name); };
    if (own || (settable && std::ranges::any_of(attributes, ours))) {
        for (const RawAttribute& one : attributes)
            if (ours(one)) body.attributes.push_back(one.attribute());
        std::erase_if(attributes, ours);
        const int rc = hold(sock, {ifl::RequestType::manager, current_.user, std::move(body), {}});
        if (rc != 0) return rc;
        Held& waiting = held_.at(sock);
        waiting.shared = !own;
        waiting.servers_part = std::move(attributes);
        return probe(sock, request, PBS_CMD_CREATE);
    }
    const bool known =
        type == PBS_OBJ_SERVER || type == PBS_OBJ_QUEUE || type == PBS_OBJ_SCHED || type == PBS_OBJ_RESOURCE;
    if (known || type == PBS_OBJ_NODE) {
        current_.course = Course::settle;
        current_.body = body;
        if (body.command != PBS_CMD_UNSET) current_.warning = warning_of(type, body.object, attributes);
        if (body.command == PBS_CMD_DELETE && known && type != PBS_OBJ_SERVER)
            return before_delete(sock, request, body, attributes);
    }
    return feed_manage(sock, request, body.command, type, body.object, attributes);
}

// Keeps the request until it is answered.
int Shim::hold(int sock, ifl::Request request) {
    Extend extend;
    if (!current_.extend) {
        if (const int rc = library_.get_extend(sock, extend.text, extend.present); rc != 0) return rc;
    } else {
        extend = *current_.extend;
    }
    request.extend = std::move(extend.text);
    Held waiting;
    waiting.connection = current_.connection;
    waiting.request = std::move(request);
    waiting.address = address_of(sock);
    waiting.deadline = Clock::now() + options_.time_limit;
    held_[sock] = std::move(waiting);
    current_.course = Course::probe;
    return 0;
}

// Asks the service before the server deletes a queue or resource, because an object of the plugin that names
// it prevents the deletion.
int Shim::before_delete(int sock, void* request, const ifl::Manage& body, const RawAttributes& attributes) {
    if (link_.up() && !body.object.empty()) {
        other_answer_.reset();
        ask_apart(sock, Ask::Kind::check, body);
        const Clock::time_point until = Clock::now() + options_.patience;
        while (!other_answer_ && link_.up() && Clock::now() < until)
            take(link_.receive(std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now())));
        if (other_answer_ && !other_answer_->empty() && code_of(other_answer_->front()) != 0) {
            Extend skipped;
            if (const int rc = library_.get_extend(sock, skipped.text, skipped.present); rc != 0) return rc;
            current_.refusal = other_answer_->front();
            return probe(sock, request, PBS_CMD_CREATE);
        }
    }
    return feed_manage(sock, request, body.command, body.object_type, body.object, attributes);
}

int Shim::decode_status(int sock, void* request) {
    const unsigned long type = current_.type;
    const bool looks = type == kStatusQueue || type == kStatusServer || type == kStatusSched;
    if (!is_current(sock) || !looks || is_schedulers(current_.connection))
        return library_.real().decode_status(sock, request);
    std::string name;
    RawAttributes wanted;
    if (const int rc = library_.get_text(sock, kLongestNames, name); rc != 0) return rc;
    if (const int rc = library_.get_attributes(sock, wanted); rc != 0) return rc;
    Extend extend;
    if (const int rc = library_.get_extend(sock, extend.text, extend.present); rc != 0) return rc;
    current_.extend = extend;
    if (type == kStatusSched && !kind_of(extend.text).empty())
        return hold_status(sock, request, name, wanted);
    current_.object_type = listed_type(type);
    current_.all_wanted = wanted.empty();
    std::erase_if(wanted, [&](const RawAttribute& one) {
        if (find_owned(current_.object_type, one.name) == nullptr) return false;
        current_.wanted.push_back(one.name);
        return true;
    });
    current_.servers_wanted = current_.all_wanted || !wanted.empty();
    current_.course = Course::listing;
    // Ask the server for all attributes of schedulers. If a request named an attribute that the server
    // doesn't know, it would answer twice and end.
    if (type == kStatusSched) current_.servers_own = std::exchange(wanted, {});
    return feed_status(sock, request, name, wanted);
}

int Shim::hold_status(int sock, void* request, const std::string& name, const RawAttributes& wanted) {
    ifl::Status body{name, {}};
    for (const RawAttribute& one : wanted) body.wanted.push_back(one.attribute());
    if (const int rc = hold(sock, {ifl::RequestType::status_scheduler, current_.user, body, {}}); rc != 0)
        return rc;
    current_.extend = Extend{};
    return feed_status(sock, request, {}, {});
}

int Shim::decode_run(int sock, void* request) {
    if (!is_current(sock) || !current_.run) return library_.real().decode_run(sock, request);
    std::string data;
    ifl::DisWriter out(data);
    out.put_string(current_.run->job);
    out.put_string(current_.run->destination);
    out.put_unsigned(current_.run->argument);
    return library_.feed(data, [&] { return library_.real().decode_run(sock, request); });
}

int Shim::decode_extend(int sock, void* request) {
    if (!is_current(sock) || !current_.extend) return library_.real().decode_extend(sock, request);
    std::string data;
    ifl::DisWriter out(data);
    out.put_unsigned(current_.extend->present ? 1 : 0);
    if (current_.extend->present) out.put_string(current_.extend->text);
    return library_.feed(data, [&] { return library_.real().decode_extend(sock, request); });
}

}  // namespace pbs::openpbs
