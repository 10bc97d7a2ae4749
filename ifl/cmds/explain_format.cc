#include "ifl/cmds/explain_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/datetime.h"
#include "ifl/cmds/text.h"
#include "text/json_document.h"
#include "values/amount.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

using Json = nlohmann::ordered_json;

struct Gate {
    std::string_view name;
    std::string_view attributes;
    std::string_view why;
    bool decides = false;
    // The counter of a quota that refuses: names and values, in order.
    std::vector<std::pair<std::string_view, std::string_view>> facts{};
};

struct OrderKey {
    std::string_view name;
    std::string_view attributes;
    std::string_view value;
    bool largest_first = false;
};

// The value of an attribute for one resource; empty: there is none.
std::string_view part_of(const batch_status& object, std::string_view name, std::string_view resource) {
    for (const attrl* a = object.attribs; a != nullptr; a = a->next)
        if (view(a->name) == name && view(a->resource) == resource) return view(a->value);
    return {};
}

// An event that the earliest start waits for.
struct Awaited {
    std::string_view what;
    std::int64_t until = 0;
};

std::vector<Awaited> awaited_of(const batch_status& queue) {
    std::vector<Awaited> list;
    for (const attrl* a = queue.attribs; a != nullptr; a = a->next)
        if (view(a->name) == "awaited")
            list.push_back({view(a->resource), parse_integer(view(a->value)).value_or(0)});
    return list;
}

// Returns a text about the events that the earliest start waits for, such as ", when running jobs have ended
// and prime time has ended"; empty if there are none.
std::string awaited_text(const batch_status& queue) {
    std::string out;
    for (const Awaited& awaited : awaited_of(queue))
        out += fmt::format("{}{}", out.empty() ? ", when " : " and ", awaited.what);
    return out;
}

// Limits that aren't in force, each with the reason.
std::vector<std::string_view> notes_of(const batch_status& queue) {
    std::vector<std::string_view> notes;
    for (const attrl* a = queue.attribs; a != nullptr; a = a->next)
        if (view(a->name) == "note") notes.push_back(view(a->value));
    return notes;
}

std::string notes_text(const batch_status& queue) {
    std::string out;
    for (const std::string_view note : notes_of(queue)) out += fmt::format("  {}\n", printable(note));
    return out;
}

// The amount of a resource that one layer (server, queue, a quota, vnodes) leaves. `parts` are those of
// "ncpus,8,2,16,short,narrowest": the resource; the amounts asked, free and in all; "short" if too little is
// free, else "enough"; and "narrowest" if no layer leaves less.
struct Layer {
    std::string_view name;
    std::vector<std::string_view> parts;  // at least 5
    bool lacks() const { return parts[4] == "short"; }
    bool narrowest() const { return parts.size() > 5; }
};

std::vector<Layer> layers_of(const batch_status& queue) {
    std::vector<Layer> layers;
    for (const attrl* a = queue.attribs; a != nullptr; a = a->next) {
        if (view(a->name) != "layer") continue;
        Layer layer{view(a->resource), values::split(view(a->value), ',')};
        if (layer.parts.size() >= 5) layers.push_back(std::move(layer));
    }
    return layers;
}

// A line for each resource that is short: "  ncpus (8 asked): queue_resources 2 of 16 free, the narrowest;
// vnodes 30 of 128 free".
std::string layers_text(const std::vector<Layer>& layers) {
    std::string out;
    for (auto first = layers.begin(); first != layers.end();) {
        const auto last = std::find_if(first, layers.end(),
                                       [&](const Layer& layer) { return layer.parts[0] != first->parts[0]; });
        if (std::any_of(first, last, [](const Layer& layer) { return layer.lacks(); })) {
            out += fmt::format("  {} ({} asked):", first->parts[0], first->parts[1]);
            for (auto layer = first; layer != last; ++layer)
                out += fmt::format("{} {} {} of {} free{}", layer == first ? "" : ";", layer->name,
                                   layer->parts[2], layer->parts[3],
                                   layer->narrowest() ? ", the narrowest" : "");
            out += "\n";
        }
        first = last;
    }
    return out;
}

Json layers_json(const std::vector<Layer>& layers) {
    Json out = Json::array();
    for (const Layer& layer : layers) {
        Json one = {{"resource", layer.parts[0]}, {"layer", layer.name},     {"asked", layer.parts[1]},
                    {"free", layer.parts[2]},     {"total", layer.parts[3]}, {"short", layer.lacks()}};
        if (layer.narrowest()) one["narrowest"] = true;
        out.push_back(std::move(one));
    }
    return out;
}

