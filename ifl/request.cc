#include "ifl/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "ifl/pbs_error.h"

namespace pbs::ifl {

namespace {

constexpr std::size_t kMaxUser = 256;
constexpr std::size_t kMaxMethod = 100;
constexpr std::size_t kMaxSignal = 64;

AttributeLimits attribute_limits(const RequestLimits& limits) {
    return {limits.attributes, limits.name, limits.value};
}

void put_strings(DisWriter& out, const std::vector<std::string>& strings) {
    out.put_unsigned(strings.size());
    for (const std::string& s : strings) out.put_string(s);
}

std::vector<std::string> get_strings(DisReader& in, const char* count_field, const char* field,
                                     std::size_t max, std::size_t max_length) {
    std::vector<std::string> strings;
    const std::size_t count = in.get_count(count_field, max, kMinString);
    strings.reserve(count);
    for (std::size_t i = 0; i < count && !in.failed(); ++i)
        strings.push_back(in.get_string(field, max_length));
    return strings;
}

// ---- The bodies: a put() and a get() for each ----

void put(DisWriter&, const Connect&) {}
void get(DisReader&, const RequestLimits&, Connect&) {}

void put(DisWriter&, const Disconnect&) {}
void get(DisReader&, const RequestLimits&, Disconnect&) {}

void put(DisWriter& out, const Authenticate& body) {
    out.put_unsigned(body.method.size());
    out.put_string(body.method);
    out.put_unsigned(body.encrypt_method.size());
    if (!body.encrypt_method.empty()) out.put_string(body.encrypt_method);
    out.put_unsigned(body.port);
}

// Reads a method's name, which is preceded by its length once more.
std::string get_method(DisReader& in, const char* field) {
    const std::uint64_t length = in.get_unsigned(field, kMaxMethod);
    if (length == 0) return {};
    std::string method = in.get_string(field, kMaxMethod);
    if (method.size() != length) in.fail(field, "a name as long as announced expected");
    return method;
}

void get(DisReader& in, const RequestLimits&, Authenticate& body) {
    body.method = get_method(in, "authentication method");
    if (body.method.empty()) in.fail("authentication method", "a name expected, found none");
    body.encrypt_method = get_method(in, "encryption method");
    body.port = in.get_u32("port");
}

void put(DisWriter& out, const QueueJob& body) {
    out.put_string(body.job);
    out.put_string(body.destination);
    put_attributes(out, body.attributes);
}

void get(DisReader& in, const RequestLimits& limits, QueueJob& body) {
    body.job = in.get_string("job", limits.name);
    body.destination = in.get_string("destination", limits.name);
    body.attributes = get_attributes(in, attribute_limits(limits));
}

void put(DisWriter& out, const JobScript& body) {
    out.put_unsigned(body.sequence);
    out.put_unsigned(body.file);
    out.put_unsigned(body.data.size());
    out.put_string(body.job);
    out.put_string(body.data);
}

void get(DisReader& in, const RequestLimits& limits, JobScript& body) {
    body.sequence = in.get_u32("sequence");
    body.file = in.get_u32("file");
    const std::uint64_t size = in.get_unsigned("size of data", limits.script_chunk);
    body.job = in.get_string("job", limits.name);
    body.data = in.get_bytes("data", limits.script_chunk);
    if (body.data.size() != size) in.fail("data", "as many bytes as announced expected");
}

void put(DisWriter& out, const JobId& body) {
    out.put_string(body.job);
}
void get(DisReader& in, const RequestLimits& limits, JobId& body) {
    body.job = in.get_string("job", limits.name);
}

void put(DisWriter& out, const Manage& body) {
    out.put_unsigned(body.command);
    out.put_unsigned(body.object_type);
    out.put_string(body.object);
    put_attributes(out, body.attributes);
}

void get(DisReader& in, const RequestLimits& limits, Manage& body) {
    body.command = in.get_u32("command");
    body.object_type = in.get_u32("object type");
    body.object = in.get_string("object", limits.name);
    body.attributes = get_attributes(in, attribute_limits(limits));
}

// DeleteJobList and PreemptJobs have a list of jobs alone.
template <class Body>
void put(DisWriter& out, const Body& body) requires requires {
    body.jobs;
}
{
    static_assert(sizeof(Body) == sizeof body.jobs);  // further members need functions of their own
    put_strings(out, body.jobs);
}
template <class Body>
void get(DisReader& in, const RequestLimits& limits, Body& body) requires requires {
    body.jobs;
}
{ body.jobs = get_strings(in, "number of jobs", "job", limits.jobs, limits.name); }

void put(DisWriter& out, const MessageJob& body) {
    out.put_string(body.job);
    out.put_unsigned(body.file);
    out.put_string(body.text);
}

void get(DisReader& in, const RequestLimits& limits, MessageJob& body) {
    body.job = in.get_string("job", limits.name);
    body.file = in.get_u32("file");
    body.text = in.get_string("text", limits.value);
}

void put(DisWriter& out, const MoveJob& body) {
    out.put_string(body.job);
    out.put_string(body.destination);
}

void get(DisReader& in, const RequestLimits& limits, MoveJob& body) {
    body.job = in.get_string("job", limits.name);
    body.destination = in.get_string("destination", limits.name);
}

void put(DisWriter& out, const RunJob& body) {
    out.put_string(body.job);
    out.put_string(body.destination);
    out.put_unsigned(body.argument);
}

void get(DisReader& in, const RequestLimits& limits, RunJob& body) {
    body.job = in.get_string("job", limits.name);
    body.destination = in.get_string("destination", limits.value);
    body.argument = in.get_unsigned("argument");
}

void put(DisWriter& out, const Select& body) {
    put_attributes(out, body.criteria);
    put_attributes(out, body.wanted);
}

void get(DisReader& in, const RequestLimits& limits, Select& body) {
    body.criteria = get_attributes(in, attribute_limits(limits));
    body.wanted = get_attributes(in, attribute_limits(limits));
}

void put(DisWriter& out, const Shutdown& body) {
    out.put_unsigned(body.manner);
}
void get(DisReader& in, const RequestLimits&, Shutdown& body) {
    body.manner = in.get_u32("manner");
}

void put(DisWriter& out, const SignalJob& body) {
    out.put_string(body.job);
    out.put_string(body.signal);
}

void get(DisReader& in, const RequestLimits& limits, SignalJob& body) {
    body.job = in.get_string("job", limits.name);
    body.signal = in.get_string("signal", kMaxSignal);
}

void put(DisWriter& out, const Status& body) {
    out.put_string(body.object);
    put_attributes(out, body.wanted);
}

void get(DisReader& in, const RequestLimits& limits, Status& body) {
    body.object = in.get_string("object", limits.value);
    body.wanted = get_attributes(in, attribute_limits(limits));
}

void put(DisWriter& out, const JobCredential& body) {
    out.put_unsigned(body.kind);
    out.put_string(body.data);
}

void get(DisReader& in, const RequestLimits& limits, JobCredential& body) {
    body.kind = in.get_u32("kind");
    body.data = in.get_bytes("data", limits.value);
}

void put(DisWriter& out, const UserCredential& body) {
    out.put_string(body.user);
    out.put_unsigned(body.kind);
    out.put_string(body.data);
}

void get(DisReader& in, const RequestLimits& limits, UserCredential& body) {
    body.user = in.get_string("user", kMaxUser);
    body.kind = in.get_u32("kind");
    body.data = in.get_bytes("data", limits.value);
}

void put(DisWriter& out, const RegisterScheduler& body) {
    out.put_string(body.name);
}

void get(DisReader& in, const RequestLimits& limits, RegisterScheduler& body) {
    body.name = in.get_string("scheduler", limits.name);
}

void put(DisWriter& out, const ReleaseNodes& body) {
    out.put_string(body.job);
    out.put_string(body.nodes);
}

void get(DisReader& in, const RequestLimits& limits, ReleaseNodes& body) {
    body.job = in.get_string("job", limits.name);
    body.nodes = in.get_string("nodes", limits.value);
}

void put(DisWriter& out, const ModifyReservation& body) {
    out.put_unsigned(body.object_type);
    out.put_string(body.object);
    put_attributes(out, body.attributes);
}

void get(DisReader& in, const RequestLimits& limits, ModifyReservation& body) {
    body.object_type = in.get_u32("object type");
    body.object = in.get_string("object", limits.name);
    body.attributes = get_attributes(in, attribute_limits(limits));
}

void put(DisWriter& out, const DeferredSchedulerReply& body) {
    out.put_signed(body.command);
    out.put_string(body.object);
    out.put_signed(body.error);
    out.put_signed(body.text.empty() ? 0 : 1);
    if (!body.text.empty()) out.put_string(body.text);
}

void get(DisReader& in, const RequestLimits& limits, DeferredSchedulerReply& body) {
    body.command = in.get_i32("command");
    body.object = in.get_string("object", limits.name);
    body.error = in.get_i32("error");
    if (in.get_unsigned("text follows", 1) == 1) body.text = in.get_string("text", limits.value);
}

void put(DisWriter& out, const ResourceQuery& body) {
    out.put_signed(body.handle);
    put_strings(out, body.resources);
}

void get(DisReader& in, const RequestLimits& limits, ResourceQuery& body) {
    body.handle = in.get_i32("handle");
    body.resources = get_strings(in, "number of resources", "resource", limits.attributes, limits.value);
}

void put(DisWriter& out, const TrackJob& body) {
    out.put_string(body.job);
    out.put_unsigned(body.hop_count);
    out.put_string(body.location);
    out.put_unsigned(body.state);
}

void get(DisReader& in, const RequestLimits& limits, TrackJob& body) {
    body.job = in.get_string("job", limits.name);
    body.hop_count = in.get_u32("hop count");
    body.location = in.get_string("location", limits.name);
    body.state = in.get_u32("state");
}

void put(DisWriter& out, const RegisterDependency& body) {
    out.put_string(body.owner);
    out.put_string(body.parent);
    out.put_string(body.child);
    out.put_unsigned(body.kind);
    out.put_unsigned(body.operation);
    out.put_signed(body.cost);
}

void get(DisReader& in, const RequestLimits& limits, RegisterDependency& body) {
    body.owner = in.get_string("owner", kMaxUser);
    body.parent = in.get_string("parent job", limits.name);
    body.child = in.get_string("child job", limits.name);
    body.kind = in.get_u32("dependency type");
    body.operation = in.get_u32("operation");
    body.cost = in.get_signed("cost");
}

void put(DisWriter& out, const SpawnPython& body) {
    out.put_string(body.job);
    for (const auto* list : {&body.arguments, &body.environment}) {
        for (const std::string& s : *list) out.put_string(s);
        out.put_string("");
    }
}

void get(DisReader& in, const RequestLimits& limits, SpawnPython& body) {
    body.job = in.get_string("job", limits.name);
    for (auto* list : {&body.arguments, &body.environment}) {
        for (std::string s; !(s = in.get_string("argument", limits.value)).empty();) {
            if (list->size() == limits.attributes) {
                in.fail("argument", fmt::format("at most {} strings expected", limits.attributes));
                break;
            }
            list->push_back(std::move(s));
        }
    }
}

// ---- The request types, each with its name and its body ----

struct Codec {
    RequestType type;
    std::string_view name;
    RequestBody (*get)(DisReader&, const RequestLimits&);
    bool (*holds)(const RequestBody&);
};

template <class Body>
constexpr Codec codec(RequestType type, std::string_view name) {
    return {type, name,
            [](DisReader& in, const RequestLimits& limits) -> RequestBody {
                Body body;
                get(in, limits, body);
                return body;
            },
            [](const RequestBody& body) { return std::holds_alternative<Body>(body); }};
}

constexpr Codec kCodecs[] = {
    codec<Connect>(RequestType::connect, "Connect"),
    codec<QueueJob>(RequestType::queue_job, "QueueJob"),
    codec<JobScript>(RequestType::job_script, "JobScript"),
    codec<JobId>(RequestType::ready_to_commit, "ReadyToCommit"),
    codec<JobId>(RequestType::commit, "Commit"),
    codec<Manage>(RequestType::delete_job, "DeleteJob"),
    codec<Manage>(RequestType::hold_job, "HoldJob"),
    codec<JobId>(RequestType::locate_job, "LocateJob"),
    codec<Manage>(RequestType::manager, "Manager"),
    codec<MessageJob>(RequestType::message_job, "MessageJob"),
    codec<Manage>(RequestType::modify_job, "ModifyJob"),
    codec<MoveJob>(RequestType::move_job, "MoveJob"),
    codec<Manage>(RequestType::release_job, "ReleaseJob"),
    codec<JobId>(RequestType::rerun_job, "RerunJob"),
    codec<RunJob>(RequestType::run_job, "RunJob"),
    codec<Select>(RequestType::select_jobs, "SelectJobs"),
    codec<Shutdown>(RequestType::shutdown, "Shutdown"),
    codec<SignalJob>(RequestType::signal_job, "SignalJob"),
    codec<Status>(RequestType::status_job, "StatusJob"),
    codec<Status>(RequestType::status_queue, "StatusQueue"),
    codec<Status>(RequestType::status_server, "StatusServer"),
    codec<TrackJob>(RequestType::track_job, "TrackJob"),
    codec<RunJob>(RequestType::async_run_job, "AsyncRunJob"),
    codec<ResourceQuery>(RequestType::resource_query, "ResourceQuery"),
    codec<ResourceQuery>(RequestType::reserve_resources, "ReserveResources"),
    codec<ResourceQuery>(RequestType::release_resources, "ReleaseResources"),
    codec<Shutdown>(RequestType::failover, "Failover"),
    codec<RunJob>(RequestType::stage_in, "StageIn"),
    codec<MoveJob>(RequestType::order_job, "OrderJob"),
    codec<Select>(RequestType::select_status, "SelectStatus"),
    codec<RegisterDependency>(RequestType::register_dependency, "RegisterDependency"),
    codec<JobScript>(RequestType::move_job_file, "MoveJobFile"),
    codec<Status>(RequestType::status_node, "StatusNode"),
    codec<Disconnect>(RequestType::disconnect, "Disconnect"),
    codec<JobCredential>(RequestType::job_credential, "JobCredential"),
    codec<QueueJob>(RequestType::submit_reservation, "SubmitReservation"),
    codec<Status>(RequestType::status_reservation, "StatusReservation"),
    codec<Manage>(RequestType::delete_reservation, "DeleteReservation"),
    codec<UserCredential>(RequestType::user_credential, "UserCredential"),
    codec<RunJob>(RequestType::confirm_reservation, "ConfirmReservation"),
    codec<DeferredSchedulerReply>(RequestType::deferred_scheduler_reply, "DeferredSchedulerReply"),
    codec<Status>(RequestType::status_scheduler, "StatusScheduler"),
    codec<Status>(RequestType::status_resource, "StatusResource"),
    codec<Status>(RequestType::status_hook, "StatusHook"),
    codec<SpawnPython>(RequestType::spawn_python, "SpawnPython"),
    codec<ReleaseNodes>(RequestType::release_nodes, "ReleaseNodes"),
    codec<ModifyReservation>(RequestType::modify_reservation, "ModifyReservation"),
    codec<Manage>(RequestType::reservation_occurrence_end, "ReservationOccurrenceEnd"),
    codec<PreemptJobs>(RequestType::preempt_jobs, "PreemptJobs"),
    codec<Authenticate>(RequestType::authenticate, "Authenticate"),
    codec<Manage>(RequestType::modify_job_async, "ModifyJobAsync"),
    codec<RunJob>(RequestType::run_job_acknowledged, "RunJobAcknowledged"),
    codec<RegisterScheduler>(RequestType::register_scheduler, "RegisterScheduler"),
    codec<DeleteJobList>(RequestType::delete_job_list, "DeleteJobList"),
};

const Codec* find_codec(RequestType type) {
    const auto* found = std::find_if(std::begin(kCodecs), std::end(kCodecs),
                                     [type](const Codec& c) { return c.type == type; });
    return found == std::end(kCodecs) ? nullptr : found;
}

Error malformed(std::string_view request, const DisReader& in) {
    return {PBSE_DISPROTO, fmt::format("malformed {} request: {}", request, in.error())};
}

void put_request(std::string& out, const Request& request) {
    [[maybe_unused]] const Codec* known = find_codec(request.type);
    assert(known && known->holds(request.body));
    DisWriter dis(out);
    dis.put_unsigned(kProtocolType);
    dis.put_unsigned(kProtocolVersion);
    dis.put_unsigned(static_cast<std::uint64_t>(request.type));
    dis.put_string(request.user);
    if (request.type == RequestType::disconnect) return;
    std::visit([&dis](const auto& body) { put(dis, body); }, request.body);
    dis.put_unsigned(request.extend.empty() ? 0 : 1);
    if (!request.extend.empty()) dis.put_string(request.extend);
}

}  // namespace

RequestBody::RequestBody() = default;
RequestBody::RequestBody(const RequestBody&) = default;
RequestBody::RequestBody(RequestBody&&) noexcept = default;
RequestBody& RequestBody::operator=(const RequestBody&) = default;
RequestBody& RequestBody::operator=(RequestBody&&) noexcept = default;
RequestBody::~RequestBody() = default;
bool RequestBody::operator==(const RequestBody& other) const {
    return static_cast<const AnyRequestBody&>(*this) == static_cast<const AnyRequestBody&>(other);
}

std::string_view request_name(RequestType type) {
    const Codec* known = find_codec(type);
    return known ? known->name : std::string_view();
}

bool has_reply(RequestType type) {
    return type != RequestType::async_run_job && type != RequestType::modify_job_async &&
           type != RequestType::disconnect;
}

RequestLimits RequestLimits::before_authentication() {
    RequestLimits limits;
    limits.packet = 4096;
    return limits;
}

std::string encode_request(const Request& request) {
    std::string data;
    put_request(data, request);
    return data;
}

std::string request_packet(const Request& request) {
    std::string packet;
    const std::size_t begin = begin_packet(packet);
    put_request(packet, request);
    end_packet(packet, begin);
    return packet;
}

Result<Request> decode_request(std::string_view data, const RequestLimits& limits) {
    DisReader in(data);
    if (in.get_unsigned("protocol type") != kProtocolType) in.fail("protocol type", "2 expected");
    if (in.get_unsigned("protocol version") != kProtocolVersion) in.fail("protocol version", "2 expected");
    const std::uint32_t number = in.get_u32("request type");
    Request request;
    request.user = in.get_string("user", kMaxUser);
    if (in.failed()) return tl::unexpected(malformed("batch", in));

    request.type = static_cast<RequestType>(number);
    const Codec* known = number <= UINT16_MAX ? find_codec(request.type) : nullptr;
    if (!known) return tl::unexpected(Error{PBSE_UNKREQ, fmt::format("unknown request type {}", number)});
    request.body = known->get(in, limits);
    if (request.type == RequestType::disconnect) return request;

    if (in.get_unsigned("extend string follows", 1) == 1)
        request.extend = in.get_string("extend string", limits.extend);
    if (!in.failed() && !in.at_end())
        in.fail("end of the request", fmt::format("{} bytes follow it", in.remaining()));
    if (in.failed()) return tl::unexpected(malformed(known->name, in));
    return request;
}

void RequestDecoder::set_limits(const RequestLimits& limits) {
    limits_ = limits;
    packets_.set_max_data(limits.packet);
}

RequestDecoder::Decoded RequestDecoder::next() {
    if (malformed_.code != 0) return Malformed{malformed_};
    auto packet = packets_.next();
    if (!packet) {
        malformed_ = std::move(packet.error());
        return Malformed{malformed_};
    }
    if (!*packet) return NeedMore{};
    auto request = decode_request(**packet, limits_);
    if (!request) {
        malformed_ = std::move(request.error());
        return Malformed{malformed_};
    }
    return std::move(*request);
}

Result<std::optional<RequestDecoder::Token>> RequestDecoder::next_token() {
    if (malformed_.code != 0) return tl::unexpected(malformed_);
    auto packet = packets_.next();
    if (!packet) {
        malformed_ = packet.error();
        return tl::unexpected(std::move(packet.error()));
    }
    if (!*packet) return std::nullopt;
    return Token{packets_.type(), std::string(**packet)};
}

}  // namespace pbs::ifl
