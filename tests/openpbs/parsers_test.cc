// Compares the parsers of commands with those of OpenPBS on random inputs: each input goes to an OpenPBS
// server by OpenPBS's command, and to a bundled server by ours. Both have to refuse it, or to make the same
// objects of it.
//
// CTest tries a few inputs, the same each time. PBSPOLICY_INPUTS=10000 PBSPOLICY_SEED=7 tries as many from
// that seed on. A difference is shown as the smallest input that has it, in a row for a table of
// parser_differences.cc. PBSPOLICY_DIFFERENCES=0 shows all differences with the inputs as they are, which is
// faster.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/openpbs/parser_differences.h"
#include "tests/openpbs/parser_hosts.h"
#include "tests/openpbs/parser_inputs.h"
#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {

constexpr std::size_t kBatch = 100;

std::size_t number_from(const char* name, std::size_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Parser {
    const char* name;
    Parts (*input)(std::uint64_t seed);
    std::vector<std::string> (ParserHost::*results)(const std::vector<std::string>&) const;
};
constexpr Parser kParsers[]{{"qmgr", qmgr_input, &ParserHost::qmgr_results},
                            {"qsub", qsub_input, &ParserHost::qsub_results},
                            {"qalter", qalter_input, &ParserHost::qalter_results},
                            {"qrun", qrun_input, &ParserHost::qrun_results}};

// Returns the text as a literal of C++. An octal escape has three digits, so that a digit may follow it.
std::string literal(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n')
            out += "\\n";
        else if (c == '"' || c == '\\')
            out += std::string("\\") + c;
        else if (byte < 0x20 || byte >= 0x7f)
            out += fmt::format("\\{:03o}", byte);
        else
            out += c;
    }
    return out + "\"";
}

// Returns the part of each line that shows of which kind the difference is.
std::string kind_of(const std::string& difference) {
    std::string out;
    std::istringstream in(difference);
    for (std::string line; std::getline(in, line);) out += line.substr(0, line.find(" = ")) + "\n";
    return out;
}
// Returns the letters of the options, or the first words of a directive.
std::string words_of(const std::string& input) {
    std::string out;
    for (std::size_t at = 0; at + 1 < input.size(); ++at)
        if (input[at] == '-' && (at == 0 || input[at - 1] == kEndOfArgument || input[at - 1] == ' '))
            out += input[at + 1];
    std::ranges::sort(out);
    return out.empty() ? input.substr(0, input.find('=')) : out;
}

// Returns the inputs that lack some neighbouring parts of this one.
std::vector<Parts> without_parts(const Parts& input) {
    std::vector<Parts> out;
    for (std::size_t length = input.size() / 2; length > 0; length /= 2)
        for (std::size_t at = 0; at + length <= input.size() && out.size() < kBatch / 2; at += length) {
            Parts one = input;
            const auto begin = one.begin() + static_cast<std::ptrdiff_t>(at);
            one.erase(begin, begin + static_cast<std::ptrdiff_t>(length));
            if (!one.empty()) out.push_back(std::move(one));
        }
    return out;
}
// Returns the inputs that have only the begin or the end of one part.
std::vector<Parts> with_shorter_parts(const Parts& input) {
    std::vector<Parts> out;
    for (std::size_t at = 0; at < input.size() && out.size() < kBatch / 2; ++at) {
        const std::size_t size = input[at].size();
        if (size < 2) continue;
        for (const std::size_t left : {size / 2, size - 1}) {
            Parts one = input;
            one[at] = input[at].substr(0, left);
            out.push_back(one);
            one[at] = input[at].substr(size - left);
            out.push_back(std::move(one));
        }
    }
    return out;
}

// Returns whether the input would make a command wait: for a terminal, or for the job's end.
bool waits(const std::string& input) {
    return input.find("block") != std::string::npos || input.find("inter") != std::string::npos;
}

class Comparison {
  public:
    Comparison(const Parser& parser, const ParserHost& theirs, const ParserHost& ours)
        : parser_(parser), theirs_(theirs), ours_(ours) {}

    // Returns the differences of the inputs, also the wanted ones; empty where there is none.
    std::vector<std::string> all_differences(const std::vector<std::string>& texts) const {
        const auto left = results(theirs_, texts);
        const auto right = results(ours_, texts);
        std::vector<std::string> out;
        for (std::size_t i = 0; i < texts.size(); ++i) out.push_back(difference_of(left[i], right[i]));
        return out;
    }
    // Returns the differences that aren't wanted.
    std::vector<std::string> differences(const std::vector<Parts>& inputs) const {
        std::vector<std::string> texts;
        for (const Parts& input : inputs) texts.push_back(text_of(input));
        std::vector<std::string> out = all_differences(texts);
        for (std::size_t i = 0; i < texts.size(); ++i)
            out[i] = waits(texts[i]) ? "" : unwanted(parser_.name, texts[i], out[i]);
        return out;
    }
    // Returns the smallest input found with a difference of the same kind, and the difference. The difference
    // is empty if the input alone shows none.
    std::pair<Parts, std::string> shrunk(Parts input) const {
        std::string found = differences({input})[0];
        if (found.empty()) return {input, found};
        const auto take_smallest_of = [&](const std::vector<Parts>& tries) {
            const auto results = tries.empty() ? std::vector<std::string>() : differences(tries);
            std::size_t best = text_of(input).size();
            bool smaller = false;
            for (std::size_t i = 0; i < tries.size(); ++i) {
                if (results[i].empty() || kind_of(results[i]) != kind_of(found)) continue;
                if (const std::size_t size = text_of(tries[i]).size(); size < best) {
                    best = size;
                    input = tries[i];
                    found = results[i];
                    smaller = true;
                }
            }
            return smaller;
        };
        while (take_smallest_of(without_parts(input)) || take_smallest_of(with_shorter_parts(input))) {
        }
        return {input, found};
    }

