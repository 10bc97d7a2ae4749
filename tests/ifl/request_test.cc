#include "ifl/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

using ::testing::HasSubstr;

const Attributes kAttributes{{"Job_Name", "", "hello", Op::set},
                             {"Resource_List", "ncpus", "2", Op::incr},
                             {"Variable_List", "", std::string(5000, 'v'), Op::set},
                             {"empty", "", "", Op::unset}};

struct Row {
    RequestType type;
    RequestBody body;
    std::string extend = {};
};

// Returns a request of every type. Each field of its body has a value.
std::vector<Row> all_requests() {
    const Manage manage{2, 64, "p1", kAttributes};
    const Status status{"1.server,2.server", {{"job_state", "", "", Op::set}}};
    const QueueJob queue_job{"", "workq", kAttributes};
    const RunJob run_job{"1.server", "(n1:ncpus=2)", 18446744073709551615U};
    const JobScript script{7, 0, "1.server", std::string("#!/bin/sh\n\0\xff", 12)};
    const ResourceQuery resources{-1, {"nodes", "mem=1gb"}};
    return {
        {RequestType::connect, Connect{}, "qsub_daemon"},
        {RequestType::queue_job, queue_job, ":C:"},
        {RequestType::job_script, script},
        {RequestType::ready_to_commit, JobId{"1.server"}},
        {RequestType::commit, JobId{"1.server"}},
        {RequestType::delete_job, manage},
        {RequestType::hold_job, Manage{2, 2, "1.server", {{"Hold_Types", "", "u", Op::set}}}},
        {RequestType::locate_job, JobId{"1.server"}},
        {RequestType::manager, manage},
        {RequestType::message_job, MessageJob{"1.server", 1, "hello"}},
        {RequestType::modify_job, manage},
        {RequestType::move_job, MoveJob{"1.server", "q2@other"}},
        {RequestType::release_job, manage},
        {RequestType::rerun_job, JobId{"1.server"}, "force"},
        {RequestType::run_job, run_job},
        {RequestType::select_jobs, Select{kAttributes, {}}},
        {RequestType::shutdown, Shutdown{2}},
        {RequestType::signal_job, SignalJob{"1.server", "SIGTERM"}},
        {RequestType::status_job, status, "xt"},
        {RequestType::status_queue, Status{}},
        {RequestType::status_server, Status{}},
        {RequestType::track_job, TrackJob{"1.server", 3, "other", 'Q'}},
        {RequestType::async_run_job, run_job},
        {RequestType::resource_query, resources},
        {RequestType::reserve_resources, resources},
        {RequestType::release_resources, resources},
        {RequestType::failover, Shutdown{1}},
        {RequestType::stage_in, run_job},
        {RequestType::order_job, MoveJob{"1.server", "2.server"}},
        {RequestType::select_status, Select{kAttributes, kAttributes}},
        {RequestType::register_dependency, RegisterDependency{"u@h", "1.server", "2.server", 4, 1, -12}},
        {RequestType::move_job_file, script},
        {RequestType::status_node, status},
        {RequestType::disconnect, Disconnect{}},
        {RequestType::job_credential, JobCredential{1, std::string("\0secret", 7)}},
        {RequestType::submit_reservation, queue_job},
        {RequestType::status_reservation, status},
        {RequestType::delete_reservation, manage},
        {RequestType::user_credential, UserCredential{"alice", 1, "secret"}},
        {RequestType::confirm_reservation, run_job, "confirm"},
        {RequestType::deferred_scheduler_reply, DeferredSchedulerReply{1, "R1.server", 15081, "no"}},
        {RequestType::status_scheduler, status, "object=policy;mine"},
        {RequestType::status_resource, status, "p"},
        {RequestType::status_hook, status, "hook"},
        {RequestType::spawn_python, SpawnPython{"1.server", {"-c", "pass"}, {"A=1"}}},
        {RequestType::release_nodes, ReleaseNodes{"1.server", "n1+n2"}},
        {RequestType::modify_reservation, ModifyReservation{4, "R1.server", kAttributes}},
        {RequestType::reservation_occurrence_end, manage},
        {RequestType::preempt_jobs, PreemptJobs{{"1.server", "2.server"}}},
        {RequestType::authenticate, Authenticate{"munge", "tls", 40000}},
        {RequestType::modify_job_async, manage},
        {RequestType::run_job_acknowledged, run_job},
        {RequestType::register_scheduler, RegisterScheduler{"default"}},
        {RequestType::delete_job_list, DeleteJobList{{"1.server", "2[].server"}}, "force"},
    };
}

