// Requests of the batch protocol: their contents, encoding and decoding.
//
// On the wire a request is, in DIS: the protocol's type (2) and version (2), the request type, the user's
// name; then the body, which depends on the type (documented at each structure, fields in the order of the
// wire); then 0, or 1 and the extend string. Disconnect ends after the user's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ifl/attribute.h"
#include "ifl/packet.h"

namespace pbs::ifl {

inline constexpr unsigned kProtocolType = 2;
inline constexpr unsigned kProtocolVersion = 2;
/// A client sends a script in pieces of this size, the last one shorter.
inline constexpr std::size_t kScriptChunk = 65536;

enum class RequestType : std::uint16_t {
    connect = 0,
    queue_job = 1,
    job_script = 3,
    ready_to_commit = 4,
    commit = 5,
    delete_job = 6,
    hold_job = 7,
    locate_job = 8,
    manager = 9,
    message_job = 10,
    modify_job = 11,
    move_job = 12,
    release_job = 13,
    rerun_job = 14,
    run_job = 15,
    select_jobs = 16,
    shutdown = 17,
    signal_job = 18,
    status_job = 19,
    status_queue = 20,
    status_server = 21,
    track_job = 22,
    async_run_job = 23,  // has no reply
    resource_query = 24,
    reserve_resources = 25,
    release_resources = 26,
    failover = 27,
    stage_in = 48,
    order_job = 50,
    select_status = 51,
    register_dependency = 52,
    move_job_file = 57,
    status_node = 58,
    disconnect = 59,
    job_credential = 62,
    submit_reservation = 70,
    status_reservation = 71,
    delete_reservation = 72,
    user_credential = 73,
    confirm_reservation = 75,
    deferred_scheduler_reply = 80,
    status_scheduler = 81,
    status_resource = 82,
    status_hook = 83,
    spawn_python = 84,
    release_nodes = 90,
    modify_reservation = 91,
    reservation_occurrence_end = 92,
    preempt_jobs = 93,
    authenticate = 95,
    modify_job_async = 96,  // has no reply
    run_job_acknowledged = 97,
    register_scheduler = 98,
    delete_job_list = 100,
};

/// The name of a type for log lines, such as "StatusJob"; empty for an unknown type.
std::string_view request_name(RequestType type);

/// connect: the first request on a TCP connection, before authentication. It has no contents.
struct Connect {
    bool operator==(const Connect&) const = default;
};

/// disconnect: the last request on a connection; the server closes it without a reply.
struct Disconnect {
    bool operator==(const Disconnect&) const = default;
};

/// authenticate. On the wire each method's name is preceded by its length once more. `port`: with method
/// "resvport", the client's port of the connection to be authenticated (see ifl/auth.h).
struct Authenticate {
    std::string method;
    std::string encrypt_method;  // empty: none
    std::uint32_t port = 0;
    bool operator==(const Authenticate&) const = default;
};

/// queue_job and submit_reservation. `job` is empty except between servers; `destination` may be empty. An
/// extend string that begins with ":C:" says that the job has no script and is committed at once; the reply
/// is then CommitReply, else QueueReply.
struct QueueJob {
    std::string job;
    std::string destination;
    Attributes attributes;
    bool operator==(const QueueJob&) const = default;
};

/// job_script and move_job_file: one piece of a file of the job last queued on this connection (`job` empty)
/// or of `job`. `sequence` counts from 0. `file`: 0 script, 1 stdin, 2 stdout, 3 stderr, 4 checkpoint.
struct JobScript {
    std::uint32_t sequence = 0;
    std::uint32_t file = 0;
    std::string job;
    std::string data;
    bool operator==(const JobScript&) const = default;
};

/// The body of ready_to_commit, commit, rerun_job and locate_job.
struct JobId {
    std::string job;
    bool operator==(const JobId&) const = default;
};

/// manager, delete_job, hold_job, release_job, modify_job (and its async form), delete_reservation,
/// reservation_occurrence_end. `command` and `object_type` are those of pbs_ifl.h. hold_job and release_job
/// carry one attribute, Hold_Types.
struct Manage {
    std::uint32_t command = 0;
    std::uint32_t object_type = 0;
    std::string object;
    Attributes attributes;
    bool operator==(const Manage&) const = default;
};

/// delete_job_list: sent by qdel and pbs_deljob(); delete_job is its older form.
struct DeleteJobList {
    std::vector<std::string> jobs;
    bool operator==(const DeleteJobList&) const = default;
};

/// message_job. `file`: 1 stdout, 2 stderr, 3 both, 0 the server's choice.
struct MessageJob {
    std::string job;
    std::uint32_t file = 0;
    std::string text;
    bool operator==(const MessageJob&) const = default;
};

/// move_job; also order_job, where `destination` is the other job.
struct MoveJob {
    std::string job;
    std::string destination;
    bool operator==(const MoveJob&) const = default;
};

/// run_job, async_run_job, run_job_acknowledged, stage_in, confirm_reservation. `destination`: vnodes, or
/// empty. `argument`: the start of confirm_reservation, else 0.
struct RunJob {
    std::string job;
    std::string destination;
    std::uint64_t argument = 0;
    bool operator==(const RunJob&) const = default;
};

/// The body of select_jobs and select_status.
struct Select {
    Attributes criteria;
    Attributes wanted;
    bool operator==(const Select&) const = default;
};

/// The body of shutdown (`manner`: SHUT_* of pbs_ifl.h) and failover.
struct Shutdown {
    std::uint32_t manner = 0;
    bool operator==(const Shutdown&) const = default;
};

/// signal_job: a signal's name, with or without "SIG", or number, or suspend, resume and the like.
struct SignalJob {
    std::string job;
    std::string signal;
    bool operator==(const SignalJob&) const = default;
};

/// status_*. `object` is a name, or empty for all; status_job takes several job identifiers separated by
/// commas. Only the names of `wanted` are read; an empty list means all attributes. With an extend string
/// "object=KIND", status_scheduler asks for objects of the policy plugin, such as policy or history; after a
/// ';' the caller's own extend string follows.
struct Status {
    std::string object;
    Attributes wanted;
    bool operator==(const Status&) const = default;
};

/// The body of job_credential.
struct JobCredential {
    std::uint32_t kind = 0;
    std::string data;
    bool operator==(const JobCredential&) const = default;
};

/// The body of user_credential.
struct UserCredential {
    std::string user;
    std::uint32_t kind = 0;
    std::string data;
    bool operator==(const UserCredential&) const = default;
};

/// The body of register_scheduler.
struct RegisterScheduler {
    std::string name;
    bool operator==(const RegisterScheduler&) const = default;
};

/// The body of release_nodes.
struct ReleaseNodes {
    std::string job;
    std::string nodes;
    bool operator==(const ReleaseNodes&) const = default;
};

/// modify_reservation: like Manage, without a command.
struct ModifyReservation {
    std::uint32_t object_type = 0;
    std::string object;
    Attributes attributes;
    bool operator==(const ModifyReservation&) const = default;
};

/// The body of preempt_jobs.
struct PreemptJobs {
    std::vector<std::string> jobs;
    bool operator==(const PreemptJobs&) const = default;
};

/// The body of deferred_scheduler_reply. On the wire `text` comes after a 1; a 0 stands for no text.
struct DeferredSchedulerReply {
    std::int32_t command = 0;
    std::string object;
    std::int32_t error = 0;
    std::string text;
    bool operator==(const DeferredSchedulerReply&) const = default;
};

/// The body of resource_query, reserve_resources and release_resources.
struct ResourceQuery {
    std::int32_t handle = 0;
    std::vector<std::string> resources;
    bool operator==(const ResourceQuery&) const = default;
};

/// The body of track_job, between servers.
struct TrackJob {
    std::string job;
    std::uint32_t hop_count = 0;
    std::string location;
    std::uint32_t state = 0;
    bool operator==(const TrackJob&) const = default;
};

/// The body of register_dependency, between servers.
struct RegisterDependency {
    std::string owner;
    std::string parent;
    std::string child;
    std::uint32_t kind = 0;
    std::uint32_t operation = 0;
    std::int64_t cost = 0;
    bool operator==(const RegisterDependency&) const = default;
};

/// The body of spawn_python. Each list ends with an empty string on the wire.
struct SpawnPython {
    std::string job;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    bool operator==(const SpawnPython&) const = default;
};

using AnyRequestBody =
    std::variant<Connect, Disconnect, Authenticate, QueueJob, JobScript, JobId, Manage, DeleteJobList,
                 MessageJob, MoveJob, RunJob, Select, Shutdown, SignalJob, Status, JobCredential,
                 UserCredential, RegisterScheduler, ReleaseNodes, ModifyReservation, PreemptJobs,
                 DeferredSchedulerReply, ResourceQuery, TrackJob, RegisterDependency, SpawnPython>;

/// The body of a request. Its copies, moves and destructor are compiled once: otherwise each file that moves
/// a request would take a second more to compile.
class RequestBody : public AnyRequestBody {
  public:
    using AnyRequestBody::AnyRequestBody;
    using AnyRequestBody::operator=;
    RequestBody();
    RequestBody(const RequestBody&);
    RequestBody(RequestBody&&) noexcept;
    RequestBody& operator=(const RequestBody&);
    RequestBody& operator=(RequestBody&&) noexcept;
    ~RequestBody();
    bool operator==(const RequestBody&) const;
};

/// A request. `user` is the client's own statement; the connection knows who the user is (ifl/auth.h). The
/// body's alternative is the one for the type.
struct Request {
    RequestType type = RequestType::connect;
    std::string user;
    RequestBody body;
    std::string extend;

