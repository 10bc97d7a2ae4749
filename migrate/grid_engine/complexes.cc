// Reads sc: Grid Engine's complexes. Their urgency becomes the policy's urgency_of_resources, the ones with
// requestable FORCED its reserved_resources, and complexes that the site has defined become resources.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "ifl/attributes/built_in_resources.h"
#include "migrate/grid_engine/output.h"
#include "migrate/grid_engine/resource_names.h"
#include "migrate/words.h"
#include "objects/forms.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate::grid_engine {
namespace {

using objects::ObjectType;

struct KnownComplex {
    std::string_view names;  // separated by blanks
    std::string_view resource;
    ComplexType type = ComplexType::number;
};

constexpr std::array kKnownComplexes{
    KnownComplex{"slots s num_proc p", "ncpus"},
    KnownComplex{"h_rt s_rt", "walltime", ComplexType::time},
    KnownComplex{"h_cpu s_cpu", "cput", ComplexType::time},
    KnownComplex{"h_vmem s_vmem", "vmem", ComplexType::size},
    KnownComplex{"mem_total mt virtual_free vf h_rss s_rss", "mem", ComplexType::size},
    KnownComplex{"h_fsize s_fsize", "file", ComplexType::size},
    KnownComplex{"arch a", "arch", ComplexType::text},
    KnownComplex{"hostname h", "host", ComplexType::text},
    // Complexes that become no resource: loads, settings of queues and limits of processes.
    KnownComplex{
        "calendar c cpu display_win_gui dwg h_core s_core h_data s_data h_stack s_stack load_avg la "
        "load_long ll load_medium lm load_short ls m_core core m_socket socket m_thread thread m_topology "
        "topo m_topology_inuse utopo m_topology_numa m_cache_l1 m_cache_l2 m_cache_l3 m_numa_nodes "
        "m_mem_free mfree m_mem_free_n0 m_mem_free_n1 m_mem_free_n2 m_mem_free_n3 m_mem_total mtotal "
        "m_mem_used mused m_gpu "
        "mem_free mf mem_used mu min_cpu_interval mci np_load_avg nla np_load_long nll np_load_medium nlm "
        "np_load_short nls qname q rerun re seq_no seq swap_free sf swap_rate sr swap_rsvd srsv "
        "swap_total st swap_used su tmpdir tmp virtual_total vt virtual_used vu",
        ""},
};

constexpr std::array<std::pair<std::string_view, ComplexType>, 9> kComplexTypes{
    {{"INT", ComplexType::number},
     {"DOUBLE", ComplexType::number},
     {"BOOL", ComplexType::text},
     {"MEMORY", ComplexType::size},
     {"TIME", ComplexType::time},
     {"STRING", ComplexType::text},
     {"CSTRING", ComplexType::text},
     {"RESTRING", ComplexType::text},
     {"HOST", ComplexType::text}}};

const std::pair<std::string_view, ComplexType>* complex_type(std::string_view word) {
    const auto* found = std::ranges::find(kComplexTypes, word, [](const auto& row) { return row.first; });
    return found == kComplexTypes.end() ? nullptr : found;
}

std::string_view resource_type(std::string_view word) {
    if (word == "INT" || word == "TIME") return "long";
    if (word == "DOUBLE") return "float";
    if (word == "MEMORY") return "size";
    return word == "BOOL" ? "boolean" : "string";
}

// Returns whether jobs ask by the complex for hosts or queues without other jobs.
bool is_exclusive(const std::vector<std::string_view>& words) {
    return words.size() > 3 && words[3] == "EXCL";
}

class ComplexReader {
  public:
    ComplexReader(Output& out, const File& file) : out_(out), file_(file) {}

    void read() {
        for (const Line& line : file_.lines) read_line(line);
        if (urgencies_.empty() && !file_.lines.empty()) {
            // An empty urgency_of_resources would leave the policy's default in force, which gives CPUs an
            // urgency. So write one of 0.
            urgencies_.emplace_back("ncpus=0");
            for (const Line& line : file_.lines) urgent_.push_back(&line);
        }
        list("urgency_of_resources", "urgency", urgencies_, urgent_);
        list("reserved_resources", "requestable FORCED", reserved_, forced_);
    }

