// A test fixture with a store in its own folder. The store executes commands that are written as in qmgr.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "objects/snapshot.h"
#include "objects/store.h"

namespace pbs::objects {

// The present in these tests: 2026-11-21 12:00:00 UTC, a Saturday.
inline constexpr std::chrono::sys_seconds kNow{std::chrono::seconds(1795262400)};
inline const Identity kManager{"mary", "front.example.com", manager_privilege | operator_privilege};

inline std::string_view skip_blanks(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    return text;
}

inline std::string take_word(std::string_view& text, std::string_view ends = " ") {
    text = skip_blanks(text);
    const std::size_t end = std::min(text.find_first_of(ends), text.size());
    std::string word(text.substr(0, end));
    text.remove_prefix(end);
    return word;
}

// Cuts the first value off `text` and returns it: a text in quotation marks, or all text before a comma after
// which another attribute and its operator begin.
inline std::string take_value(std::string_view& text) {
    text = skip_blanks(text);
    if (!text.empty() && (text.front() == '"' || text.front() == '\'')) {
        const std::size_t close = text.find(text.front(), 1);
        std::string value(text.substr(1, close - 1));
        text.remove_prefix(close + 1);
        return value;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != ',') continue;
        std::string_view rest = skip_blanks(text.substr(i + 1));
        while (!rest.empty() &&
               (std::isalnum(static_cast<unsigned char>(rest.front())) || rest.front() == '_'))
            rest.remove_prefix(1);
        rest = skip_blanks(rest);
        if (rest.starts_with("=") || rest.starts_with("+=") || rest.starts_with("-=")) {
            std::string value(text.substr(0, i));
            text.remove_prefix(i);
            return value;
        }
    }
    std::string value(text);
    text = {};
    return value;
}

// Parses a qmgr command such as "s p p1 by_queue=False, strict_ordering=True".
inline Command parse_command(std::string_view text) {
    Command command;
    const std::string verb = take_word(text);
    command.kind = verb[0] == 'c'   ? CommandKind::create
                   : verb[0] == 'd' ? CommandKind::remove
                   : verb[0] == 'u' ? CommandKind::unset
                                    : CommandKind::set;
    command.type = type_from_word(take_word(text)).value();
    if (command.type != ObjectType::server) command.object = take_word(text);
    for (text = skip_blanks(text); !text.empty(); text = skip_blanks(text)) {
        AttributeChange change;
        change.name = take_word(text, " ,=+-");
        text = skip_blanks(text);
        if (text.starts_with("+=")) change.operation = Operation::increment;
        if (text.starts_with("-=")) change.operation = Operation::decrement;
        if (command.kind != CommandKind::unset) {
            text.remove_prefix(change.operation == Operation::set ? 1 : 2);
            change.value = take_value(text);
        }
        text = skip_blanks(text);
        if (text.starts_with(",")) text.remove_prefix(1);
        command.changes.push_back(std::move(change));
    }
    return command;
}

class StoreTest : public testing::Test {
  protected:
    StoreTest() {
        std::string pattern = testing::TempDir() + "pbs_objects_XXXXXX";
        directory_ = mkdtemp(pattern.data());
        path_ = directory_ + "/policy.db";
        open();
    }
    ~StoreTest() override {
        store_.reset();
        std::filesystem::remove_all(directory_);
    }

    void open(std::string zone = "America/Los_Angeles") {
        store_.reset();
        const StoreOptions options{.time_zone = std::move(zone),
                                   .resources = {{"color"}},
                                   .queues = {{"queue1", "queue2", "workq"}}};
        Result<Store> opened = Store::open(path_, options, kNow);
        ASSERT_TRUE(opened) << opened.error().message;
        store_.emplace(std::move(*opened));
    }

    Result<Reply> try_run(std::string_view text) {
        return store_->execute(parse_command(text), kManager, kNow);
    }

    // Makes an executable script that a policy may name. Returns its path.
    std::string program(std::string_view name, std::filesystem::perms mode = std::filesystem::perms(0755)) {
        std::string path = fmt::format("{}/{}", directory_, name);
        std::ofstream(path) << "#!/bin/sh\necho 1\n";
        std::filesystem::permissions(path, mode);
        return path;
    }

    // Runs a command, which has to succeed.
    Reply run(std::string_view text) {
        Result<Reply> reply = try_run(text);
        EXPECT_TRUE(reply) << text << ": " << reply.error().message;
        return reply ? *reply : Reply{};
    }

    // Runs a command, which has to fail and to change nothing. Returns the error.
    Error refused(std::string_view text) {
        const std::shared_ptr<const Snapshot> before = store_->snapshot();
        Result<Reply> reply = try_run(text);
        EXPECT_FALSE(reply) << text << " was accepted";
        EXPECT_EQ(before, store_->snapshot()) << text << " changed something";
        return reply ? Error{} : reply.error();
    }

    // Returns the text of an attribute in the object's status, or "-" if the status doesn't have it.
    std::string shown(ObjectType type, std::string_view name, std::string_view attribute) {
        const auto described = status(*store_->snapshot(), type, name, {std::string(attribute)});
        EXPECT_TRUE(described) << described.error().message;
        if (!described || described->size() != 1 || described->front().attributes.empty()) return "-";
        return described->front().attributes.front().value;
    }

    std::string directory_;
    std::string path_;
    std::optional<Store> store_;
};

}  // namespace pbs::objects