Request make(const Row& row) {
    return {row.type, "alice", row.body, row.extend};
}

TEST(Request, EveryTypeComesBackAsItWasSent) {
    for (const Row& row : all_requests()) {
        const Request request = make(row);
        const auto decoded = decode_request(encode_request(request));
        ASSERT_TRUE(decoded.has_value()) << request_name(row.type) << ": " << decoded.error().message;
        EXPECT_EQ(*decoded, request) << request_name(row.type);
    }
}

TEST(Request, TheTableAboveHasEveryType) {
    std::set<unsigned> tested;
    for (const Row& row : all_requests()) tested.insert(static_cast<unsigned>(row.type));
    for (unsigned type = 0; type < 200; ++type) {
        EXPECT_EQ(tested.contains(type), !request_name(static_cast<RequestType>(type)).empty()) << type;
    }
}

TEST(Request, EveryProperPrefixIsRefused) {
    for (const Row& row : all_requests()) {
        const std::string data = encode_request(make(row));
        // cut a short request after each byte, and a long one after every 97th
        const std::size_t step = data.size() > 500 ? 97 : 1;
        for (std::size_t length = 0; length < data.size(); length += step) {
            const auto decoded = decode_request(std::string_view(data).substr(0, length));
            ASSERT_FALSE(decoded.has_value()) << request_name(row.type) << ", " << length << " bytes";
            EXPECT_EQ(decoded.error().code, PBSE_DISPROTO);
        }
    }
}

TEST(Request, BytesAfterItsEndAreRefused) {
    for (const Row& row : all_requests()) {
        if (row.type == RequestType::disconnect) continue;  // bytes after a disconnect are ignored
        const auto decoded = decode_request(encode_request(make(row)) + "+0");
        ASSERT_FALSE(decoded.has_value()) << request_name(row.type);
        EXPECT_THAT(decoded.error().message, HasSubstr("end of the request"));
    }
}

// Encoded requests equal, byte by byte, those of OpenPBS 23.06 clients.
TEST(Request, MatchesTheWire) {
    EXPECT_EQ(encode_request({RequestType::connect, "root", Connect{}, ""}), "+2+2+0+4root+0");
    EXPECT_EQ(encode_request({RequestType::disconnect, "root", Disconnect{}, ""}), "+2+22+59+4root");
    EXPECT_EQ(encode_request({RequestType::authenticate, "root", Authenticate{"resvport", "", 40000}, ""}),
              "+2+22+95+4root+8+8resvport+05+40000+0");
    EXPECT_EQ(encode_request({RequestType::status_server, "root", Status{}, ""}), "+2+22+21+4root+0+0+0");
    EXPECT_EQ(encode_request(
                  {RequestType::manager, "root", Manage{0, 1, "q9", {{"enabled", "", "true", Op::set}}}, ""}),
              "+2+2+9+4root+0+1+2q9+12+13+7enabled+0+4true+0+0");
    EXPECT_EQ(encode_request({RequestType::modify_job, "root",
                              Manage{2, 2, "7.s", {{"Resource_List", "walltime", "10", Op::set}}}, "x"}),
              "+2+22+11+4root+2+2+37.s+12+262+13Resource_List+1+8walltime+210+0+1+1x");
    EXPECT_EQ(encode_request({RequestType::job_script, "root", JobScript{0, 0, "", "echo hi\n"}, ""}),
              "+2+2+3+4root+0+0+8+0+8echo hi\n+0");
    EXPECT_EQ(encode_request({RequestType::delete_job_list, "root", DeleteJobList{{"7"}}, "force"}),
              "+2+23+100+4root+1+17+1+5force");
    EXPECT_EQ(encode_request({RequestType::run_job, "root", RunJob{"7.s", "", 0}, ""}),
              "+2+22+15+4root+37.s+0+0+0");
}

TEST(Request, UnknownTypesAreToldFromMalformedRequests) {
    for (const char* type : {"+4", "2+29", "3+101", "5+65536", "210+4294967295"}) {
        const std::string number = type == std::string("+4") ? "2+49" : type;
        const auto decoded = decode_request("+2+2" + number + "+4root+0");
        ASSERT_FALSE(decoded.has_value());
        EXPECT_EQ(decoded.error().code, PBSE_UNKREQ);
        EXPECT_THAT(decoded.error().message, HasSubstr("unknown request type"));
    }
}

