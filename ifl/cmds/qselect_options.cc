#include "ifl/cmds/qselect_options.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "ifl/cmds/datetime.h"
#include "ifl/cmds/hold_types.h"
#include "ifl/cmds/job_id.h"
#include "ifl/cmds/options.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

struct Comparison {
    std::string_view word;
    batch_op op;
};
constexpr std::array kComparisons{Comparison{".eq.", EQ}, Comparison{".ne.", NE}, Comparison{".ge.", GE},
                                  Comparison{".gt.", GT}, Comparison{".le.", LE}, Comparison{".lt.", LT}};

std::optional<batch_op> comparison_at(std::string_view text) {
    for (const Comparison& comparison : kComparisons)
        if (text.substr(0, comparison.word.size()) == comparison.word) return comparison.op;
    return std::nullopt;
}

// Removes ".op." from the beginning of a value; without it the comparison is equality.
Result<batch_op> take_comparison(std::string_view& text) {
    if (text.empty() || text.front() != '.') return EQ;
    const auto op = comparison_at(text);
    if (!op) return fail(fmt::format("'{}': expected .eq., .ne., .ge., .gt., .le. or .lt.", text));
    text.remove_prefix(4);
    return *op;
}

using Check = Result<void> (*)(std::string_view value);

// Checks a value of -c: "n", "s", "c", "w", "u", or "c=5" and "w=5" with minutes.
Result<void> check_checkpoint(std::string_view value) {
    const bool minutes = value.size() > 2 && value[1] == '=' && (value[0] == 'c' || value[0] == 'w') &&
                         value.substr(2).find_first_not_of("0123456789") == value.npos;
    return minutes || (value.size() == 1 && std::string_view("nscwu").find(value[0]) != value.npos)
               ? Result<void>()
               : fail(fmt::format("'{}': expected n, s, c, w, u, c=minutes or w=minutes", value));
}

Result<void> check_holds(std::string_view value) {
    return check_hold_types(value)
               ? Result<void>()
               : fail(fmt::format("'{}': expected letters of u, o, s and p, or n alone", value));
}

Result<void> check_states(std::string_view value) {
    return value.find_first_not_of("BEFHMQRSTUWX") == value.npos
               ? Result<void>()
               : fail(fmt::format("'{}': expected letters of B, E, F, H, M, Q, R, S, T, U, W and X", value));
}

Result<void> add_compared(QselectOptions& options, const char* attribute, std::string_view value,
                          Check check = nullptr) {
    const auto op = take_comparison(value);
    if (!op) return tl::unexpected(op.error());
    value = values::trim(value);
    if (value.empty()) return fail("expected a value");
    if (check != nullptr) {
        if (auto checked = check(value); !checked) return checked;
    }
    options.criteria.add(attribute, "", std::string(value), *op);
    return {};
}

Result<void> add_date(QselectOptions& options, const char* attribute, const char* resource,
                      std::string_view value, std::time_t now) {
    const auto op = take_comparison(value);
    if (!op) return tl::unexpected(op.error());
    const auto when = parse_date(value, now);
    if (!when) return tl::unexpected(when.error());
    options.criteria.add(attribute, resource, std::to_string(*when), *op);
    return {};
}

// Reads "mem.gt.1gb,ncpus.eq.2".
Result<void> add_resources(QselectOptions& options, std::string_view list) {
    for (const std::string_view item : values::split(list, ',')) {
        const std::size_t dot = item.find('.');
        const auto op = dot == std::string_view::npos ? std::nullopt : comparison_at(item.substr(dot));
        if (!op || dot == 0 || item.size() <= dot + 4)
            return fail(fmt::format("'{}': expected resource.op.value", item));
        options.criteria.add(ATTR_l, std::string(values::trim(item.substr(0, dot))),
                             std::string(item.substr(dot + 4)), *op);
    }
    return {};
}

