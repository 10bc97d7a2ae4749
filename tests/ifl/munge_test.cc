#include "ifl/munge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "ifl/pbs_error.h"
#include "tests/munged.h"

namespace pbs::ifl {
namespace {

using ::testing::HasSubstr;

class MungeTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (test::Munged::program().empty()) GTEST_SKIP() << test::Munged::kMissing;
        munged = std::make_unique<test::Munged>();
        ASSERT_TRUE(munged->running());
        auto loaded = Munge::load(munged->socket());
        ASSERT_TRUE(loaded) << loaded.error().message;
        munge = std::make_unique<Munge>(std::move(*loaded));
    }
    std::unique_ptr<test::Munged> munged;
    std::unique_ptr<Munge> munge;
};

TEST_F(MungeTest, ACredentialSaysWhoMadeItOnce) {
    const auto credential = munge->encode("alice:users");
    ASSERT_TRUE(credential) << credential.error().message;
    EXPECT_THAT(*credential, HasSubstr("MUNGE:"));
    const auto decoded = munge->decode(*credential);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->uid, geteuid());
    EXPECT_EQ(decoded->text, "alice:users");
    const auto again = munge->decode(*credential);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, PBSE_BADCRED);
    EXPECT_THAT(again.error().message, HasSubstr("Replayed"));
}

// Makes a credential with a lifetime of one second. Decodes it again and again until the error says that it
// has expired.
TEST_F(MungeTest, ACredentialIsGoodForItsTime) {
    if (access("/usr/bin/munge", X_OK) != 0) GTEST_SKIP() << "munge isn't installed";
    const std::string command = "/usr/bin/munge --ttl=1 --string=alice:users --socket=" + munged->socket();
    const std::unique_ptr<FILE, int (*)(FILE*)> out(popen(command.c_str(), "r"), pclose);
    char line[1000] = "";
    ASSERT_NE(fgets(line, sizeof line, out.get()), nullptr);
    line[strcspn(line, "\n")] = '\0';
    std::string said;
    for (int i = 0; i < 6000 && said.find("Expired") == std::string::npos; ++i) {
        const auto decoded = munge->decode(line);
        said = decoded ? "" : decoded.error().message;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_THAT(said, HasSubstr("Expired"));
}

TEST_F(MungeTest, AChangedCredentialIsRefused) {
    std::string credential = *munge->encode("alice:users");
    credential[credential.size() / 2] ^= 1;
    for (const std::string& bad :
         {std::string(), std::string("MUNGE:x:"), std::string(4000, 'A'), credential}) {
        const auto decoded = munge->decode(bad);
        ASSERT_FALSE(decoded) << bad;
        EXPECT_EQ(decoded.error().code, PBSE_BADCRED);
        EXPECT_THAT(decoded.error().message, HasSubstr("MUNGE refuses the credential: "));
    }
}

TEST_F(MungeTest, AnotherKeysCredentialIsRefused) {
    const test::Munged other;
    ASSERT_TRUE(other.running());
    const auto credential = Munge::load(other.socket())->encode("alice:users");
    ASSERT_TRUE(credential) << credential.error().message;
    EXPECT_FALSE(munge->decode(*credential));
    const test::Munged same(munged.get());
    EXPECT_TRUE(munge->decode(*Munge::load(same.socket())->encode("alice:users")));
}

TEST_F(MungeTest, WithoutADaemonTheSocketIsNamed) {
    munged->stop();
    const auto made = munge->encode("alice:users");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, PBSE_BADCRED);
    EXPECT_THAT(made.error().message, HasSubstr(munged->socket()));
}

}  // namespace
}  // namespace pbs::ifl