struct Refused {
    const char* data;
    const char* reason;
};

TEST(Request, RefusalsNameThePlaceAndWhatIsWrong) {
    const Refused rows[] = {
        {"", "malformed batch request: protocol type, at byte 0"},
        {"+3+2+0+0+0", "protocol type, at byte 2: 2 expected"},
        {"+2+1+0+0+0", "protocol version, at byte 4: 2 expected"},
        {"+2+2+0+9root+0", "user, at byte 8: a string of 9 bytes expected"},
        {"+2+2+0+4root+2", "extend string follows, at byte 14: a number from 0 to 1 expected"},
        {"+2+2+9+4root+0+1+2q9210+4000000000", "number of attributes"},
        {"+2+2+9+4root+0+1+2q9+12+13+7enabled+2+4true+0+0", "attribute has a resource"},
        {"+2+2+9+4root+0+1+2q9+12+13+7enabled+0+4true2+12+0", "attribute operation"},
        {"+2+22+95+4root+0+0+0+0+0", "authentication method, at byte 16: a name expected, found none"},
        {"+2+22+95+4root+7+8resvport+0+1+0",
         "authentication method, at byte 26: a name as long as announced"},
        {"+2+2+3+4root+0+0+7+0+8echo hi\n+0", "data, at byte 30: as many bytes as announced expected"},
        {"+2+23+100+4root9+500001000", "number of jobs"},
    };
    for (const Refused& row : rows) {
        const auto decoded = decode_request(row.data);
        ASSERT_FALSE(decoded.has_value()) << row.data;
        EXPECT_EQ(decoded.error().code, PBSE_DISPROTO) << row.data;
        EXPECT_THAT(decoded.error().message, HasSubstr(row.reason)) << row.data;
    }
}

TEST(Request, LimitsAreExact) {
    RequestLimits limits;
    limits.name = 8;
    limits.value = 8;
    limits.attributes = 2;
    limits.jobs = 2;
    limits.script_chunk = 8;
    limits.extend = 8;
    const std::string eight = "12345678";
    const std::string nine = "123456789";
    const auto accepts = [&limits](RequestType type, RequestBody body, const std::string& extend = {}) {
        return decode_request(encode_request({type, "u", std::move(body), extend}), limits).has_value();
    };
    EXPECT_TRUE(accepts(RequestType::commit, JobId{eight}));
    EXPECT_FALSE(accepts(RequestType::commit, JobId{nine}));
    EXPECT_TRUE(accepts(RequestType::commit, JobId{""}, eight));
    EXPECT_FALSE(accepts(RequestType::commit, JobId{""}, nine));
    EXPECT_TRUE(accepts(RequestType::job_script, JobScript{0, 0, "", eight}));
    EXPECT_FALSE(accepts(RequestType::job_script, JobScript{0, 0, "", nine}));
    EXPECT_TRUE(accepts(RequestType::delete_job_list, DeleteJobList{{"1", "2"}}));
    EXPECT_FALSE(accepts(RequestType::delete_job_list, DeleteJobList{{"1", "2", "3"}}));
    EXPECT_TRUE(accepts(RequestType::status_job, Status{eight, {{"a"}, {"b"}}}));
    EXPECT_FALSE(accepts(RequestType::status_job, Status{nine, {}}));
    EXPECT_FALSE(accepts(RequestType::status_job, Status{"", {{"a"}, {"b"}, {"c"}}}));
    EXPECT_FALSE(accepts(RequestType::status_job, Status{"", {{nine}}}));
    EXPECT_FALSE(accepts(RequestType::status_job, Status{"", {{"a", nine}}}));
    EXPECT_TRUE(accepts(RequestType::manager, Manage{0, 0, "", {{"a", "", eight}}}));
    EXPECT_FALSE(accepts(RequestType::manager, Manage{0, 0, "", {{"a", "", nine}}}));
    EXPECT_FALSE(accepts(RequestType::spawn_python, SpawnPython{"", {"1", "2", "3"}, {}}));
    EXPECT_FALSE(
        decode_request(encode_request({RequestType::connect, std::string(257, 'u'), Connect{}, ""})));
}

