#include "migrate/fairshare_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>

#include "migrate/words.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

constexpr std::string_view kMagic{"PBS_MAG!\0", 9};
constexpr double kVersion = 2;
// Largest amount that anybody can have used: a larger number comes from a file of another kind.
constexpr double kMost = 1e18;
constexpr double kLeast = 1e-18;
constexpr const char* kFileLeftOut = "the file is left out";

// Offsets and sizes of the file's fields, which depend on the machine that wrote it.
struct Layout {
    std::size_t version;   // offset of the version in the header
    std::size_t header;    // size of the header
    std::size_t time;      // size of the time of the last decay
    std::size_t name;      // bytes of a name
    std::size_t usage;     // offset of the usage in a record
    std::size_t record;    // size of a record
    bool swapped = false;  // numbers are in big-endian byte order
};
constexpr std::array kVersion2{Layout{16, 24, 8, 50, 56, 64}, Layout{12, 20, 4, 50, 52, 60}};
constexpr std::array kVersion1{Layout{0, 0, 0, 9, 16, 24}, Layout{0, 0, 0, 9, 12, 20}};

std::uint64_t bits_at(std::string_view bytes, std::size_t at, std::size_t size, bool swapped) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t place = swapped ? i : size - 1 - i;
        bits = bits << 8U | static_cast<unsigned char>(bytes[at + place]);
    }
    return bits;
}

double real_at(std::string_view bytes, std::size_t at, bool swapped) {
    return std::bit_cast<double>(bits_at(bytes, at, 8, swapped));
}

// Returns whether the number can be an amount. A tiny number other than 0 comes from bytes that are read in
// the wrong order.
bool is_amount(double amount) {
    return std::isfinite(amount) && (amount == 0 || amount >= kLeast) && amount <= kMost;
}