// Returns the name and the value of each "name,value" of a gate.
std::vector<std::pair<std::string_view, std::string_view>> facts_of(const batch_status& object,
                                                                    std::string_view gate) {
    std::vector<std::pair<std::string_view, std::string_view>> facts;
    for (const attrl* a = object.attribs; a != nullptr; a = a->next) {
        if (view(a->name) != "gate_fact" || view(a->resource) != gate) continue;
        const std::string_view fact = view(a->value);
        const auto comma = fact.find(',');
        if (comma != std::string_view::npos)
            facts.emplace_back(fact.substr(0, comma), fact.substr(comma + 1));
    }
    return facts;
}

std::vector<Gate> gates_of(const batch_status& object) {
    std::vector<Gate> gates;
    for (const attrl* a = object.attribs; a != nullptr; a = a->next) {
        if (view(a->name) == "gate") {
            const std::string_view name = view(a->resource);
            gates.push_back({name, part_of(object, "gate_attributes", name), view(a->value),
                             !part_of(object, "decides", name).empty(), facts_of(object, name)});
        }
    }
    return gates;
}

std::vector<OrderKey> keys_of(const batch_status& object) {
    std::vector<OrderKey> keys;
    for (const attrl* a = object.attribs; a != nullptr; a = a->next) {
        if (view(a->name) == "order") {
            const std::string_view name = view(a->resource);
            keys.push_back({name, part_of(object, "order_attributes", name), view(a->value),
                            !part_of(object, "order_largest_first", name).empty()});
        }
    }
    return keys;
}

// A term of a weighted priority.
struct PriorityTerm {
    std::string_view name;
    // In this order: the value, the least and the greatest value of all jobs, the value normalised to 0..1,
    // its weight, and the product of the last two.
    std::array<double, 6> numbers{};
    double product() const { return numbers[5]; }
};

// Reads the terms of an attribute; leaves out those that it can't read.
std::vector<PriorityTerm> terms_of(const batch_status& job, std::string_view attribute) {
    std::vector<PriorityTerm> terms;
    for (const attrl* a = job.attribs; a != nullptr; a = a->next) {
        if (view(a->name) != attribute) continue;
        PriorityTerm term{view(a->resource)};
        const auto parts = values::split(view(a->value), ',');
        if (parts.size() != term.numbers.size()) continue;
        std::ranges::transform(parts, term.numbers.begin(),
                               [](std::string_view part) { return values::parse_real(part).value_or(0); });
        terms.push_back(term);
    }
    return terms;
}

double sum_of(const std::vector<PriorityTerm>& terms) {
    double sum = 0;
    for (const PriorityTerm& term : terms) sum += term.product();
    return sum;
}

// Returns the terms of the job's weighted priority as a table, and a sentence about the job before it.
std::string terms_text(const batch_status& job) {
    const std::vector<PriorityTerm> terms = terms_of(job, "priority_term");
    if (terms.empty()) return {};
    std::string out = fmt::format("  {:10} {:>12} {:>12} {:>12} {:>11} {:>8} {:>11}\n", "term", "value",
                                  "least", "greatest", "normalised", "weight", "product");
    for (const PriorityTerm& term : terms) {
        const auto& [value, least, greatest, normalised, weight, product] = term.numbers;
        out += fmt::format("  {:10} {:>12.8g} {:>12.8g} {:>12.8g} {:>11.6g} {:>8g} {:>11.6g}\n", term.name,
                           value, least, greatest, normalised, weight, product);
    }
    out += fmt::format("  {:10} {:>71.6g}\n", "sum", sum_of(terms));
    const std::string_view before = text_of(job, "job_before");
    const std::vector<PriorityTerm> others = terms_of(job, "term_before");
    if (before.empty() || others.size() != terms.size()) return out;
    std::size_t most = 0;
    const auto lead = [&](std::size_t i) { return others[i].product() - terms[i].product(); };
    for (std::size_t i = 1; i < terms.size(); ++i)
        if (lead(i) > lead(most)) most = i;
    out += fmt::format("  Job {} goes just before it", before);
    if (sum_of(others) > sum_of(terms))
        out += fmt::format(", most of all by {}: {:.6g} against {:.6g}", terms[most].name,
                           others[most].product(), terms[most].product());
    else
        out += fmt::format(", not by this sum: {:.6g} against {:.6g}", sum_of(others), sum_of(terms));
    return out + "\n";
}