  private:
    void list(std::string_view attribute, std::string_view column, const std::vector<std::string>& values,
              const std::vector<const Line*>& lines) {
        if (values.empty()) return;
        out_.set(ObjectType::policy, kPolicy, attribute, fmt::format("{}", fmt::join(values, ",")),
                 place_of(file_, lines, column));
    }

    void read_line(const Line& line) {
        // A line has name, shortcut, type, relop, requestable, consumable, default and urgency; some versions
        // have more columns.
        const std::vector<std::string_view> words = values::words(line.text);
        if (words.size() < 8)
            return out_.problem(file_, line, words.back(), words[0],
                                fmt::format("{} of 8 words are there, expected name, shortcut, type, relop, "
                                            "requestable, consumable, default and urgency",
                                            words.size()));
        const auto* type = complex_type(words[2]);
        if (type == nullptr)
            return out_.problem(
                file_, line, words[2], words[0],
                fmt::format("{} is no type, expected INT, DOUBLE, MEMORY, TIME, BOOL, STRING, "
                            "CSTRING, RESTRING or HOST",
                            in_quotes(words[2])));
        const auto urgency = values::decimal(words[7]);
        if (!urgency)
            return out_.problem(file_, line, words[7], words[0],
                                fmt::format("{} is no urgency, expected a number", in_quotes(words[7])));
        ComplexName name = known_.find(words[0]);
        if (name.own) name.type = type->second;
        if (name.own && is_exclusive(words)) name.resource.clear();
        bool told = own(line, words, name);
        told = consumes(line, words, name) || told;
        told = add_urgency(line, words[0], *urgency, name) || told;
        if (words[4] == "FORCED" && !name.resource.empty() && name.resource != "ncpus") {
            reserve(line, words[0], name.resource);
            told = true;
        }
        if (!told)
            out_.left_out(file_, line, words[0],
                          name.resource.empty() ? "no resource here has it" : "a resource of every server");
    }

    void reserve(const Line& line, std::string_view name, const std::string& resource) {
        if (!objects::is_resource_name(resource))
            return out_.left_out(file_, line, name, "requestable FORCED left out: no resource here has it");
        if (!reserved_names_.insert(resource).second)
            return out_.left_out(file_, line, name,
                                 "requestable FORCED: an earlier complex is the same resource here");
        reserved_.push_back(resource);
        forced_.push_back(&line);
    }

    // Makes a resource of a complex that the site has defined. False: the complex is Grid Engine's.
    bool own(const Line& line, const std::vector<std::string_view>& words, const ComplexName& name) {
        if (!name.own) return false;
        const auto leave_out = [&](std::string_view why) { out_.left_out(file_, line, words[0], why); };
        if (is_exclusive(words)) {
            leave_out(
                "isn't made: jobs that want their vnodes for themselves ask for place=excl, or "
                "place=exclhost for whole hosts");
            return true;
        }
        if (!objects::is_resource_name(name.resource)) {
            leave_out(
                "left out: the name of a resource begins with a letter, and has letters, digits, - and _");
            return true;
        }
        if (const ifl::BuiltInResource* there = ifl::find_built_in_resource(name.resource)) {
            leave_out(
                fmt::format("isn't made: the server has a resource {} of its own{}; if the complex means "
                            "something else, rename it before the migration",
                            there->name, there->for_policies ? ", which policies act on" : ""));
            return true;
        }
        if (!made_.insert(values::lowered(name.resource)).second) {
            leave_out(
                "isn't made: an earlier complex has this name but for the case of letters, which "
                "doesn't count here");
            return true;
        }
        // Grid Engine lets only numbers be consumable.
        const bool consumable = words[5] != "NO" && name.type != ComplexType::text;
        out_.resource(name.resource, resource_type(words[2]), consumable ? "hqn" : "h", line.number(),
                      file_.path);
        if (consumable)
            leave_out(
                "vnodes have it (flag hqn): a floating licence needs flag q and resources_available of the "
                "server");
        return true;
    }

    // Notes how requests for a consumable differ from those in Grid Engine. False: there is nothing to note.
    bool consumes(const Line& line, const std::vector<std::string_view>& words, const ComplexName& name) {
        if (words[5] == "NO" || name.resource.empty() || name.resource == "ncpus") return false;
        const bool once = words[5] != "YES";
        if (once) {
            const std::string_view whose = words[5] == "HOST" ? "host" : "job";
            out_.left_out(
                file_, line, words[0],
                fmt::format("consumable {}: counts once for a {} there, and here for each chunk that "
                            "names it: jobs ask for it in one chunk of the {}",
                            printable(words[5]), whose, whose));
        }
        const bool usual = words[6].find_first_of("123456789") != std::string_view::npos;
        if (usual)
            out_.left_out(
                file_, line, words[0],
                "its default is left out: default_chunk of the server or a queue gives an amount to "
                "jobs that don't ask for it");
        return once || usual;
    }