  private:
    // Returns the results of the inputs at a server. If the server ends, finds the inputs that end it.
    std::vector<std::string> results(const ParserHost& host, const std::vector<std::string>& texts) const {
        auto out = (host.*parser_.results)(texts);
        if (host.still_answers()) return out;
        if (texts.size() == 1) return {"the server ended\n"};
        const auto middle = texts.begin() + static_cast<std::ptrdiff_t>(texts.size() / 2);
        out = results(host, {texts.begin(), middle});
        const auto others = results(host, {middle, texts.end()});
        out.insert(out.end(), others.begin(), others.end());
        return out;
    }

    const Parser& parser_;
    const ParserHost& theirs_;
    const ParserHost& ours_;
};

// Tries random inputs, and reports the differences.
void compare(const Parser& parser, const ParserHost& theirs, const ParserHost& ours) {
    const Comparison comparison(parser, theirs, ours);
    const std::size_t count = number_from("PBSPOLICY_INPUTS", kBatch);
    const std::size_t first = number_from("PBSPOLICY_SEED", 1);
    const std::size_t most = number_from("PBSPOLICY_DIFFERENCES", 20);
    std::map<std::string, std::size_t> kinds;
    std::size_t differing = 0;
    for (std::size_t done = 0; done < count; done += kBatch) {
        std::vector<Parts> inputs;
        for (std::size_t i = done; i < std::min(count, done + kBatch); ++i)
            inputs.push_back(parser.input(first + i));
        const auto found = comparison.differences(inputs);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (found[i].empty()) continue;
            ++differing;
            std::pair<Parts, std::string> shown{inputs[i], found[i]};
            if (most > 0) {
                if (kinds.size() >= most || kinds[kind_of(found[i]) + words_of(text_of(inputs[i]))]++ > 0)
                    continue;
                shown = comparison.shrunk(inputs[i]);
            }
            if (!shown.second.empty())
                ADD_FAILURE() << "seed " << first + done + i << "\n    SameInput{\"" << parser.name << "\", "
                              << literal(text_of(shown.first)) << "},\n"
                              << shown.second;
        }
        fmt::print("{}: {} inputs, {} with a difference\n", parser.name, done + inputs.size(), differing);
        std::fflush(stdout);
    }
}

class OpenpbsParsers : public OpenpbsTest, public ::testing::WithParamInterface<Parser> {
  protected:
    void SetUp() override {
        OpenpbsTest::SetUp();
        if (!IsSkipped() && box == nullptr) box = box_of_two_servers();
    }
    static void TearDownTestSuite() { box = nullptr; }

    static std::shared_ptr<const Box> box;
};
std::shared_ptr<const Box> OpenpbsParsers::box;

TEST_P(OpenpbsParsers, TakeRandomInputsAlike) {
    compare(GetParam(), openpbs_host(box), bundled_host(box));
}

TEST_P(OpenpbsParsers, TakeTheInputsOfTheTableAlike) {
    std::vector<std::string> texts;
    for (const SameInput& same : same_inputs())
        if (same.parser == std::string(GetParam().name)) texts.emplace_back(same.text);
    const ParserHost theirs = openpbs_host(box);
    const ParserHost ours = bundled_host(box);
    const auto found = Comparison(GetParam(), theirs, ours).all_differences(texts);
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(found[i], "") << literal(texts[i]);
}

TEST_P(OpenpbsParsers, DifferAsWanted) {
    const std::string name = GetParam().name;
    std::vector<const WantedDifference*> rows;
    std::vector<std::string> texts;
    for (const WantedDifference& wanted : wanted_differences()) {
        const bool ours = wanted.parser == name || (wanted.parser == std::string("q...") && name == "qsub");
        if (!ours || *wanted.example == '\0') continue;
        rows.push_back(&wanted);
        texts.emplace_back(wanted.example);
    }
    const ParserHost theirs = openpbs_host(box);
    const ParserHost bundled = bundled_host(box);
    const auto found = Comparison(GetParam(), theirs, bundled).all_differences(texts);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_NE(found[i], "") << literal(texts[i]) << " makes no difference: " << rows[i]->why;
        EXPECT_EQ(unwanted(name, texts[i], found[i], rows[i]), "")
            << literal(texts[i]) << ": " << rows[i]->why;
    }
}

INSTANTIATE_TEST_SUITE_P(Commands, OpenpbsParsers, ::testing::ValuesIn(kParsers),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace pbs::e2e
