// The record of a scheduling cycle: a text with the scheduler's whole state and its decisions, from which the
// cycle can be run again elsewhere.
//
// A record is lines of JSON, each an object with one key that names its kind:
//
//   {"pbspolicy_record":1,"time_zone":"Europe/Berlin"}
//       the version of the format; it comes first. "version":N is the number of the last change that the
//       state contains (pbs_statchanges)
//   {"resource":{"id":0,"name":"ncpus","kind":"integer","consumable":true}}
//   {"server":{...}}  {"queue":{...}}  {"sched":{...}}  {"vnode":{...}}  {"reservation":{...}}  {"job":{...}}
//   {"past_usage":{...}}
//   {"allocations":{...}}  {"outages":{...}}  {"told":{...}}
//   {"object":{"type":"policy","name":"p1","attributes":{"by_queue":"False"}}}
//   {"sched_config":{...}}  {"fair_share":{...}}  {"tick":{...}}
//   {"cycle":{"now":1795424400,"sched":"default","trigger":5}}
//   {"confirm":{"reservation":"R12.server","places":[...]}}  {"deny":{...}}
//   {"run":{"job":"12.server","queue":"batch","text":"Started on ...","places":[...]}}
//   {"reject":{...}}  {"comment":{...}}  {"move":{...}}  {"log":{...}}  {"sorted_jobs":{...}}
//   {"schedule":{...}}
//   {"end":{"jobs_considered":3}}
//
// in this order. Only reservation, object, sched_config, fair_share and the lines after "cycle" may be
// missing. A place with "joined" belongs to the same chunk as the place before it. A place with
// "next_occurrence" is the first place of the next requested occurrence of a standing reservation.
//
// Values that are the defaults (false, no limit, empty) are left out. Instants are seconds since 1970-01-01
// UTC, durations are seconds, amounts are [resource, number or text]. Queues, vnodes and jobs are given by
// their handles, in decisions by their names. A string that isn't UTF-8 is {"hex":"e9"}; in names that are
// keys, bytes other than printable ASCII are written as %e9.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/record.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::record {

using sched::Error;
using sched::Instant;
using sched::Result;
using sched::Seconds;

inline constexpr int kRecordFormat = 1;

// The request for the recorded cycle, and the modes of the scheduler.
struct CycleAsked {
    Instant now{};
    std::string sched = "default";
    sched::CycleTrigger trigger = sched::CycleTrigger::command;
    bool whole_chunks = false;   // Scheduler::divides_chunks() is false
    bool no_preemption = false;  // Scheduler::preempts() is false
    std::int64_t version = 0;    // the state's last change, from the first line; 0: unknown
};

// Makes the text of a record, line by line.
class RecordWriter {
  public:
    using Sink = std::function<void(std::string_view text)>;

    // With a sink, the text goes there in parts of several lines, and flush() sends the last part.
    explicit RecordWriter(Sink sink = {}) : sink_(std::move(sink)) {}
    void begin(std::string_view time_zone, std::int64_t version = 0);
    void state(const sched::StateRecord& record);
    // Writes the object as it is in the scheduler, or {"gone":{"job":3}} if the scheduler doesn't know it any
    // more.
    void object(const sched::Inspector& scheduler, const sched::ObjectRef& object);
    // Stores the names that decisions need, and writes nothing.
    void state_names(const sched::StateRecord& record);
    void cycle(const CycleAsked& asked);
    void decisions(const sched::Decisions& decided);

    void flush();

    const std::string& text() const { return text_; }
    std::string take() { return std::move(text_); }

  private:
    // The names of objects to which decisions and amounts refer.
    struct Names {
        std::deque<std::string> resources;                          // by id; texts never move
        std::unordered_map<std::string_view, std::uint32_t> first;  // by name: id of the first resource
        std::unordered_map<std::uint64_t, std::string> queues;
        std::unordered_map<std::uint64_t, std::string> vnodes;
        std::unordered_map<std::uint64_t, std::string> jobs;
        std::unordered_map<std::uint64_t, std::string> reservations;
    };
    friend class JsonOut;

    void end_line();

    Sink sink_;
    std::string text_;
    Names names_;
};

// Runs a cycle without carrying out its decisions, and writes its record. Takes the time of a cycle, and the
// time to write all jobs. The text goes to `sink` in parts. If another thread sets `give_up`, writing stops
// in the middle.
void record_cycle(sched::Inspector& scheduler, CycleAsked asked, RecordWriter::Sink sink,
                  const std::atomic<bool>& give_up);

// A line of a record after "cycle": a decision or another result.
struct DecidedLine {
    std::string job;   // id of the job or reservation that the line is about; empty: neither
    std::string text;  // the line's JSON, with sorted keys and without blanks
    std::size_t line = 0;
};

// Receives the steps of a record, one by one, while the record is read.
class RecordSink {
  public:
    virtual ~RecordSink() = default;
    virtual Result<void> begin(const std::string& time_zone) = 0;
    // The strings and spans in `record` are valid only during the call.
    virtual Result<void> state(const sched::StateRecord& record) = 0;
};

struct ReadRecord {
    CycleAsked cycle;
    std::vector<DecidedLine> decided;
};

// Reads a record and passes each of its steps to the sink. Errors begin with "NAME:LINE: " and say what was
// expected there. An error of the sink ends the reading, and gets the line of its step.
Result<ReadRecord> read_record(std::string_view text, std::string_view name, RecordSink& sink);

// Returns the lines of a record after "cycle": decisions and other results.
std::vector<DecidedLine> decided_lines(std::string_view text);

}  // namespace pbs::record