TEST(RequestDecoder, TakesRequestsThatArriveByteByByte) {
    RequestDecoder decoder;
    std::vector<Request> expected;
    std::vector<Request> got;
    for (const Row& row : all_requests()) {
        expected.push_back(make(row));
        for (const char c : request_packet(expected.back())) {
            decoder.feed({&c, 1});
            auto decoded = decoder.next();
            ASSERT_FALSE(std::holds_alternative<RequestDecoder::Malformed>(decoded));
            if (auto* request = std::get_if<Request>(&decoded)) {
                got.push_back(std::move(*request));
                EXPECT_FALSE(decoder.in_progress());
            } else {
                EXPECT_TRUE(decoder.in_progress());
            }
        }
    }
    EXPECT_EQ(got, expected);
}

TEST(RequestDecoder, TakesRequestsThatArriveTogether) {
    RequestDecoder decoder;
    std::string stream;
    for (const Row& row : all_requests()) stream += request_packet(make(row));
    decoder.feed(stream);
    for (const Row& row : all_requests()) {
        auto decoded = decoder.next();
        ASSERT_TRUE(std::holds_alternative<Request>(decoded)) << request_name(row.type);
        EXPECT_EQ(std::get<Request>(decoded), make(row));
    }
    EXPECT_TRUE(std::holds_alternative<RequestDecoder::NeedMore>(decoder.next()));
}

TEST(RequestDecoder, AfterAMalformedRequestAllFurtherBytesAreRefused) {
    RequestDecoder decoder;
    decoder.feed(make_packet("+2+2+0+4root+0+0"));
    decoder.feed(request_packet({RequestType::connect, "root", Connect{}, ""}));
    for (int i = 0; i < 3; ++i) {
        const auto decoded = decoder.next();
        const auto* bad = std::get_if<RequestDecoder::Malformed>(&decoded);
        ASSERT_TRUE(bad);
        EXPECT_EQ(bad->error.code, PBSE_DISPROTO);
        EXPECT_THAT(bad->error.message, HasSubstr("malformed Connect request"));
    }
}

TEST(RequestDecoder, HasLittleRoomForAPeerThatIsNotKnown) {
    const Request authenticate{RequestType::authenticate, std::string(256, 'u'),
                               Authenticate{"resvport", "", 1}, ""};
    const Request large{RequestType::status_job, "u", Status{std::string(5000, 'x'), {}}, ""};
    RequestDecoder decoder(RequestLimits::before_authentication());
    decoder.feed(request_packet(authenticate));
    EXPECT_TRUE(std::holds_alternative<Request>(decoder.next()));
    decoder.set_limits({});
    decoder.feed(request_packet(large));
    EXPECT_TRUE(std::holds_alternative<Request>(decoder.next()));

    RequestDecoder unknown(RequestLimits::before_authentication());
    unknown.feed(request_packet(large).substr(0, kPacketHeaderSize));
    EXPECT_TRUE(std::holds_alternative<RequestDecoder::Malformed>(unknown.next()));
}

TEST(RequestDecoder, HandsOutTokensAsTheyAre) {
    RequestDecoder decoder(RequestLimits::before_authentication());
    const std::string token = make_packet("MUNGE:abc:", PacketType::auth_token);
    decoder.feed(token.substr(0, 12));
    auto none = decoder.next_token();
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
    decoder.feed(token.substr(12) + request_packet({RequestType::connect, "u", Connect{}, ""}));
    auto taken = decoder.next_token();
    ASSERT_TRUE(taken && *taken);
    EXPECT_EQ((*taken)->type, PacketType::auth_token);
    EXPECT_EQ((*taken)->data, "MUNGE:abc:");
    EXPECT_TRUE(std::holds_alternative<Request>(decoder.next()));
    decoder.feed("GET / HTTP/1.0");
    EXPECT_FALSE(decoder.next_token());
    EXPECT_FALSE(decoder.next_token());
    EXPECT_TRUE(std::holds_alternative<RequestDecoder::Malformed>(decoder.next()));
}

TEST(Request, OnlyTheThreeThatNobodyWaitsForHaveNoReply) {
    std::vector<RequestType> silent;
    for (const Row& row : all_requests()) {
        if (!has_reply(row.type)) silent.push_back(row.type);
    }
    EXPECT_THAT(silent, ::testing::ElementsAre(RequestType::async_run_job, RequestType::disconnect,
                                               RequestType::modify_job_async));
}

}  // namespace
}  // namespace pbs::ifl