    bool add_urgency(const Line& line, std::string_view name, double urgency, const ComplexName& complex) {
        if (urgency == 0) return false;
        if (complex.resource.empty() || !objects::is_resource_name(complex.resource)) {
            out_.left_out(file_, line, name, "urgency left out: no resource here has it");
            return true;
        }
        if (urgency < 0) {
            out_.left_out(file_, line, name, "urgency left out: here an urgency is at least 0");
            return true;
        }
        if (!urgent_names_.insert(complex.resource).second) {
            out_.left_out(file_, line, name,
                          "urgency left out: an earlier complex is the same resource here");
            return true;
        }
        if (complex.type == ComplexType::size) urgency *= 1024;  // a formula counts sizes in kilobytes
        if (const double whole = std::round(urgency); whole != urgency) {
            out_.left_out(
                file_, line, name,
                fmt::format("urgency {} becomes {}: here an urgency is a whole number", urgency, whole));
            urgency = whole;
        }
        std::string element = fmt::format("{}={}", complex.resource, urgency);
        if (!out_.checked_element(file_, line, name, name, "urgency_of_resources", element)) return true;
        urgencies_.push_back(std::move(element));
        urgent_.push_back(&line);
        return true;
    }

    Output& out_;
    const File& file_;
    const ComplexNames known_{nullptr};
    std::vector<std::string> urgencies_;
    std::vector<const Line*> urgent_;
    std::set<std::string> urgent_names_;
    std::vector<std::string> reserved_;
    std::vector<const Line*> forced_;
    std::set<std::string> reserved_names_;
    std::set<std::string> made_;  // the names of the resources that are made, in lower case
};

}  // namespace

ComplexNames::ComplexNames(const File* sc) {
    for (const KnownComplex& known : kKnownComplexes)
        for (const std::string_view name : values::words(known.names))
            by_name_.emplace(name, ComplexName{std::string(known.resource), known.type, false});
    if (sc == nullptr) return;
    for (const Line& line : sc->lines) {
        const std::vector<std::string_view> words = values::words(line.text);
        if (words.size() < 3) continue;
        ComplexName own{std::string(words[0]), ComplexType::number, true};
        if (const auto* type = complex_type(words[2])) own.type = type->second;
        if (words.size() > 3) own.relation = words[3];
        if (is_exclusive(words)) own.resource.clear();
        for (const std::string_view name : {words[0], words[1]}) by_name_.emplace(name, own);
    }
}

ComplexName ComplexNames::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return found->second;
    return {std::string(name), ComplexType::number, true};
}

ComplexName ComplexNames::load(std::string_view name) const {
    for (const std::string_view known : {"load_avg la", "np_load_avg nla"})
        for (const std::string_view word : values::words(known))
            if (word == name) return {std::string(values::words(known).front()), ComplexType::number};
    ComplexName found = find(name);
    const bool is_number = found.type == ComplexType::number || found.type == ComplexType::size;
    if (!found.own || !is_number || !by_name_.contains(name) || !objects::is_resource_name(found.resource))
        found.resource.clear();
    return found;
}

std::optional<double> amount_of(std::string_view text) {
    double factor = 1;
    if (!text.empty()) {
        constexpr std::string_view kSmall = "kmgt";
        const bool binary = text.back() >= 'A' && text.back() <= 'Z';
        const std::size_t power =
            kSmall.find(binary ? static_cast<char>(text.back() + ('a' - 'A')) : text.back());
        if (power != std::string_view::npos) {
            for (std::size_t i = 0; i <= power; ++i) factor *= binary ? 1024 : 1000;
            text.remove_suffix(1);
        }
    }
    const auto number = values::decimal(text);
    if (!number) return std::nullopt;
    return *number * factor;
}

void read_complexes(Output& out) {
    if (const File* file = out.folder().find("sc")) ComplexReader(out, *file).read();
}

}  // namespace pbs::migrate::grid_engine
