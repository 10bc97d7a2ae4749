// Prints objects with random values as directives, reads the directives, and prints the objects again: both
// texts must be the same. If OpenPBS's qmgr can read the text, it must read the same values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

#include "ifl/cmds/host_attributes.h"
#include "ifl/cmds/qmgr_grammar.h"
#include "ifl/cmds/qmgr_print.h"
#include "ifl/cmds/text.h"
#include "tests/cmds/status_list.h"
#include "values/text.h"

namespace pbs::cmds {
namespace {

// Values of an object's attributes, by the attribute's name, to which a dot and a resource may be added.
using Values = std::map<std::string, std::string>;

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    std::size_t below(std::size_t end) { return engine_() % end; }
    std::string text(const std::vector<std::string>& pieces) {
        std::string value;
        for (std::size_t n = 1 + below(6); n > 0; --n) {
            value += pieces[below(pieces.size())];
        }
        return value;
    }

  private:
    std::mt19937 engine_;
};

// Pieces of values that are difficult to quote.
const std::vector<std::string> kPieces = {"a",
                                          "word",
                                          "'",
                                          "\"",
                                          ",",
                                          ", ",
                                          ";",
                                          "; list server",
                                          "#",
                                          " # x",
                                          "\\",
                                          " ",
                                          "\t",
                                          "=",
                                          " = ",
                                          "+=",
                                          "-=",
                                          "a = b, c = d",
                                          "comment = x",
                                          "[",
                                          "]",
                                          "[u:x=1]",
                                          "\xc3\xbc",
                                          "\xff",
                                          "&",
                                          "''",
                                          "\"\"",
                                          "@",
                                          "1gb",
                                          "!/bin/x",
                                          "RRULE:FREQ=WEEKLY;BYDAY=MO,TU"};
// Pieces for the elements of a list. They contain no commas, which separate elements, and no blanks at their
// ends, which are removed on reading.
const std::vector<std::string> kElementPieces = {"a", "word", "'",    "\"", ";",  "; list server",
                                                 "#", "\\,",  "a b",  "=",  "+=", "a = b",
                                                 "[", "]",    "\xff", "@"};

std::string list_value(Random& random) {
    std::string value;
    for (std::size_t n = 1 + random.below(4); n > 0; --n) {
        value += (value.empty() ? "" : ",") + random.text(kElementPieces);
    }
    return value;
}

struct Sample {
    ObjectType type;
    std::string name;
    Values values;
};

Sample sample(Random& random) {
    static const std::vector<std::pair<ObjectType, std::vector<std::string>>> kinds = {
        {ObjectType::server,
         {"comment", "managers", "resources_available.colour", "non_work_days", "mailer"}},
        {ObjectType::queue,
         {"comment", "acl_users", "route_destinations", "resources_default.colour", "time_window"}},
        {ObjectType::node, {"comment", "resources_available.colour", "partition"}},
        {ObjectType::sched, {"policy", "comment", "partition"}},
        {ObjectType::policy, {"comment", "server_dyn_res", "job_sort_formula", "node_sort_key"}},
        {ObjectType::time_window, {"comment", "rrule"}},
        {ObjectType::fs_group, {"comment", "tree_element", "usage_formula"}},
    };
    const auto& [type, attributes] = kinds[random.below(kinds.size())];
    Sample made{type, type == ObjectType::server ? "srv" : "x1", {}};
    for (const std::string& attribute : attributes) {
        const std::string name = attribute.substr(0, attribute.find('.'));
        const bool list = value_kind(type, name) == ValueKind::list;
        made.values[attribute] = list ? list_value(random) : random.text(kPieces);
    }
    return made;
}

std::string printed(const Sample& object) {
    Objects list;
    std::vector<Objects::Attribute> rows;
    for (const auto& [name, value] : object.values) {
        const std::size_t dot = name.find('.');
        rows.push_back({name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1), value});
    }
    list.add(object.name, rows);
    return print_text(object.type, list.get());
}

void apply(Sample& object, const std::string& name, const std::string& value, bool adds) {
    std::string& now = object.values[name];
    const bool list = value_kind(object.type, name.substr(0, name.find('.'))) == ValueKind::list;
    now = !adds ? value : list ? now + "," + value : now + value;
}

// Returns the object that the printed directives make when this project's grammar reads them.
Sample made_by(const std::string& text) {
    Sample object{};
    DirectiveReader reader;
    for (const std::string_view line : values::split(text, '\n')) {
        reader.add_line(line);
        while (const auto written = reader.next()) {
            const auto directive = parse_directive(*written, is_attribute);
            if (!directive) {
                ADD_FAILURE() << *written << ": " << directive.error().message;
                return object;
            }
            object.type = directive->type;
            object.name = directive->names.empty() ? "srv" : directive->names[0].name;
            for (const Assignment& a : directive->attributes) {
                if (a.op != Operator::unset) {
                    const std::string name = a.resource.empty() ? a.name : a.name + "." + a.resource;
                    apply(object, name, a.value, a.op == Operator::increment);
                }
            }
        }
    }
    return object;
}

TEST(RoundTrip, PrintedObjectsAreReadBackAsTheyWere) {
    Random random(20261121);
    for (int i = 0; i < 1500; ++i) {
        const Sample object = sample(random);
        const std::string text = printed(object);
        const Sample again = made_by(text);
        ASSERT_EQ(again.values, object.values) << text;
        ASSERT_EQ(printed(again), text);
    }
}

// Returns a value as OpenPBS's qmgr reads it. The kind of quotation mark that comes first quotes; the other
// kind is a plain character. Returns nullopt for a syntax error, such as an & or text after the value.
std::optional<std::string> read_by_openpbs(std::string_view text) {
    std::string value;
    char quote = '\0';
    bool inside = false;
    for (const char c : text) {
        if (c == '&') {
            return std::nullopt;
        }
        if (inside) {
            inside = c != quote;
            value += inside ? std::string(1, c) : "";
        } else if ((c == '"' || c == '\'') && (quote == '\0' || quote == c)) {
            quote = c;
            inside = true;
        } else if (c == ',' || values::is_space(c)) {
            return std::nullopt;
        } else {
            value += c;
        }
    }
    return inside ? std::nullopt : std::optional(value);
}

// OpenPBS's qmgr can read printed string values of the server, queues and vnodes, even if they contain both
// kinds of quotation marks.
TEST(RoundTrip, OpenPbsReadsStringsOfBothKindsOfQuotes) {
    Random random(7);
    for (int i = 0; i < 1000; ++i) {
        const std::string value = random.text(kPieces);
        if (value.find('&') != std::string::npos) {
            continue;  // OpenPBS accepts no & in any form
        }
        Sample object{ObjectType::server, "srv", {{"comment", value}}};
        std::string text;
        const std::string lines = printed(object);
        for (const std::string_view line : values::split(lines, '\n')) {
            const std::size_t at = line.find("comment ");
            if (line.empty() || line.front() == '#' || at == std::string_view::npos) {
                continue;
            }
            const std::size_t begin = line.find("= ", at) + 2;
            const auto read = read_by_openpbs(line.substr(begin));
            ASSERT_TRUE(read) << line;
            text += *read;
        }
        ASSERT_EQ(text, value);
    }
}

}  // namespace
}  // namespace pbs::cmds