struct TimeAttribute {
    char letter;
    const char* attribute;
    const char* resource;
};
// The first letter of -t's value, for each attribute of time.
constexpr std::array kTimes{
    TimeAttribute{'a', ATTR_a, ""},     TimeAttribute{'c', ATTR_ctime, ""},
    TimeAttribute{'e', ATTR_etime, ""}, TimeAttribute{'g', ATTR_eligible_time, ""},
    TimeAttribute{'m', ATTR_mtime, ""}, TimeAttribute{'q', ATTR_qtime, ""},
    TimeAttribute{'s', ATTR_stime, ""}, TimeAttribute{'t', ATTR_estimated, "start_time"}};

Result<void> add_time(QselectOptions& options, std::string_view value, std::time_t now) {
    for (const TimeAttribute& time : kTimes) {
        if (value.empty() || value.front() != time.letter) continue;
        value.remove_prefix(1);
        if (time.letter != 'g') return add_date(options, time.attribute, time.resource, value, now);
        // eligible_time is a duration, not an instant
        const auto op = take_comparison(value);
        const auto seconds = op ? parse_duration(value) : tl::unexpected(op.error());
        if (!seconds) return tl::unexpected(seconds.error());
        options.criteria.add(time.attribute, "", std::to_string(*seconds), *op);
        return {};
    }
    return fail("expected one of a, c, e, g, m, q, s, t, then [op]date");
}

Result<void> add_queue(QselectOptions& options, std::string_view value) {
    const auto op = take_comparison(value);
    if (!op) return tl::unexpected(op.error());
    const auto destination = parse_destination(value);
    if (!destination) return tl::unexpected(destination.error());
    options.server = destination->server;
    if (!destination->queue.empty()) options.criteria.add(ATTR_q, "", destination->queue, *op);
    return {};
}

Result<void> apply(QselectOptions& options, const Option& option, std::time_t now) {
    switch (option.letter) {
        case 'a':
            return add_date(options, ATTR_a, "", option.value, now);
        case 'c':
            return add_compared(options, ATTR_c, option.value, check_checkpoint);
        case 'h':
            return add_compared(options, ATTR_h, option.value, check_holds);
        case 'p':
            return add_compared(options, ATTR_p, option.value);
        case 's':
            return add_compared(options, ATTR_state, option.value, check_states);
        case 'l':
            return add_resources(options, option.value);
        case 'q':
            return add_queue(options, option.value);
        case 't':
            return add_time(options, option.value, now);
        case 'r':
            if (option.value != "y" && option.value != "n")
                return fail(fmt::format("'{}': expected y or n", option.value));
            options.criteria.add(ATTR_r, "", option.value, EQ);
            return {};
        case 'J':
            options.criteria.add(ATTR_array, "", "True", EQ);
            return {};
        case 'H':
            add_letter(options.extend, 'x');
            options.criteria.add(ATTR_state, "", "FM", EQ);
            return {};
        case 'x':
        case 'T':
            add_letter(options.extend, option.letter);
            return {};
        case 'A':
            options.criteria.add(ATTR_A, "", option.value, EQ);
            return {};
        case 'N':
            if (!is_job_name(option.value))
                return fail(fmt::format("'{}' is no name of a job", option.value));
            options.criteria.add(ATTR_N, "", option.value, EQ);
            return {};
        case 'P':
            options.criteria.add(ATTR_project, "", option.value, EQ);
            return {};
        default:
            if (option.value.empty()) return fail("expected names of users");
            options.criteria.add(ATTR_u, "", option.value, EQ);
            return {};
    }
}

}  // namespace

Result<QselectOptions> parse_qselect_options(const std::vector<std::string>& arguments, std::time_t now) {
    const auto line = parse_options("a:A:c:h:HJl:N:p:q:r:s:t:Tu:xP:", arguments);
    if (!line) return tl::unexpected(line.error());
    if (!line->all_operands().empty()) return fail("takes no operands");
    QselectOptions options;
    for (const Option& option : line->options)
        if (auto applied = apply(options, option, now); !applied)
            return fail(fmt::format("illegal -{} value: {}", option.letter, applied.error().message));
    return options;
}

}  // namespace pbs::cmds
