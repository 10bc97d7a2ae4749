#include "server_plugin/plugin/requests/fair_share.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "objects/value.h"
#include "server_plugin/plugin/configuration.h"
#include "server_plugin/plugin/requests/extend.h"
#include "server_plugin/plugin/requests/shown.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

// The most elements in one part of a reply. A part takes a few milliseconds.
constexpr std::size_t kPart = 1000;

std::string_view entity_word(sched::ShareEntity entity) {
    switch (entity) {
        case sched::ShareEntity::egroup:
            return "egroup";
        case sched::ShareEntity::account:
            return "Account_Name";
        case sched::ShareEntity::queue:
            return "queue";
        case sched::ShareEntity::egroup_euser:
            return "egroup:euser";
        case sched::ShareEntity::euser:
            break;
    }
    return "euser";
}

void add_tree(Reply& reply, const sched::SharesView& view) {
    ShownAttributes shown;
    shown.add("sched", view.sched);
    shown.add("entity", std::string(entity_word(view.group.entity)));
    shown.add("usage_formula", view.group.usage_formula.empty() ? "cput" : view.group.usage_formula);
    shown.add("unknown_shares", std::to_string(view.group.unknown_shares));
    if (view.group.enforce_no_shares) shown.add("enforce_no_shares", "True");
    if (!view.counts) shown.add("counts_usage", "False");
    shown.add("decay_time", std::to_string(view.group.decay_time.count()));
    shown.add("decay_factor", fmt::format("{}", view.group.decay_factor));
    if (view.group.half_life > sched::Seconds(0))
        shown.add("half_life", std::to_string(view.group.half_life.count()));
    shown.add_instant("now", view.now);
    if (view.last_decay != sched::Instant{}) {
        shown.add_instant("last_decay", view.last_decay);
        shown.add_instant("next_decay", view.next_decay);
    }
    reply.object(PBS_OBJ_FAIRSHARE, view.group.name, shown.attributes());
}

void add_row(Reply& reply, const sched::ShareRow& row) {
    ShownAttributes shown;
    shown.add("kind", row.is_group ? "group" : "entity");
    shown.add_if_any("parent", row.parent);
    shown.add("shares", std::to_string(row.shares));
    shown.add("target", fmt::format("{}", row.target));
    shown.add("usage", fmt::format("{}", row.usage));
    shown.add("decayed", fmt::format("{}", row.decayed));
    shown.add("long_usage", fmt::format("{}", row.long_usage));
    shown.add("actual", fmt::format("{}", row.actual));
    shown.add("tree_usage", fmt::format("{}", row.tree_usage));
    shown.add("factor", fmt::format("{}", row.factor));
    shown.add("jobs", std::to_string(row.jobs));
    shown.add("running", std::to_string(row.running));
    shown.add("level", fmt::format("{}", row.level));
    shown.add("short_target", fmt::format("{}", row.short_target));
    shown.add("overall_short_target", fmt::format("{}", row.overall_short_target));
    if (row.place != 0) shown.add("place", std::to_string(row.place));
    reply.object(PBS_OBJ_FAIRSHARE, row.name, shown.attributes());
}

std::string none_text(const std::string& sched, const std::string& group) {
    return group.empty()
               ? fmt::format(
                     "no policy of sched {} has a fairshare_group: expected one that names an fs_group",
                     sched)
               : fmt::format("no policy of sched {} has {} as its fairshare_group", sched, group);
}

void add_ticket_row(Reply& reply, const sched::TicketRow& row) {
    ShownAttributes shown;
    shown.add("owner", row.owner);
    shown.add("queue", row.queue);
    shown.add("runs", row.runs ? "True" : "False");
    shown.add("override", fmt::format("{}", row.by_override));
    shown.add("functional", fmt::format("{}", row.functional));
    shown.add("share", fmt::format("{}", row.share));
    shown.add("tickets", fmt::format("{}", row.sum()));
    shown.add("normalised", fmt::format("{}", row.normalised));
    reply.object(PBS_OBJ_FAIRSHARE, row.job, shown.attributes());
}

class TicketsQuery final : public BackgroundQuery {
  public:
    explicit TicketsQuery(sched::SharesAsked asked) : asked_(std::move(asked)) {}

