// Tests pbs_loadable(), which finds faults in a shared object before the object is mapped.
#include "server_plugin/openpbs/loadable.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "tests/e2e/harness.h"

namespace pbs::openpbs {
namespace {
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kSample = PBS_BUILD_DIR "/bin/pbs_policy_preload.so";

class Loadable : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "loadable.XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder = name;
        fs::permissions(folder, fs::perms(0755));
        anew();
    }
    ~Loadable() override {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
    void anew() const {
        fs::remove_all(path());
        fs::copy_file(kSample, path());
        write_down();
    }
    fs::path path() const { return folder / "sample.so"; }
    // Writes the sum of the file to pbs_policy.sums, as pbs_policy_install does.
    void write_down() const {
        const e2e::Output sum =
            e2e::run({"/bin/sh", "-c", "echo $(cksum <" + path().string() + ") sample.so"});
        std::ofstream(folder / "pbs_policy.sums") << "1 2 other.so\n" << sum.out;
    }
    std::string why_not() const {
        std::array<char, 1024> why{};
        return pbs_loadable(path().c_str(), why.data(), why.size()) == 0 ? "" : why.data();
    }
    void zeros(std::uintmax_t from, std::size_t size) const {
        std::fstream(path(), std::ios::in | std::ios::out | std::ios::binary)
            .seekp(static_cast<std::streamoff>(from))
            .write(std::string(size, '\0').data(), static_cast<std::streamsize>(size));
    }

    fs::path folder;
};

TEST_F(Loadable, AsItWasInstalled) {
    EXPECT_EQ(why_not(), "");
    pbs_sum sum{};
    std::array<char, 256> why{};
    EXPECT_EQ(pbs_sum_of(path().c_str(), &sum, why.data(), why.size()), 0);
    EXPECT_EQ(fmt::format("{} {}\n", sum.crc, sum.length),
              e2e::run({"/bin/sh", "-c", "cksum <" + path().string()}).out);
}

TEST_F(Loadable, EachDamageIsTold) {
    const std::uintmax_t size = fs::file_size(path());
    struct Row {
        const char* name;
        std::function<void()> damage;
        const char* told;
    };
    const std::array rows{
        Row{"missing", [&] { fs::remove(path()); }, "No such file or directory"},
        Row{"a directory", [&] { fs::remove(path()), fs::create_directory(path()); }, "expected a file"},
        Row{"a pipe", [&] { fs::remove(path()), mkfifo(path().c_str(), 0600); }, "expected a file"},
        Row{"a link to nothing", [&] { fs::remove(path()), fs::create_symlink("nothing", path()); },
            "No such file or directory"},
        Row{"a link in a circle", [&] { fs::remove(path()), fs::create_symlink("sample.so", path()); },
            "Too many levels of symbolic links"},
        Row{"zeros at the beginning", [&] { zeros(0, 64); }, "checksum"},
        Row{"zeros in the middle", [&] { zeros(size / 4, size / 2); }, "checksum"},
        Row{"zeros all over", [&] { zeros(0, size); }, "checksum"},
        Row{"another file of this size",
            [&] { fs::remove(path()), std::ofstream(path()) << std::string(size, 'x'); }, "checksum"},
        Row{"longer", [&] { std::ofstream(path(), std::ios::app) << 'x'; }, "bytes, expected"},
        Row{"another library",
            [&] {
                fs::copy_file(PBS_BUILD_DIR "/bin/pbs_policy_openpbs.so", path(),
                              fs::copy_options::overwrite_existing);
            },
            "bytes, expected"},
        Row{"not written down",
            [&] { std::ofstream(folder / "pbs_policy.sums") << "1 2 other.so\nnonsense\n"; },
            "pbs_policy.sums doesn't name it"},
        Row{"what is written down is a directory",
            [&] { fs::remove(folder / "pbs_policy.sums"), fs::create_directory(folder / "pbs_policy.sums"); },
            "pbs_policy.sums doesn't name it"},
    };
    for (const Row& row : rows) {
        fs::remove_all(folder / "pbs_policy.sums");
        anew();
        row.damage();
        EXPECT_THAT(why_not(), AllOf(StartsWith(path().string() + ": "), HasSubstr(row.told))) << row.name;
    }
    fs::remove_all(folder / "pbs_policy.sums");
    anew();
    fs::remove(folder / "pbs_policy.sums");
    EXPECT_THAT(why_not(), HasSubstr("pbs_policy.sums can't be read"));
}

TEST_F(Loadable, AFileThatIsCutOffAnywhereIsRefused) {
    const std::uintmax_t size = fs::file_size(path());
    for (std::uintmax_t left = 0; left < size; left += 1 + left / 3) {
        anew();
        fs::resize_file(path(), left);
        EXPECT_THAT(why_not(), HasSubstr(fmt::format("{} bytes, expected {}", left, size)));
    }
}

TEST_F(Loadable, AFileThatMayNotBeReadIsRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "root is needed to be somebody who may not read";
    fs::permissions(path(), fs::perms(0));
    ASSERT_EQ(seteuid(65534), 0);
    const std::string why = why_not();
    ASSERT_EQ(seteuid(0), 0);
    EXPECT_EQ(why, path().string() + ": Permission denied");
}

// A file that agrees with its sum may still kill the process that loads it, because of a library that it
// needs. So a child tries to load it first.
TEST_F(Loadable, WhatKillsItsLoaderKillsAChild) {
    if (PBS_SANITIZED != 0) GTEST_SKIP() << "a sanitizer has its own way to end a process";
    fs::resize_file(path(), 5000);
    write_down();
    EXPECT_EQ(why_not(), path().string() + ": signal 7 ended the process that loaded it first");
    std::ofstream(path()) << "no library";
    write_down();
    EXPECT_THAT(why_not(), HasSubstr("file too short"));
}

// Runs programs that have the server's name, but whose calls can't be caught.
TEST(Probe, NamesTheCallThatCannotBeCaught) {
    e2e::RunOptions options;
    options.environment = {{"LD_PRELOAD", kSample}, {"PBS_POLICY_PROBE", "1"}};
    // Exit status 2: the preloaded object would never be called in the server's process.
    const auto said = [&](const std::string& program, int exit) {
        const e2e::Output output = e2e::run({program, "--version"}, options);
        EXPECT_EQ(output.exit, exit) << output;
        return output.out;
    };
    EXPECT_EQ(
        said(PBS_BUILD_DIR "/tests/openpbs/pbs_server.bin", 2),
        "neither this pbs_server nor its libpbs imports epoll_pwait from libc, so its main loop can't be "
        "seen\n");
    EXPECT_EQ(said(PBS_BUILD_DIR "/tests/openpbs/built_in/pbs_server.bin", 1),
              "this pbs_server doesn't import decode_DIS_ReqHdr from libpbs (it may have a copy of libpbs in "
              "itself), so its requests can't be seen\n");
}

}  // namespace
}  // namespace pbs::openpbs
