#include "migrate/fairshare_usage.h"

#include <bit>
#include <cstdint>

#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Writes numbers in the format of a kind of machine.
struct Machine {
    bool wide;  // a 64-bit machine
    bool big_endian;

    std::string number(std::uint64_t bits, std::size_t size) const {
        std::string out;
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t place = big_endian ? size - 1 - i : i;
            out += static_cast<char>(bits >> (8 * place) & 0xffU);
        }
        return out;
    }
    std::string real(double value) const { return number(std::bit_cast<std::uint64_t>(value), 8); }
    static std::string padded(std::string text, std::size_t size) {
        text.resize(size);
        return text;
    }
    std::string header(std::uint64_t last_decay, double version = 2) const {
        return padded("PBS_MAG!", wide ? 16 : 12) + real(version) + number(last_decay, wide ? 8 : 4);
    }
    std::string record(const std::string& name, double usage) const {
        return padded(name, wide ? 56 : 52) + real(usage);
    }
    std::string old_record(const std::string& name, double usage) const {
        return padded(name, wide ? 16 : 12) + real(usage);
    }
};

constexpr Machine kMachines[] = {{true, false}, {true, true}, {false, false}, {false, true}};

std::vector<std::string> lines(const std::string& bytes) {
    const auto file = parse_fairshare_usage(bytes, "usage");
    EXPECT_THAT(texts(file.mistakes), testing::IsEmpty());
    std::vector<std::string> out;
    for (const EntityUsage& entity : file.entities)
        out.push_back(entity.entity + " " + std::to_string(static_cast<long>(entity.amount)) +
                      (entity.group ? " group" : ""));
    return out;
}

std::vector<std::string> problems(const std::string& bytes) {
    return texts(parse_fairshare_usage(bytes, "usage").mistakes);
}

TEST(FairshareUsage, Version2OfEveryMachine) {
    for (const Machine& machine : kMachines) {
        const std::string bytes =
            machine.header(1700000000) + machine.record("alice", 3600) + machine.record("grp1:bob", 17);
        EXPECT_THAT(lines(bytes), ElementsAre("alice 3600", "grp1:bob 17"));
        EXPECT_EQ(parse_fairshare_usage(bytes, "usage").last_decay->time_since_epoch().count(), 1700000000);
        EXPECT_THAT(lines(machine.header(0)), IsEmpty());
        EXPECT_FALSE(parse_fairshare_usage(machine.header(0), "usage").last_decay);
    }
}

TEST(FairshareUsage, Version1OfEveryMachine) {
    for (const Machine& machine : kMachines)
        EXPECT_THAT(lines(machine.old_record("alice", 3600) + machine.old_record("bob", 2)),
                    ElementsAre("alice 3600", "bob 2"));
}

TEST(FairshareUsage, WhatPbsfsPrints) {
    const std::string text =
        "Fairshare usage units are in: cput\n"
        "TREEROOT  : Grp: -1     cgrp: 0    Shares: -1     Usage: 40     Perc: 100.000%\n"
        "grp1      : Grp: 0      cgrp: 50   Shares: 10     Usage: 30     Perc: 50.000%\n"
        "alice     : Grp: 50     cgrp: 60   Shares: 10     Usage: 29     Perc: 50.000%\n"
        "averylongname: Grp: 50     cgrp: 61   Shares: 10     Usage: 1      Perc: 50.000%\n"
        "unknown   : Grp: 0      cgrp: 1    Shares: 10     Usage: 10     Perc: 50.000%\r\n";
    EXPECT_THAT(lines(text), ElementsAre("TREEROOT 40 group", "grp1 30 group", "alice 29", "averylongname 1",
                                         "unknown 10 group"));
    EXPECT_THAT(lines(""), IsEmpty());
}

TEST(FairshareUsage, AllMistakesAreReported) {
    const Machine machine = kMachines[0];
    EXPECT_THAT(problems(machine.header(1700000000) + machine.record("alice", -1) + machine.record("", 2) +
                         machine.record("bob", 3) + machine.record("bob", 4) + "x"),
                ElementsAre(HasSubstr("usage: alice: byte 88: the usage is no amount"),
                            HasSubstr("usage: byte 96: expected the name of an entity"),
                            HasSubstr("usage: bob: byte 224: is there twice, first as number 3"),
                            HasSubstr("usage: byte 288: the last record has 1 bytes, expected 64")));
    EXPECT_THAT(problems(machine.header(1700000000, 3)), ElementsAre(HasSubstr("the version isn't 2")));
    EXPECT_THAT(problems(machine.header(5)), ElementsAre(HasSubstr("byte 24: the last decay is at no time")));
    EXPECT_THAT(problems(std::string("\x01\x02\x03", 3)), ElementsAre(HasSubstr("is no usage file")));
    EXPECT_THAT(problems("hello world\na : Grp: 1 Usage: lots\n"),
                ElementsAre(HasSubstr("usage:1:1: 'hello world' is no line of pbsfs"),
                            HasSubstr("usage:2:19: a: 'lots' is no amount")));
}

}  // namespace
}  // namespace pbs::migrate::test