    void work(sched::Inspector& scheduler, sched::Instant now) override {
        asked_.now = now;
        found_ = scheduler.tickets(asked_);
    }
    int32_t answer(const pbs_status_request&, bool in_parts, Reply reply) override {
        if (!found_.gives_tickets)
            return reply.error(PBSE_IVALREQ,
                               found_.policy.empty()
                                   ? fmt::format("sched {} has no policy", asked_.sched)
                                   : fmt::format("policy {} gives no tickets: expected weighted_priority or "
                                                 "tickets in job_sort_formula, "
                                                 "and tickets_functional, tickets_share or override_tickets",
                                                 found_.policy));
        if (row_ == 0) {
            ShownAttributes shown;
            shown.add("sched", found_.sched);
            shown.add_instant("now", found_.now);
            reply.object(PBS_OBJ_FAIRSHARE, found_.policy, shown.attributes());
        }
        for (std::size_t told = 0; row_ < found_.rows.size(); ++row_) {
            if (in_parts && told++ == kPart) {
                reply.attribute({"offset", std::to_string(row_), {}});
                return PBSE_NONE;
            }
            add_ticket_row(reply, found_.rows[row_]);
        }
        return PBSE_NONE;
    }
    bool all_told() const override { return row_ == found_.rows.size(); }

  private:
    sched::SharesAsked asked_;
    sched::TicketsView found_;
    std::size_t row_ = 0;  // the next row to send
};

class SharesQuery final : public BackgroundQuery {
  public:
    explicit SharesQuery(sched::SharesAsked asked) : asked_(std::move(asked)) {}

    void work(sched::Inspector& scheduler, sched::Instant now) override {
        asked_.now = now;
        found_ = scheduler.shares(asked_);
    }
    int32_t answer(const pbs_status_request&, bool in_parts, Reply reply) override {
        if (found_.empty())
            return reply.error(PBSE_FS_GROUP_NOT_FOUND, none_text(asked_.sched, asked_.group));
        std::size_t told = 0;
        for (; tree_ < found_.size(); ++tree_, row_ = 0) {
            const sched::SharesView& view = found_[tree_];
            if (row_ == 0) add_tree(reply, view);
            for (; row_ < view.rows.size(); ++row_) {
                if (in_parts && told++ == kPart) {
                    // row_ already has the position of the next part. The attribute only makes the host ask
                    // for that part.
                    reply.attribute({"offset", std::to_string(row_), {}});
                    return PBSE_NONE;
                }
                add_row(reply, view.rows[row_]);
            }
        }
        return PBSE_NONE;
    }
    bool all_told() const override { return tree_ == found_.size(); }

  private:
    sched::SharesAsked asked_;
    std::vector<sched::SharesView> found_;
    std::size_t tree_ = 0;  // the next part begins in this tree, at its row row_
    std::size_t row_ = 0;
};

bool is_manager(const pbs_identity& who) {
    return (who.privilege & (PBS_PRIV_MANAGER | PBS_PRIV_ROOT)) != 0;
}

std::string sched_of(pbs_str name) {
    return name.len == 0 ? std::string("default") : std::string(view(name));
}

struct AskedShares {
    std::string group;
    sched::SharesChange change;

    int things() const {
        return (change.usage.empty() ? 0 : 1) + (change.decay ? 1 : 0) + (change.trim ? 1 : 0);
    }
};

objects::Result<void> read_attribute(const pbs_attr& attr, AskedShares& asked) {
    const std::string_view name = view(attr.name);
    const std::string_view entity = view(attr.resource);
    const std::string_view value = view(attr.value);
    if (attr.op != PBS_OP_SET || (name == "usage") == entity.empty())
        return objects::fail(
            objects::Code::invalid_request,
            fmt::format("{}: expected usage.ENTITY = NUMBER, decay = True or trim = True", name));
    if (name == "usage") {
        double number = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
        if (value.empty() || read.ec != std::errc{} || read.ptr != value.data() + value.size() ||
            !std::isfinite(number) || number < 0)
            return objects::fail(
                objects::Code::bad_value,
                fmt::format("usage of {}: bad value '{}': expected a number that isn't negative", entity,
                            value));
        asked.change.usage.emplace_back(entity, number);
        return {};
    }
    if (name == "fs_group") {
        asked.group = value;
        return {};
    }
    if (name != "decay" && name != "trim")
        return objects::fail(
            objects::Code::unknown_attribute,
            fmt::format("unknown attribute '{}': expected usage, decay, trim or fs_group", name));
    const auto flag = objects::parse_boolean(name, value);
    if (!flag) return tl::unexpected(flag.error());
    (name == "decay" ? asked.change.decay : asked.change.trim) = *flag;
    return {};
}