Json terms_json(const std::vector<PriorityTerm>& terms) {
    Json out = Json::array();
    for (const PriorityTerm& term : terms) {
        const auto& [value, least, greatest, normalised, weight, product] = term.numbers;
        out.push_back({{"term", term.name},
                       {"value", value},
                       {"least", least},
                       {"greatest", greatest},
                       {"normalised", normalised},
                       {"weight", weight},
                       {"product", product}});
    }
    return out;
}

std::string in_brackets(std::string_view attributes) {
    return attributes.empty() ? std::string() : fmt::format(" ({})", attributes);
}

std::string gates_text(const std::vector<Gate>& gates) {
    // Align the reasons, except those behind a filter whose name and attributes are wider than this.
    constexpr std::size_t kWidest = 30;
    std::size_t width = 0;
    for (const Gate& gate : gates) {
        const std::size_t size = gate.name.size() + in_brackets(gate.attributes).size();
        if (!gate.why.empty() && size <= kWidest) width = std::max(width, size);
    }
    std::string out;
    for (const Gate& gate : gates) {
        const std::string name = fmt::format("{}{}", gate.name, in_brackets(gate.attributes));
        if (gate.why.empty()) {
            out += fmt::format("  pass  {}\n", name);
        } else {
            out += fmt::format("  FAIL  {:{}}  {}{}\n", name, width, gate.why,
                               gate.decides ? "  <- decides" : "");
        }
    }
    return out;
}

std::string order_text(const batch_status& job) {
    if (text_of(job, "place").empty()) return {};
    std::string out = fmt::format("Order: job {} of {}, {} of {} in class {}\n", text_of(job, "place"),
                                  text_of(job, "jobs"), text_of(job, "class_place"),
                                  text_of(job, "class_jobs"), text_of(job, "class"));
    for (const OrderKey& key : keys_of(job)) {
        out += fmt::format("  {:14}  {:26}  {}{}\n", key.name, key.value,
                           key.largest_first ? "large first" : "small first", in_brackets(key.attributes));
    }
    out += terms_text(job);
    if (const std::string_view usage = text_of(job, "past_usage"); !usage.empty()) {
        out += fmt::format("  {:14}  {:26}  owners with little go first (sort_by_past_usage)\n", "past usage",
                           usage);
    }
    return out;
}

std::string shares_text(const batch_status& job) {
    const std::string_view entity = text_of(job, "share_entity");
    if (entity.empty()) return {};
    return fmt::format(
        "Shares: {} in fs_group {} is {} of {} entities with jobs: {:.3f}% of all usage ({:.6g}), of {:.3f}% "
        "by "
        "its shares\n",
        printable(entity), text_of(job, "share_group"), text_of(job, "share_place"),
        text_of(job, "share_entities"), real_of(job, "share_actual") * 100, real_of(job, "share_usage"),
        real_of(job, "share_target") * 100);
}

std::string expected_text(const batch_status& job) {
    const auto start = parse_integer(text_of(job, "expected_start"));
    return start
               ? fmt::format("  it is expected to start {}\n", instant_text(static_cast<std::time_t>(*start)))
               : std::string();
}

// The outcome of a start at a place (pbs_asks).
std::string start_text(const batch_status& job) {
    const std::string_view location = text_of(job, "location");
    const std::string where = location.empty() ? "" : fmt::format(" at {}", location);
    if (text_of(job, "outcome") == "starts")
        return fmt::format("it may start{} in queue {}\n", where, text_of(job, "queue"));
    return fmt::format("it may not start{} now: {}\n", where, text_of(job, "reason"));
}

std::string outcome_text(const batch_status& job) {
    const std::string_view outcome = text_of(job, "outcome");
    std::string out = fmt::format("Job {}: ", view(job.name));
    for (const attrl* one = job.attribs; one != nullptr; one = one->next)
        if (view(one->name) == "location") return out + start_text(job);
    if (outcome == "starts")
        return out + fmt::format("a cycle now would start it in queue {}\n", text_of(job, "queue"));
    const std::string_view reason = text_of(job, "reason");
    if (outcome == "waits") return out + fmt::format("it waits: {}\n", reason) + expected_text(job);
    if (outcome == "rejected") return out + fmt::format("a cycle now would reject it: {}\n", reason);
    return out + fmt::format("no cycle looks at it now: {}\n", reason);
}