    bool operator==(const Request&) const = default;
};

/// Returns whether a request of this type gets a reply.
bool has_reply(RequestType type);

/// The largest request that a server accepts. A client that sends more is refused, and its connection closed.
struct RequestLimits {
    std::size_t packet = 8U << 20;        ///< bytes of the whole request
    std::size_t name = 1024;              ///< names of users, objects, jobs, queues, attributes, resources
    std::size_t value = 4U << 20;         ///< an attribute's value, a list of vnodes, a text
    std::size_t attributes = 10000;       ///< in one list
    std::size_t jobs = 500000;            ///< in one list
    std::size_t script_chunk = 1U << 20;  ///< data of one JobScript
    std::size_t extend = 64U << 10;       ///< the extend string

    /// For a connection whose user isn't known yet: enough for Connect, Authenticate and Disconnect.
    static RequestLimits before_authentication();
};

/// Returns the data of a request's packet, without the packet's header. The body must be the one for the
/// type.
std::string encode_request(const Request& request);

/// Returns the whole packet of a request.
std::string request_packet(const Request& request);

/// Decodes the data of one whole packet. Errors: PBSE_DISPROTO: the data is no request; PBSE_UNKREQ: the
/// request type is unknown.
Result<Request> decode_request(std::string_view data, const RequestLimits& limits = {});

/// Takes requests out of a connection's stream of bytes.
///
///     decoder.feed(bytes_just_read);
///     for (;;) {
///         auto decoded = decoder.next();
///         if (std::holds_alternative<NeedMore>(decoded)) break;
///         if (auto* bad = std::get_if<Malformed>(&decoded)) { reply with bad->error and close; return; }
///         handle(std::get<Request>(std::move(decoded)));
///     }
///
/// A packet longer than the limit is refused when its header arrives; until then no more is kept than the
/// peer has sent. If the caller handles requests one at a time (and feeds nothing while one waits for its
/// reply), the memory of a connection is bounded by the packet limit and one read. The caller has to time out
/// a peer that stops halfway, by in_progress().
class RequestDecoder {
  public:
    struct NeedMore {};
    struct Malformed {
        Error error;
    };
    using Decoded = std::variant<NeedMore, Request, Malformed>;

    explicit RequestDecoder(RequestLimits limits = {}) : limits_(limits), packets_(limits.packet) {}

    /// Sets the limits for the packets that follow; the limits of a connection change when its user becomes
    /// known.
    void set_limits(const RequestLimits& limits);
    void feed(std::string_view bytes) { packets_.feed(bytes); }
    /// The next request. After Malformed, only Malformed follows.
    Decoded next();
    /// A packet that isn't decoded: a token of an authentication method.
    struct Token {
        PacketType type;
        std::string data;
    };
    /// Takes the next packet as a token, where a token is due instead of a request. nullopt: more bytes are
    /// needed. Errors: the bytes are no packet; next() then returns Malformed.
    Result<std::optional<Token>> next_token();
    bool in_progress() const { return packets_.in_progress(); }
    /// The number of buffered bytes that aren't part of a returned request.
    std::size_t unread() const { return packets_.unread(); }
    /// The number of bytes of memory in use.
    std::size_t size() const { return packets_.size(); }

  private:
    RequestLimits limits_;
    PacketReader packets_;
    Error malformed_;
};

}  // namespace pbs::ifl
