#include "tests/openpbs/parser_inputs.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <random>
#include <span>

namespace pbs::e2e {
namespace {

using Texts = std::span<const char* const>;

// Parts that spoil an input, or that a parser has to keep.
constexpr std::array kOddParts{"",
                               ",",
                               ",,",
                               "=",
                               "==",
                               ":",
                               "::",
                               "+",
                               "++",
                               "-",
                               "--",
                               "\"",
                               "'",
                               "\\",
                               " ",
                               "  ",
                               "\t",
                               ";",
                               "#",
                               "@",
                               "@@",
                               "%",
                               "[",
                               "]",
                               "(",
                               ")",
                               ".",
                               "..",
                               "/",
                               "~",
                               "^",
                               "!",
                               "&",
                               "<",
                               ">",
                               "|",
                               "*",
                               "?",
                               "$",
                               "`",
                               "{",
                               "}",
                               "_",
                               "é",
                               "\xff",
                               "\xc3",
                               "\xe2\x82",
                               "\x01",
                               "\x7f",
                               "\r",
                               "\n",
                               "0",
                               "-0",
                               "00",
                               "1",
                               "-1",
                               "+1",
                               "2147483647",
                               "2147483648",
                               "4294967296",
                               "x",
                               "X",
                               "0x",
                               "1e3",
                               "1.5",
                               "nan",
                               "\\\n",
                               "a b",
                               "\"a",
                               "'a",
                               "a\"",
                               "\"a,b\"",
                               "'a b'",
                               "a\\,b",
                               "9223372036854775807",
                               "9223372036854775808",
                               "18446744073709551615",
                               "18446744073709551616",
                               "99999999999999999999999999"};
constexpr std::array kSizes{"1gb",  "1500mb", "2kb",  "1024", "512mw", "3tb", "1pb", "10b",          "4w",
                            "1GB",  "2Gb",    "0",    "0b",   "1eb",   "1g",  "gb",  "1.5gb",        "007kb",
                            "-1gb", "1 gb",   "1kbb", "1k",   "2t",    "2p",  "5kw", "8589934592gb", "1mB"};
constexpr std::array kDurations{
    "60",         "1:00",    "01:30:00", "100:00:00",   "1:90",         "90:00",        "00:00:00",
    "0",          "1:2:3:4", "1:1:1",    ":30",         "1:",           "1.5",          "1:00.5",
    "10:00:",     "-5",      "1h",       "99999:59:59", "596523:14:07", "596523:14:08", "2147483647",
    "2147483648", "::",      "1::1",     "+5"};
constexpr std::array kNumbers{"0",   "1",   "2",          "3",          "4",           "16",
                              "100", "-1",  "007",        "+3",         "1k",          "2m",
                              "1.0", "1.5", "2147483647", "2147483648", "-2147483648", "9223372036854775807"};
constexpr std::array kReals{"0", "1.5", "-2.25", ".5",        "5.",   "1e3", "1e-3",
                            "3", "inf", "nan",   "0.1234567", "1.5x", "1,5"};
constexpr std::array kBooleans{"True", "False", "true", "FALSE", "t",  "f",  "y",  "n",
                               "Y",    "1",     "0",    "yes",   "no", "on", "tr", "2"};
constexpr std::array kWords{"abc",     "a",     "A1", "foo_bar", "x-y", "a.b", "linux",
                            "\"a b\"", "'a,b'", "n1", "box",     "red", "a/b"};
constexpr std::array kUsers{"una",     "alice",        "oscar", "una@box", "root",
                            "alice@*", "nobody@x.org", "+una",  "-una",    "*"};
constexpr std::array kJobs{"{job}",       "{job}.box",     "{job}", "999", "{job}[]", "{job}[1]",
                           "{job}[].box", "{job}.box@box", "x",     "-1",  ""};
constexpr std::array kPaths{"/tmp/a", "a",         "box:/tmp/a", "./a/b", "~/x",          "/a b/c",
                            "box:a",  "/dev/null", "a:b:c",      "/tmp/", "^array_index^"};

class Maker {
  public:
    explicit Maker(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
    bool one_in(std::size_t count) { return below(count) == 0; }
    std::string any(Texts texts) { return texts[below(texts.size())]; }

    void add(std::string part) { parts_.push_back(std::move(part)); }
    void add_any(Texts texts) { add(any(texts)); }
    void end_argument() { add(std::string(1, kEndOfArgument)); }
    // Calls `one` for one to `most` elements, and puts a separator between them.
    template <class Function>
    void list(std::size_t most, const char* separator, Function one) {
        for (std::size_t i = 0, count = 1 + below(one_in(2) ? 1 : most); i < count; ++i) {
            if (i > 0) add(separator);
            one();
        }
    }
    // Adds "name=value" for a resource that the test's servers have.
    void resource(bool in_chunk) {
        struct Known {
            const char* name;
            Texts values;
        };
        static const std::array kInChunks{
            Known{"ncpus", kNumbers},      Known{"mem", kSizes},       Known{"host", kWords},
            Known{"arch", kWords},         Known{"vnode", kWords},     Known{"mpiprocs", kNumbers},
            Known{"ompthreads", kNumbers}, Known{"fz_long", kNumbers}, Known{"fz_size", kSizes},
            Known{"fz_real", kReals},      Known{"fz_text", kWords},   Known{"fz_texts", kWords},
            Known{"fz_bool", kBooleans},   Known{"vmem", kSizes},      Known{"naccelerators", kNumbers},
            Known{"nosuch", kNumbers}};
        static const std::array kOfJobs{Known{"walltime", kDurations},
                                        Known{"cput", kDurations},
                                        Known{"ncpus", kNumbers},
                                        Known{"mem", kSizes},
                                        Known{"pmem", kSizes},
                                        Known{"pcput", kDurations},
                                        Known{"file", kSizes},
                                        Known{"nice", kNumbers},
                                        Known{"software", kWords},
                                        Known{"arch", kWords},
                                        Known{"host", kWords},
                                        Known{"mpiprocs", kNumbers},
                                        Known{"fz_job", kNumbers},
                                        Known{"fz_time", kDurations},
                                        Known{"nodect", kNumbers},
                                        Known{"soft_walltime", kDurations},
                                        Known{"min_walltime", kDurations},
                                        Known{"max_walltime", kDurations},
                                        Known{"fz_jobsize", kSizes},
                                        Known{"fz_jobreal", kReals},
                                        Known{"fz_jobbool", kBooleans},
                                        Known{"fz_jobtext", kWords},
                                        Known{"fz_jobtexts", kWords},
                                        Known{"nosuch", kNumbers}};
        const Known known = in_chunk ? kInChunks[below(kInChunks.size())] : kOfJobs[below(kOfJobs.size())];
        add(known.name);
        if (one_in(25)) return;
        add("=");
        add_any(known.values);
    }
    void select() {
        list(3, "+", [&] {
            if (!one_in(4)) {
                add_any(kNumbers);
                if (one_in(6)) return;
                add(":");
            }
            list(3, ":", [&] { resource(true); });
        });
    }
    void place() {
        static constexpr std::array kArrangements{"free", "pack", "scatter", "vscatter", "Free", "packed"};
        static constexpr std::array kSharing{"excl", "shared", "exclhost", "exclusive"};
        list(3, ":", [&] {
            switch (below(3)) {
                case 0:
                    return add_any(kArrangements);
                case 1:
                    return add_any(kSharing);
                default:
                    add("group=");
                    add_any(kWords);
            }
        });
    }
    void resources() {
        switch (below(6)) {
            case 0:
                add("place=");
                return place();
            case 1:
            case 2:
                add("select=");
                return select();
            case 3:
                add("nodes=");
                return nodes();
            default:
                list(3, ",", [&] { resource(false); });
        }
    }
    void nodes() {
        static constexpr std::array kProperties{"ppn=2", "ncpus=2", "cpp=2", "n1",
                                                "red",   "mem=1gb", "ppn=x", "ppn="};
        list(2, "+", [&] {
            if (one_in(2))
                add_any(kNumbers);
            else
                add_any(kWords);
            if (one_in(2)) return;
            add(":");
            list(2, ":", [&] { add_any(kProperties); });
        });
        if (one_in(6)) add(one_in(2) ? "#shared" : "#excl");
    }
    void depend() {
        static constexpr std::array kTypes{"afterok", "after",    "afterany",  "afternotok",
                                           "before",  "beforeok", "beforeany", "beforenotok",
                                           "runone",  "AfterOk",  "nonsense"};
        list(2, ",", [&] {
            if (one_in(6)) {
                add("on:");
                return add_any(kNumbers);
            }
            add_any(kTypes);
            add(":");
            list(3, ":", [&] { add_any(kJobs); });
        });
    }
    void staged() {
        static constexpr std::array kFiles{
            "a@box:b", "/a@box:/b", "a b@box:c", "a@box:b,c@box:d", "a@b",
            "@box:x",  "a@:b",      "a@box:",    "*@box:/x",        "a\\,b@box:c"};
        list(2, ",", [&] { add_any(kFiles); });
    }
    void variables() {
        static constexpr std::array kVariables{"A=1",   "B",       "HOME",        "C=\"x,y\"", "D='a b'",
                                               "E=",    "F=a\\,b", "G=\\\"q\\\"", "H==",       "1=2",
                                               "=x",    "K=a=b",   "L='\"'",      "M=a\\\\b",  "N=\"a'b\"",
                                               "O=(x)", "A=2",     "PBS_O_HOME=x"};
        list(4, ",", [&] { add_any(kVariables); });
    }
    void other_attribute() {
        static constexpr std::array kMasks{"022", "0777", "77", "1000", "8", "abc", "0", "7777"};
        static constexpr std::array kNames{"umask",      "group_list",      "sandbox",
                                           "run_count",  "max_run_subjobs", "tolerate_node_failures",
                                           "Priority",   "comment",         "nonsense",
                                           "Hold_Types", "Job_Name",        "Account_Name",
                                           "cred",       "resource_used",   "estimated",
                                           "job_state",  "eligible_time",   "accounting_id"};
        switch (below(8)) {
            case 0:
            case 1:
                add("depend=");
                return depend();
            case 2:
                add("stagein=");
                return staged();
            case 3:
                add("stageout=");
                return staged();
            case 4:
                add("umask=");
                return add_any(kMasks);
            case 5:
                add("sandbox=");
                return add(one_in(2) ? "PRIVATE" : "HOME");
            default:
                add_any(kNames);
                add("=");
                if (one_in(2))
                    add_any(kWords);
                else
                    add_any(kNumbers);
        }
    }
    void time() {
        static constexpr std::array kTimes{
            "12312359",     "203012312359",    "0101",        "2459",     "1230.30",
            "3012312359",   "12312359.59",     "12312359.60", "02300000", "202902290000",
            "202802290000", "19991231",        "00",          "1",        "12345",
            "999912312359", "203801190314.08", "01010000.",   "0000",     "1360",
            "00000000",     "01320000",        "13010000"};
        add_any(kTimes);
    }
    void range() {
        static constexpr std::array kRanges{
            "1-5",   "0-9",  "1-5:2", "1-5%2",        "3-9:3%1", "5-1",     "1-1",      "1-",
            "-5",    "1",    "1-5:0", "1-5:",         "1-5:x",   "1-20000", "1-10000",  "01-05",
            "1-5%0", "1-5%", "1-5:9", "1-2147483648", "1 - 5",   "1-5,7",   "0-2:1%1%1"};
        add_any(kRanges);
    }
    // Adds an option's letter and value.
    void option(bool submits) {
        static constexpr std::array kHolds{"u", "n", "o", "s", "uo", "p", "", "x"};
        static constexpr std::array kJoins{"oe", "eo", "n", "o", "", "oee", "OE"};
        static constexpr std::array kKeeps{"o",  "e",  "oe", "eo", "n",  "oed", "d",
                                           "on", "nd", "oo", "x",  "od", "eod", "v"};
        static constexpr std::array kMails{"a", "b", "e", "abe", "n", "an", "j", "aj", "aa", "x", ""};
        static constexpr std::array kCheckpoints{"n",  "s",   "c",   "w", "u",    "c=5",  "w=5",   "c=0",
                                                 "c=", "c=x", "s=1", "x", "c=-1", "c=05", "w=1:00"};
        static constexpr std::array kRemoves{"o", "e", "oe", "eo", "n", "oo", "x", ""};
        static constexpr std::array kShells{
            "/bin/sh", "/bin/sh@box", "/bin/sh,/bin/bash@box", "sh", "/bin/sh@box,/bin/x@box", "@box", ","};
        static constexpr std::array kNames{"abc", "a b", "1abc", "a+b", ".a",  "a/b",
                                           "-a",  "",    "a@b",  "_x",  "a:b", "STDIN"};
        static constexpr std::array kQueues{"workq", "workq@box", "@box",   "nowhere",
                                            "",      "a b",       "workq@", "workq@nowhere"};
        static constexpr std::array kPriorities{"0",  "5",   "-5", "1023", "1024", "-1024", "-1025",
                                                "+7", "007", "x",  "",     "5x",   " 5"};
        const std::string_view letters =
            submits ? "aAcCeohjJkllllmMNpPqrRSuvvWWWWz" : "aAceohjkllllmMNpPrRSuWWWW";
        const char letter = letters[below(letters.size())];
        add(fmt::format("-{}", letter));
        if (letter == 'z' || letter == 'V' || (letter == 'h' && submits)) return;
        if (!one_in(8)) end_argument();
        if (one_in(12)) add(" ");
        switch (letter) {
            case 'a':
                return time();
            case 'c':
                return add_any(kCheckpoints);
            case 'e':
            case 'o':
                return add_any(kPaths);
            case 'h':
                return add_any(kHolds);
            case 'j':
                return add_any(kJoins);
            case 'J':
                return range();
            case 'k':
                return add_any(kKeeps);
            case 'l':
                return resources();
            case 'm':
                return add_any(kMails);
            case 'M':
            case 'u':
                return list(3, ",", [&] { add_any(kUsers); });
            case 'N':
                return add_any(kNames);
            case 'p':
                return add_any(kPriorities);
            case 'q':
                return add_any(kQueues);
            case 'r':
                return add_any(kBooleans);
            case 'R':
                return add_any(kRemoves);
            case 'S':
                return add_any(kShells);
            case 'v':
                return variables();
            case 'W':
                return list(2, ",", [&] { other_attribute(); });
            case 'C':
                return add(one_in(3) ? "" : "#X");
            default:
                return add_any(kWords);
        }
    }
    void command_line(bool submits) {
        for (std::size_t i = 0, count = 1 + below(3); i < count; ++i) {
            if (i > 0) end_argument();
            option(submits);
        }
    }
    // Adds a script with directives.
    void script() {
        static constexpr std::array kFirst{"#!/bin/sh\n", "\n",     "# a comment\n", ":\n",
                                           "  \n",        "#PBS\n", "sleep 1\n",     "#X -N x\n"};
        static constexpr std::array kBefore{"#PBS ", "#PBS\t", " #PBS ", "#PBS",
                                            "#pbs ", "# PBS ", "#PBS  ", "#PBSx "};
        static constexpr std::array kBehind{"\n", " \n", " # a comment\n", "\\\n", " -z\n", "\n\n", ""};
        add(std::string(1, kScript));
        if (one_in(3)) add_any(kFirst);
        for (std::size_t i = 0, count = 1 + below(3); i < count; ++i) {
            if (one_in(3))
                add_any(kBefore);
            else
                add("#PBS ");
            const std::size_t begin = parts_.size();
            option(true);
            // in a directive, blanks end arguments
            for (std::size_t at = begin; at < parts_.size(); ++at)
                if (parts_[at][0] == kEndOfArgument) parts_[at] = " ";
            if (one_in(3))
                add_any(kBehind);
            else
                add("\n");
        }
        add("sleep 1\n");
    }
    void mutate() {
        static constexpr std::array<std::size_t, 10> kTimes{0, 0, 0, 0, 1, 1, 1, 1, 1, 2};
        for (std::size_t i = kTimes[below(kTimes.size())]; i > 0 && !parts_.empty(); --i) {
            const auto at = parts_.begin() + static_cast<std::ptrdiff_t>(below(parts_.size()));
            switch (below(8)) {
                case 0:
                    parts_.erase(at);
                    break;
                case 1:
                    parts_.insert(at, std::string(*at));
                    break;
                case 2:
                    std::swap(*at, parts_[below(parts_.size())]);
                    break;
                case 3:
                    *at = any(kOddParts);
                    break;
                case 4:
                case 5:
                    parts_.insert(at, any(kOddParts));
                    break;
                case 6:
                    spoil(*at);
                    break;
                default:
                    lengthen(*at);
                    break;
            }
        }
    }
    Parts take() { return std::move(parts_); }

    // Adds vnodes for qrun -H, with or without amounts, and for some inputs a select of the job.
    void exec_vnode() {
        static constexpr std::array kVnodes{"box", "box", "box", "box", "nosuch", "BOX", "127.0.0.1"};
        static constexpr std::array kSelects{"2:ncpus=1", "1:ncpus=2:mem=1gb+1:ncpus=1",
                                             "3:ncpus=1:mem=100mb", "ncpus=4", "1:fz_text=abc"};
        if (one_in(4)) {
            list(4, "+", [&] { add_any(kVnodes); });
        } else {
            list(3, "+", [&] {
                const bool bracketed = !one_in(8);
                if (bracketed) add("(");
                list(2, "+", [&] {
                    add_any(kVnodes);
                    if (one_in(8)) return;
                    add(":");
                    list(3, ":", [&] { one_in(3) ? resource(true) : amount(); });
                });
                if (bracketed) add(")");
            });
        }
        if (one_in(2)) return;
        end_argument();
        add_any(kSelects);
    }

    // The directives of qmgr.
    void directive();

  private:
    // Adds an amount that a vnode has.
    void amount() {
        static constexpr std::array kAmounts{"ncpus=1", "ncpus=2",    "ncpus=0",
                                             "mem=1gb", "mem=1024kb", "mem=100mb"};
        add_any(kAmounts);
    }
    // Changes a byte.
    void spoil(std::string& part) {
        if (part.empty()) return;
        char& byte = part[below(part.size())];
        switch (below(3)) {
            case 0:
                byte = static_cast<char>(1 + below(255));
                break;
            case 1:
                byte = static_cast<char>(byte ^ 0x20);
                break;
            default:
                part.insert(below(part.size()), any(kOddParts));
        }
        std::erase(part, '\0');
    }
    void lengthen(std::string& part) {
        static constexpr std::array<std::size_t, 6> kLengths{16, 17, 65, 231, 300, 1100};
        const std::size_t length = kLengths[below(kLengths.size())];
        const std::string one = part.empty() || part[0] < ' ' ? "x" : part;
        while (part.size() < length) part += one;
        part.resize(length);
    }

    std::mt19937_64 random_;
    Parts parts_;
};

struct QmgrAttribute {
    const char* name;
    Texts values;
};
constexpr std::array kLists{"una",       "una,alice", "+una,-alice", "\"una, alice\"", "una@box", "*",
                            "una@*.org", "",          "\"\"",        "una,,alice",     "-@x",     "root",
                            "oscar"};
constexpr std::array kLimits{"\"[u:PBS_GENERIC=5]\"",
                             "[u:una=3]",
                             "\"[u:una=3],[g:una=4]\"",
                             "\"[o:PBS_ALL=9]\"",
                             "\"[p:x=1]\"",
                             "[u:una=-1]",
                             "[u:una=x]",
                             "[x:una=1]",
                             "\"[u:una=1] [u:alice=2]\"",
                             "5",
                             "[u:=1]",
                             "[u:\"a b\"=1]",
                             "'[u:\"a b\"=1]'",
                             "[g:PBS_GENERIC=2]",
                             "[o:una=1]",
                             "[u:una=3],[u:una=4]",
                             "[]"};
constexpr std::array kTypes{"execution", "route", "e", "r", "Execution", "EXEC", "rou", "x", ""};
constexpr std::array kComments{"abc",   "\"a b\"", "'a b'", "\"a,b\"",    "\"a'b\"", "'a\"b'",
                               "a\\,b", "\"\"",    "''",    "\"a",        "a=b",     "\" a \"",
                               "#a",    "\"#a\"",  "a#b",   "\"a\\\"b\"", "é"};

constexpr QmgrAttribute kOfQueues[]{{"queue_type", kTypes},
                                    {"Priority", kNumbers},
                                    {"max_queuable", kNumbers},
                                    {"max_running", kNumbers},
                                    {"enabled", kBooleans},
                                    {"started", kBooleans},
                                    {"acl_users", kLists},
                                    {"acl_user_enable", kBooleans},
                                    {"acl_hosts", kLists},
                                    {"acl_groups", kLists},
                                    {"acl_group_enable", kBooleans},
                                    {"resources_max.ncpus", kNumbers},
                                    {"resources_max.mem", kSizes},
                                    {"resources_min.walltime", kDurations},
                                    {"resources_default.walltime", kDurations},
                                    {"resources_default.mem", kSizes},
                                    {"resources_available.fz_job", kNumbers},
                                    {"resources_max.fz_jobreal", kReals},
                                    {"resources_default.fz_jobtext", kWords},
                                    {"default_chunk.ncpus", kNumbers},
                                    {"default_chunk.mem", kSizes},
                                    {"max_run", kLimits},
                                    {"max_queued", kLimits},
                                    {"max_run_res.ncpus", kLimits},
                                    {"max_run_soft", kLimits},
                                    {"max_queued_res.mem", kLimits},
                                    {"max_user_run", kNumbers},
                                    {"max_group_run", kNumbers},
                                    {"checkpoint_min", kNumbers},
                                    {"kill_delay", kNumbers},
                                    {"max_array_size", kNumbers},
                                    {"node_group_key", kWords},
                                    {"from_route_only", kBooleans},
                                    {"alt_router", kWords},
                                    {"route_destinations", kLists},
                                    {"route_retry_time", kNumbers},
                                    {"route_lifetime", kNumbers},
                                    {"route_held_jobs", kBooleans},
                                    {"partition", kWords},
                                    {"backfill_depth", kNumbers},
                                    {"queued_jobs_threshold", kLimits},
                                    {"nonsense", kNumbers},
                                    {"resources_max", kNumbers},
                                    {"resources_max.nosuch", kNumbers},
                                    {"total_jobs", kNumbers},
                                    {"state_count", kWords},
                                    {"resources_assigned.ncpus", kNumbers}};
constexpr QmgrAttribute kOfServers[]{{"comment", kComments},
                                     {"log_events", kNumbers},
                                     {"mail_from", kWords},
                                     {"query_other_jobs", kBooleans},
                                     {"resources_default.walltime", kDurations},
                                     {"resources_max.mem", kSizes},
                                     {"acl_users", kLists},
                                     {"acl_host_enable", kBooleans},
                                     {"max_run", kLimits},
                                     {"max_queued_res.ncpus", kLimits},
                                     {"max_array_size", kNumbers},
                                     {"node_group_key", kWords},
                                     {"node_group_enable", kBooleans},
                                     {"job_history_duration", kDurations},
                                     {"eligible_time_enable", kBooleans},
                                     {"default_qsub_arguments", kComments},
                                     {"default_qdel_arguments", kComments},
                                     {"resources_available.fz_job", kNumbers},
                                     {"backfill_depth", kNumbers},
                                     {"job_sort_formula", kComments},
                                     {"max_job_sequence_id", kNumbers},
                                     {"node_fail_requeue", kNumbers},
                                     {"est_start_time_freq", kDurations},
                                     {"jobscript_max_size", kSizes},
                                     {"managers", kLists},
                                     {"flatuid", kBooleans},
                                     {"pbs_version", kWords},
                                     {"server_state", kWords},
                                     {"nonsense", kNumbers},
                                     {"default_queue", kWords},
                                     {"job_requeue_timeout", kDurations},
                                     {"queued_jobs_threshold_res.ncpus", kLimits}};
constexpr std::array kStates{"offline", "free", "down", "x", "offline,free", "", "job-busy"};
constexpr QmgrAttribute kOfNodes[]{{"comment", kComments},
                                   {"Priority", kNumbers},

                                   {"resources_available.fz_text", kWords},
                                   {"resources_available.fz_texts", kLists},
                                   {"resources_available.fz_bool", kBooleans},
                                   {"resources_available.fz_real", kReals},
                                   {"resources_available.fz_long", kNumbers},
                                   {"resources_available.fz_size", kSizes},
                                   {"queue", kWords},
                                   {"state", kStates},
                                   {"resv_enable", kBooleans},
                                   {"no_multinode_jobs", kBooleans},
                                   {"max_running", kNumbers},
                                   {"max_user_run", kNumbers},
                                   {"current_aoe", kWords},
                                   {"partition", kWords},
                                   {"sharing", kWords},
                                   {"nonsense", kNumbers},
                                   {"resources_available.host", kWords},

                                   {"poweroff_eligible", kBooleans},
                                   {"jobs", kWords}};
constexpr std::array kResourceTypes{"long", "float",    "string", "size", "boolean", "string_array",
                                    "LONG", "duration", "time",   "x",    ""};
constexpr std::array kFlags{"h", "nh", "q", "fh", "r", "i", "nhr", "qh", "n", "x", "", "hh", "m", "ir"};
constexpr QmgrAttribute kOfResources[]{{"type", kResourceTypes}, {"flag", kFlags}, {"nonsense", kNumbers}};
constexpr QmgrAttribute kOfScheds[]{{"comment", kComments},
                                    {"scheduling", kBooleans},
                                    {"scheduler_iteration", kNumbers},
                                    {"sched_cycle_length", kDurations},
                                    {"opt_backfill_fuzzy", kWords},
                                    {"preempt_order", kComments},
                                    {"preempt_prio", kComments},
                                    {"preempt_queue_prio", kNumbers},
                                    {"job_sort_formula_threshold", kReals},
                                    {"throughput_mode", kBooleans},
                                    {"do_not_span_psets", kBooleans},
                                    {"only_explicit_psets", kBooleans},
                                    {"sched_preempt_enforce_resumption", kBooleans},
                                    {"server_dyn_res_alarm", kNumbers},
                                    {"log_events", kNumbers},
                                    {"partition", kWords},
                                    {"nonsense", kWords}};

struct QmgrType {
    Texts words;
    Texts names;
    std::span<const QmgrAttribute> attributes;
};
constexpr std::array kQueueWords{"queue", "q", "queues", "Queue", "QUEUE", "que"};
constexpr std::array kServerWords{"server", "s", "servers", "Server", "ser"};
constexpr std::array kNodeWords{"node", "n", "nodes", "vnode", "v", "NODE", "vn"};
constexpr std::array kResourceWords{"resource", "r", "resources", "RES", "res"};
constexpr std::array kSchedWords{"sched", "sc", "scheds", "SCHED", "sche"};
constexpr std::array kQueueNames{
    "fz",  "fz,workq", "fz2",       "@default",        "fz@default",       "",   "nosuch", "fz@box",
    "fz,", ",fz",      "fz,,workq", "abcdefghijklmno", "abcdefghijklmnop", "1q", "a b",    "fz@nowhere",
    "FZ"};
constexpr std::array kServerNames{"", "default", "box", "@default", "@box", "nosuch"};
constexpr std::array kNodeNames{"n1", "n1,box", "n2", "@default", "", "nosuch", "box", "n1@box", "1n", "n-3"};
constexpr std::array kResourceNames{"fz_new",   "fz_new,fz_other", "1r",  "fz-x", "ncpus", "",
                                    "@default", "fz_long",         "a.b", "R",    "nosuch"};
constexpr std::array kSchedNames{"default", "", "@default", "nosuch"};
constexpr QmgrType kQmgrTypes[]{{kQueueWords, kQueueNames, kOfQueues},
                                {kServerWords, kServerNames, kOfServers},
                                {kNodeWords, kNodeNames, kOfNodes},
                                {kResourceWords, kResourceNames, kOfResources},
                                {kSchedWords, kSchedNames, kOfScheds}};

void Maker::directive() {
    static constexpr std::array kSets{"set", "s", "Set", "SET", "se"};
    static constexpr std::array kUnsets{"unset", "u", "UNSET", "uns"};
    static constexpr std::array kCreates{"create", "c", "CREATE", "cr"};
    static constexpr std::array kOthers{"list", "l",    "delete", "d",   "print", "p",  "help",
                                        "?",    "LIST", "pr",     "del", "x",     "lis"};
    static constexpr std::array kOperators{
        " = ", "=", " += ", "+=", " -= ", "-=", " =", "= ", " + = ", " == ", " INCR ", " "};
    static constexpr std::array kBlanks{" ", "  ", "\t", " \\\n "};
    static constexpr std::array kCommas{",", ", ", " , ", ",,", " ,"};
    static constexpr std::array<std::size_t, 10> kWhich{0, 0, 0, 0, 1, 1, 2, 2, 3, 4};
    const QmgrType& type = kQmgrTypes[kWhich[below(kWhich.size())]];
    const auto blank = [&] {
        if (one_in(8))
            add_any(kBlanks);
        else
            add(" ");
    };
    const auto word = [&](Texts words) { add(one_in(4) ? any(words) : words[0]); };
    const std::size_t verb = below(10);
    if (one_in(30)) blank();
    if (verb < 6)
        word(kSets);
    else if (verb < 7)
        word(kUnsets);
    else if (verb < 8)
        word(kCreates);
    else
        add_any(kOthers);
    blank();
    word(type.words);
    const bool assigns = verb < 6 || verb == 7;
    const std::string name = one_in(3) ? any(type.names) : type.names[0];
    if (!name.empty()) {
        blank();
        add(name);
    }
    const bool without = verb >= 8 ? !one_in(3) : one_in(20);
    if (!without) {
        blank();
        std::size_t number = 0;
        for (std::size_t count = 1 + below(one_in(2) ? 1 : 3); number < count; ++number) {
            if (number > 0) add_any(kCommas);
            const QmgrAttribute& attribute = type.attributes[below(type.attributes.size())];
            const std::string_view whole = attribute.name;
            add(one_in(25) ? std::string(whole.substr(0, whole.find('.'))) : std::string(whole));
            if (!assigns) continue;
            if (one_in(3))
                add_any(kOperators);
            else
                add(" = ");
            add_any(attribute.values);
        }
    }
    if (one_in(12)) add(one_in(2) ? " " : " # a comment");
}

template <class Function>
Parts made(std::uint64_t seed, Function make) {
    Maker maker(seed);
    make(maker);
    maker.mutate();
    return maker.take();
}

}  // namespace

std::string text_of(const Parts& parts) {
    std::string out;
    for (const std::string& part : parts) out += part;
    return out;
}

CommandText command_of(std::string_view text) {
    CommandText out;
    const std::size_t script = std::min(text.find(kScript), text.size());
    out.script = text.substr(std::min(script + 1, text.size()));
    std::erase(out.script, kScript);
    const std::string_view line = text.substr(0, script);
    for (std::size_t at = 0; at <= line.size() && !line.empty();) {
        const std::size_t end = std::min(line.find(kEndOfArgument, at), line.size());
        out.arguments.emplace_back(line.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

Parts qmgr_input(std::uint64_t seed) {
    return made(seed, [](Maker& maker) { maker.directive(); });
}
Parts qsub_input(std::uint64_t seed) {
    return made(seed, [](Maker& maker) {
        const bool script = maker.one_in(3);
        if (!script || maker.one_in(3)) maker.command_line(true);
        if (script) maker.script();
    });
}
Parts qrun_input(std::uint64_t seed) {
    return made(seed, [](Maker& maker) { maker.exec_vnode(); });
}
Parts qalter_input(std::uint64_t seed) {
    return made(seed, [](Maker& maker) { maker.command_line(false); });
}

}  // namespace pbs::e2e