// Returns the jobs that are preempted for this job, each with the letters of the methods to try in turn: S,
// C, R, D.
std::vector<std::pair<std::string_view, std::string_view>> preempts_of(const batch_status& job) {
    std::vector<std::pair<std::string_view, std::string_view>> jobs;
    for (const attrl* a = job.attribs; a != nullptr; a = a->next)
        if (view(a->name) == "preempts") jobs.emplace_back(view(a->resource), view(a->value));
    return jobs;
}

// Returns the preferences that the job's place misses, each with the vnodes that miss it.
std::vector<std::pair<std::string_view, std::string_view>> missed_by(const batch_status& job) {
    std::vector<std::pair<std::string_view, std::string_view>> missed;
    for (const attrl* a = job.attribs; a != nullptr; a = a->next)
        if (view(a->name) == "missed") missed.emplace_back(view(a->resource), view(a->value));
    return missed;
}

// Returns a line about the numbers of chunks that the job may have; empty if the job requests no range of
// chunks.
std::string chunks_text(const batch_status& queue) {
    const std::string_view range = text_of(queue, "chunks");
    if (range.empty()) return {};
    const auto number = [&](const char* name) { return parse_integer(text_of(queue, name)).value_or(0); };
    std::string out = fmt::format("\n  may have {} chunks: {} now", range, number("chunks_now"));
    const auto start = parse_integer(text_of(queue, "chunks_most_start"));
    if (start && number("chunks_most") > number("chunks_now"))
        out += fmt::format("; {} from {}", number("chunks_most"),
                           instant_text(static_cast<std::time_t>(*start)));
    return out;
}

std::string preemption_text(const batch_status& job) {
    std::string out;
    for (const auto& [preference, vnodes] : missed_by(job))
        out += fmt::format("  it prefers {}: not on {}\n", preference, vnodes);
    for (const auto& [id, methods] : preempts_of(job))
        out += fmt::format("  it preempts job {} (preempt_order {})\n", id, methods);
    if (const std::string_view why = text_of(job, "preempts_none"); !why.empty())
        out += fmt::format("  it preempts no job: {}\n", why);
    return out;
}

std::string policy_text(const batch_status& job) {
    const std::string_view sched = text_of(job, "sched");
    const std::string_view policy = text_of(job, "policy");
    if (sched.empty()) return {};
    if (policy.empty()) return fmt::format("Scheduler: {}\n", sched);
    return fmt::format("Scheduler: {}, policy {} ({})\n{}", sched, policy, text_of(job, "sched_algorithm"),
                       text_of(job, "test_only").empty()
                           ? ""
                           : "test_only holds, now or by the earliest start: what a cycle decides is logged, "
                             "and nothing of it is done\n");
}

// Returns the counter of a quota: {"quota": "q1", "rule": "guests", "of": {"users": "bob"}, "resource":
// "ncpus", "asked": "1", "used": "4", "limit": "4"}.
Json counter_json(const Gate& gate) {
    Json out = Json::object();
    for (const auto& [name, value] : gate.facts) {
        if (name == "holds_from") {
            out[std::string(name)] = parse_integer(value).value_or(0);
            continue;
        }
        if (name != "of") {
            out[std::string(name)] = value;
            continue;
        }
        const auto equals = value.find('=');
        if (equals != std::string_view::npos)
            out["of"][std::string(value.substr(0, equals))] = value.substr(equals + 1);
    }
    return out;
}

Json gates_json(const std::vector<Gate>& gates) {
    Json out = Json::array();
    for (const Gate& gate : gates) {
        Json one = {{"gate", gate.name}, {"passes", gate.why.empty()}};
        if (!gate.why.empty()) one["reason"] = gate.why;
        if (gate.decides) one["decides"] = true;
        if (!gate.attributes.empty()) one["attributes"] = gate.attributes;
        if (!gate.facts.empty()) one["counter"] = counter_json(gate);
        out.push_back(std::move(one));
    }
    return out;
}