bool is_entity(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

// Returns the name in a field of `size` bytes, up to its NUL; nullopt: there is no NUL.
std::optional<std::string_view> name_at(std::string_view bytes, std::size_t at, std::size_t size) {
    const std::string_view field = bytes.substr(at, size);
    const auto end = field.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    return field.substr(0, end);
}

class Reader {
  public:
    explicit Reader(const std::string& file) { result_.file = file; }

    void read(std::string_view bytes) {
        if (bytes.empty()) return;
        if (bytes.starts_with(kMagic)) return read_version2(bytes);
        if (is_text(bytes)) return read_text(bytes);
        read_version1(bytes);
    }

    FairshareUsage finish() {
        mark_groups();
        return std::move(result_);
    }

  private:
    static bool is_text(std::string_view bytes) {
        return std::ranges::all_of(bytes, [](char c) {
            return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r') ||
                   static_cast<unsigned char>(c) >= 0x80;
        });
    }

    void read_version2(std::string_view bytes) {
        for (Layout layout : kVersion2) {
            if (bytes.size() < layout.header + layout.time) continue;
            for (const bool swapped : {false, true}) {
                layout.swapped = swapped;
                if (real_at(bytes, layout.version, swapped) != kVersion) continue;
                const std::uint64_t at = bits_at(bytes, layout.header, layout.time, swapped);
                // 1 January 2000, 08:00 UTC. Like pbs_sched, refuse an earlier time: version 2 of the file is
                // newer.
                constexpr std::uint64_t kFirst = 946713600;
                constexpr std::uint64_t kLast = 253402300799;  // the end of the year 9999
                if (at != 0 && (at <= kFirst || at > kLast))
                    return problem(layout.header, "", "the last decay is at no time after 1999",
                                   kFileLeftOut);
                if (at != 0)
                    result_.last_decay =
                        std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(at)));
                return read_records(bytes, layout.header + layout.time, layout);
            }
        }
        problem(kMagic.size(), "", "the version isn't 2, or the header is cut short", kFileLeftOut);
    }

    void read_version1(std::string_view bytes) {
        for (Layout layout : kVersion1) {
            if (bytes.size() % layout.record != 0) continue;
            for (const bool swapped : {false, true}) {
                layout.swapped = swapped;
                if (fits(bytes, layout)) return read_records(bytes, 0, layout);
            }
        }
        problem(0, "",
                "is no usage file: expected PBS_MAG! and a header, records of 24 or 20 bytes, or what pbsfs "
                "prints",
                kFileLeftOut);
    }

    static bool fits(std::string_view bytes, const Layout& layout) {
        for (std::size_t at = 0; at < bytes.size(); at += layout.record) {
            const auto name = name_at(bytes, at, layout.name);
            if (!name || !is_entity(*name) || !is_amount(real_at(bytes, at + layout.usage, layout.swapped)))
                return false;
        }
        return true;
    }

    void read_records(std::string_view bytes, std::size_t from, const Layout& layout) {
        int number = 0;
        for (std::size_t at = from; at < bytes.size(); at += layout.record) {
            ++number;
            if (bytes.size() - at < layout.record)
                return problem(at, "",
                               fmt::format("the last record has {} bytes, expected {}", bytes.size() - at,
                                           layout.record));
            const auto name = name_at(bytes, at, layout.name);
            const double amount = real_at(bytes, at + layout.usage, layout.swapped);
            if (!name || !is_entity(*name)) {
                problem(at, "", "expected the name of an entity in printable characters, and a NUL");
            } else if (!is_amount(amount)) {
                problem(at + layout.usage, *name, "the usage is no amount, expected a number from 0 on");
            } else {
                add(*name, amount, number,
                    [&](std::string message) { problem(at, *name, std::move(message)); });
            }
        }
    }

    template <class Complain>
    void add(std::string_view name, double amount, int number, const Complain& complain) {
        const auto [found, fresh] = seen_.emplace(name, number);
        if (!fresh) return complain(fmt::format("is there twice, first as number {}", found->second));
        result_.entities.push_back({std::string(name), amount, number});
    }

    void read_text(std::string_view text) {
        for_each_line(text, [&](std::string_view line, int number) {
            const auto words = words_of(line, '\n');
            if (words.empty() || line.starts_with("Fairshare usage units")) return;
            read_text_line(line, words, number);
        });
    }

    // Reads "name: Grp: n cgrp: n Shares: n Usage: n Perc: n%". White space may precede the colon.
    void read_text_line(std::string_view line, const std::vector<Word>& words, int number) {
        const auto value_of = [&](std::string_view key) -> std::optional<Word> {
            const auto found = std::ranges::find(words, key, &Word::text);
            if (found == words.end() || found + 1 == words.end()) return std::nullopt;
            return *(found + 1);
        };
        const auto group = value_of("Grp:");
        const auto usage = value_of("Usage:");
        std::string_view name = words[0].text;
        if (name.ends_with(':')) name.remove_suffix(1);
        if (!group || !usage || !is_entity(name)) {
            result_.mistakes.push_back(
                {result_.file, number, words[0].column, "",
                 fmt::format("{} is no line of pbsfs: expected a name, Grp:, cgrp:, Shares:, "
                             "Usage: and Perc:, each with a number",
                             in_quotes(line)),
                 false, kLeftOut});
            return;
        }
        const double amount = values::decimal(usage->text, std::chars_format::fixed).value_or(-1);
        if (!is_amount(amount)) {
            result_.mistakes.push_back(
                {result_.file, number, usage->column, printable(name),
                 fmt::format("{} is no amount, expected a number from 0 on", in_quotes(usage->text)), false,
                 kLeftOut});
            return;
        }
        const auto children = value_of("cgrp:");
        parents_.emplace(group->text);
        children_[std::string(name)] = children ? std::string(children->text) : std::string();
        add(name, amount, number, [&](std::string message) {
            result_.mistakes.push_back({result_.file, number, words[0].column, printable(name),
                                        std::move(message), false, kLeftOut});
        });
    }

    // Marks the root and the groups in a text, where their usage is the sum of their children's. Records are
    // of entities only.
    void mark_groups() {
        for (EntityUsage& entity : result_.entities) {
            const auto children = children_.find(entity.entity);
            entity.group =
                children != children_.end() && (entity.entity == "TREEROOT" || entity.entity == "unknown" ||
                                                parents_.contains(children->second));
        }
    }

    void problem(std::size_t byte, std::string_view entity, std::string message,
                 const char* then = "the record is left out") {
        result_.mistakes.push_back(
            {result_.file, 0, 0, printable(entity), fmt::format("byte {}: {}", byte, message), false, then});
    }

    FairshareUsage result_;
    std::map<std::string, int, std::less<>> seen_;
    std::set<std::string> parents_;                // numbers of groups that some line is in
    std::map<std::string, std::string> children_;  // name -> number of the group of its children
};

}  // namespace

FairshareUsage parse_fairshare_usage(std::string_view bytes, const std::string& file) {
    Reader reader(file);
    reader.read(bytes);
    return reader.finish();
}

}  // namespace pbs::migrate