objects::Result<AskedShares> read_shares_request(const pbs_manager_request& request) {
    if (request.command != PBS_CMD_SET || (request.attr_count != 0 && !request.attrs))
        return objects::fail(objects::Code::invalid_request, "usage can be set, nothing else");
    AskedShares asked;
    for (const pbs_attr& attr : std::span(request.attrs, request.attr_count))
        if (auto read = read_attribute(attr, asked); !read) return tl::unexpected(read.error());
    if (asked.things() != 1)
        return objects::fail(objects::Code::invalid_request, "expected one of usage, decay and trim");
    return asked;
}

// Returns the fs_group that a change names; if it names none, the scheduler's only fs_group.
objects::Result<std::string> group_of(const State& state, const std::string& sched,
                                      const AskedShares& asked) {
    const std::vector<std::string> groups = state.scheduler.share_groups(sched);
    const bool is_known = asked.group.empty() || std::ranges::find(groups, asked.group) != groups.end();
    if (groups.empty() || !is_known)
        return objects::fail(objects::Code::unknown_object,
                             none_text(sched, groups.empty() ? std::string() : asked.group));
    if (!asked.group.empty()) return asked.group;
    if (groups.size() == 1) return groups.front();
    return objects::fail(objects::Code::bad_value,
                         fmt::format("sched {} keeps the usage of several fs_groups: expected one of {}",
                                     sched, fmt::join(groups, ", ")));
}

}  // namespace

int32_t status_fair_share(State& state, const pbs_status_request& request, Reply reply) {
    if (state.queries.knows(ticket_of(state, request)))
        return state.queries.answer(state, request, {}, reply);
    sched::SharesAsked asked;
    asked.sched = sched_of(request.object_name);
    if (!is_manager(request.who)) asked.user = view(request.who.user);
    bool of_jobs = false;
    const auto read =
        read_extend(view(request.extend),
                    [&](std::string_view key, std::string_view value) -> objects::Result<std::int64_t> {
                        if (key == "tickets" && value == "True") {
                            of_jobs = true;
                            return 0;
                        }
                        if (key != "fs_group") return unknown_key(key, "fs_group or tickets=True");
                        asked.group = value;
                        return 0;
                    });
    if (!read) return reply.error(static_cast<int32_t>(read.error().code), read.error().message);
    if (of_jobs && !asked.group.empty())
        return reply.error(PBSE_IVALREQ, "jobs have tickets of all fs_groups: expected no fs_group");
    if (request.wanted_count != 0)
        return reply.error(PBSE_IVALREQ, "shares are shown whole: expected no attributes");
    if (!state.sched_priv.contains(asked.sched)) return reply.error(PBSE_UNKSCHED, {});
    const auto make = [&]() -> std::shared_ptr<BackgroundQuery> {
        if (of_jobs) return std::make_shared<TicketsQuery>(asked);
        return std::make_shared<SharesQuery>(asked);
    };
    return state.queries.answer(state, request, make, reply);
}

int32_t manage_fair_share(State& state, const pbs_manager_request& request, std::uint64_t ticket,
                          Reply reply) {
    if (!is_manager(request.who)) return reply.error(PBSE_PERM, {});
    const objects::Result<AskedShares> asked = read_shares_request(request);
    const auto refuse = [&](const objects::Error& why) {
        return reply.error(static_cast<int32_t>(why.code), why.message);
    };
    if (!asked) return refuse(asked.error());
    const std::string sched = sched_of(request.object_name);
    if (!state.sched_priv.contains(sched)) return reply.error(PBSE_UNKSCHED, {});
    if (!state.queries.has_turn(state, ticket)) return reply.error(PBSE_TRYAGAIN, {});
    settle(state);  // adopt earlier requests, so that their trees exist
    const auto group = group_of(state, sched, *asked);
    if (!group) return refuse(group.error());
    const sched::Instant now = instant(request.now);
    if (const auto done = state.scheduler.change_shares(now, sched, *group, asked->change); !done)
        return reply.error(PBSE_BADATVAL, done.error().message);
    const auto saved = state.usage.save_now(*state.store, state.scheduler, state.host, now);
    if (!saved)
        return reply.error(PBSE_SYSTEM,
                           fmt::format("usage is changed, but isn't saved yet: {}", saved.error().message));
    return PBSE_NONE;
}

}  // namespace pbs::plugin