Json order_json(const std::vector<OrderKey>& keys) {
    Json out = Json::array();
    for (const OrderKey& key : keys) {
        Json one = {{"key", key.name}, {"value", key.value}, {"largest_first", key.largest_first}};
        if (!key.attributes.empty()) one["attributes"] = key.attributes;
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace

std::string explanation_text(const batch_status* list) {
    if (list == nullptr) return {};
    std::string out = outcome_text(*list) + preemption_text(*list) + policy_text(*list) + order_text(*list) +
                      shares_text(*list);
    if (const auto gates = gates_of(*list); !gates.empty()) out += "The job itself:\n" + gates_text(gates);
    for (const batch_status* queue = list->next; queue != nullptr; queue = queue->next) {
        out += fmt::format("Queue {}:", view(queue->name));
        if (const auto start = parse_integer(text_of(*queue, "earliest_start"))) {
            out += fmt::format(" earliest start {}{}", instant_text(static_cast<std::time_t>(*start)),
                               awaited_text(*queue));
        }
        if (const auto until = parse_integer(text_of(*queue, "drained_until"))) {
            out += fmt::format("\n  is being drained for this job, until {}",
                               instant_text(static_cast<std::time_t>(*until)));
        }
        out += chunks_text(*queue) + "\n" + gates_text(gates_of(*queue)) + notes_text(*queue) +
               layers_text(layers_of(*queue));
    }
    return out;
}

std::string explanation_json(const batch_status* list) {
    if (list == nullptr) return "null\n";
    Json out = {{"job", view(list->name)}};
    for (const char* name :
         {"outcome", "reason", "location", "queue", "sched", "policy", "sched_algorithm", "class"})
        if (const std::string_view value = text_of(*list, name); !value.empty()) out[name] = value;
    for (const auto& [id, methods] : preempts_of(*list))
        out["preempts"].push_back({{"job", id}, {"methods", methods}});
    if (const std::string_view why = text_of(*list, "preempts_none"); !why.empty())
        out["preempts_none"] = why;
    for (const auto& [preference, vnodes] : missed_by(*list))
        out["missed"].push_back({{"preference", preference}, {"vnodes", vnodes}});
    if (const auto start = parse_integer(text_of(*list, "expected_start"))) out["expected_start"] = *start;
    if (!text_of(*list, "test_only").empty()) out["test_only"] = true;
    for (const char* name : {"place", "jobs", "class_place", "class_jobs"})
        if (const auto value = parse_integer(text_of(*list, name))) out[name] = *value;
    if (const auto terms = terms_of(*list, "priority_term"); !terms.empty())
        out["priority_terms"] = terms_json(terms);
    if (const std::string_view before = text_of(*list, "job_before"); !before.empty())
        out["job_before"] = {{"job", before}, {"priority_terms", terms_json(terms_of(*list, "term_before"))}};
    if (const std::string_view usage = text_of(*list, "past_usage"); !usage.empty())
        out["past_usage"] = text::json_or_string(usage);
    if (const std::string_view entity = text_of(*list, "share_entity"); !entity.empty()) {
        out["shares"] = {{"fs_group", text_of(*list, "share_group")},
                         {"entity", entity},
                         {"usage", real_of(*list, "share_usage")},
                         {"target", real_of(*list, "share_target")},
                         {"actual", real_of(*list, "share_actual")},
                         {"place", parse_integer(text_of(*list, "share_place")).value_or(0)},
                         {"entities", parse_integer(text_of(*list, "share_entities")).value_or(0)}};
    }
    out["order"] = order_json(keys_of(*list));
    out["gates"] = gates_json(gates_of(*list));
    out["queues"] = Json::array();
    for (const batch_status* queue = list->next; queue != nullptr; queue = queue->next) {
        Json one = {{"queue", view(queue->name)}};
        if (const auto start = parse_integer(text_of(*queue, "earliest_start"))) {
            one["earliest_start"] = *start;
            for (const Awaited& awaited : awaited_of(*queue))
                one["awaited"].push_back({{"when", awaited.what}, {"until", awaited.until}});
        }
        if (const auto until = parse_integer(text_of(*queue, "drained_until"))) one["drained_until"] = *until;
        if (const std::string_view range = text_of(*queue, "chunks"); !range.empty()) {
            one["chunks"] = {{"range", range},
                             {"now", parse_integer(text_of(*queue, "chunks_now")).value_or(0)},
                             {"most", parse_integer(text_of(*queue, "chunks_most")).value_or(0)}};
            if (const auto start = parse_integer(text_of(*queue, "chunks_most_start")))
                one["chunks"]["most_start"] = *start;
        }
        one["gates"] = gates_json(gates_of(*queue));
        for (const std::string_view note : notes_of(*queue)) one["notes"].push_back(note);
        if (const auto layers = layers_of(*queue); !layers.empty()) one["layers"] = layers_json(layers);
        out["queues"].push_back(std::move(one));
    }
    return text::write_json(out, 2) + "\n";
}

}  // namespace pbs::cmds
