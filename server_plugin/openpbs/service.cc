#include "server_plugin/openpbs/service.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ifl/attributes/execution_type.h"
#include "ifl/packet.h"
#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/backup.h"
#include "server_plugin/openpbs/messages.h"
#include "server_plugin/openpbs/plugin.h"
#include "server_plugin/openpbs/programs.h"
#include "server_plugin/openpbs/scheduling.h"
#include "server_plugin/openpbs/site.h"
#include "server_plugin/openpbs/status_kinds.h"
#include "server_plugin/openpbs/wake.h"
#include "values/text.h"

namespace pbs::openpbs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAgain{5};   // the pause between two calls for the same request
constexpr std::chrono::seconds kAlive{10};       // the longest time for which the service sends nothing
constexpr std::chrono::seconds kLookAgain{600};  // the interval of queries of the server's objects
constexpr std::chrono::seconds kServerRetry{1};  // the pause between two attempts to reach the server

class Service {
  public:
    Service(int fd, const ServiceOptions& options) : fd_(fd), options_(options), in_(kLongestMessage) {}
    ~Service() {
        programs_.reset();
        scheduling_.reset();
        plugin_.reset();
        close(fd_);
    }
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    void run(const std::atomic<bool>& end) {
        while (!end && open_) {
            if (!plugin_) try_to_start();
            if (!failed_.empty()) refuse_all();
            go_on();
            look_after_time();
            schedule();
            wait();
        }
    }

  private:
    static std::int64_t now() { return std::time(nullptr); }

    // A status request in progress, with the objects that were found so far.
    struct Listing {
        Clock::time_point asked = Clock::now();
        bool begun = false;
        std::string extend;
        ifl::StatusParts parts;
    };

    // ---- The start.

    void try_to_start() {
        if (Clock::now() < next_start_) return;
        auto site = ask_site();
        if (!site) {
            next_start_ = Clock::now() + kServerRetry;
            if (!std::exchange(told_waiting_, true))
                options_.log(fmt::format("waiting for the server: {}", site.error().message));
            return;
        }
        client::Options options{options_.plugin, options_.home, site->server.name, {}, now()};
        options.first_change = std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count();
        options.cycle_finished = [this] {
            wake_.cycle_finished = true;
            wake_.call();
        };
        options.work_finished = [this] { wake_.call(); };
        auto plugin = Plugin::load(std::move(options), options_.log);
        if (!plugin) return fail(*site, plugin.error());
        for (auto& [name, sched] : site->scheds) sched.own = options_.scheduler;
        (*plugin)->records().tell({}, *site);
        if (auto started = (*plugin)->start(now()); !started) return fail(*site, started.error());
        plugin_ = std::move(*plugin);
        site_ = std::move(*site);
        failed_.clear();
        if (options_.scheduler) {
            scheduling_ = std::make_unique<Scheduling>(*plugin_, site_, options_.log);
            programs_ = std::make_unique<Programs>(*plugin_, site_, *scheduling_, options_.log);
        }
        looked_ = Clock::now();
        show_all();
        options_.log("policy objects are available");
    }

    // Reports that the plugin can't be started, in the log and in `list sched`. The next attempt follows in
    // half a minute, because somebody may repair the store or restore a missing file.
    void fail(const Site& site, const std::string& why) {
        next_start_ = Clock::now() + std::chrono::seconds(30);
        const std::string said = fmt::format("policy objects are not available: {}", why);
        if (failed_ != why) options_.log(said);
        failed_ = why;
        for (const auto& [name, sched] : site.scheds) {
            ifl::Attributes attributes{{"policy_service", {}, said, ifl::Op::set}};
            if (options_.scheduler) attributes.push_back({"scheduled_by", {}, "nobody", ifl::Op::set});
            show(PBS_OBJ_SCHED, name, std::move(attributes));
        }
    }

    // Keeps the registrations and waits for changes of programs that a service before this one has answered:
    // these go on when the plugin has been started.
    void refuse_all() {
        for (Ask& one : std::exchange(asked_, {}))
            if (one.what == Ask::Kind::again)
                asked_.push_back(std::move(one));
            else
                answer(one.ticket,
                       ifl::Reply::error(PBSE_SYSTEM,
                                         fmt::format("policy objects are not available: {}", failed_)));
    }

    // ---- The server's objects.

    void refresh() {
        stale_ = false;
        looked_ = Clock::now();
        auto site = ask_site();
        if (!site) {
            options_.log(fmt::format("the server can't be asked for its objects: {}", site.error().message));
            return;
        }
        // Keep the known vnodes and execution_types, which ask_site() doesn't query.
        site->vnodes = site_.vnodes;
        keep_execution_types(site_.queues, site->queues);
        for (auto& [name, sched] : site->scheds)
            sched.own = scheduling_ != nullptr && scheduling_->is_own(name);
        plugin_->records().tell(site_, *site);
        if (scheduling_) scheduling_->take_over(site_, *site);
        site_ = std::move(*site);
    }

    void show(std::uint32_t type, const std::string& name) {
        ifl::Attributes attributes = plugin_->shown(now(), type, name);
        // Leave out the server's time, which OpenPBS's server shows itself.
        std::erase_if(attributes, [](const ifl::Attribute& one) { return one.name == "server_time"; });
        if (type == PBS_OBJ_SCHED && scheduling_) {
            scheduling_->show_not_acted_on(name, attributes);
            for (ifl::Attribute& one : scheduling_->shown(name)) attributes.push_back(std::move(one));
        }
        show(type, name, std::move(attributes));
    }

    void show(std::uint32_t type, const std::string& name, ifl::Attributes attributes) {
        const std::pair key{type, name};
        const auto found = shown_.find(key);
        if (found == shown_.end() ? attributes.empty() : found->second == attributes) return;
        send(AddedAttributes{type, name, attributes});
        if (attributes.empty()) {
            shown_.erase(key);
        } else {
            shown_[key] = std::move(attributes);
        }
    }

    void show_all() {
        show(PBS_OBJ_SERVER, {});
        for (const auto& [name, sched] : site_.scheds) show(PBS_OBJ_SCHED, name);
        for (const auto& [name, queue] : site_.queues) show(PBS_OBJ_QUEUE, name);
        std::vector<std::pair<std::uint32_t, std::string>> gone;
        for (const auto& [key, attributes] : shown_)
            if ((key.first == PBS_OBJ_SCHED && !site_.scheds.contains(key.second)) ||
                (key.first == PBS_OBJ_QUEUE && !site_.queues.contains(key.second)))
                gone.push_back(key);
        for (const auto& key : gone) {
            send(AddedAttributes{key.first, key.second, {}});
            shown_.erase(key);
        }
        take_execution_types();
    }

    // Sets the execution_types of queues in the records of the server's objects, as the plugin shows them,
    // because the server doesn't keep them. Reports the queues to the plugin again.
    void take_execution_types() {
        const auto type_of = [&](const std::string& queue) {
            const auto shown = shown_.find({PBS_OBJ_QUEUE, queue});
            if (shown == shown_.end()) return ifl::execution_type_of({});
            const auto found = std::ranges::find(shown->second, "execution_type", &ifl::Attribute::name);
            return ifl::execution_type_of(found == shown->second.end() ? std::string_view()
                                                                       : std::string_view(found->value));
        };
        const bool same = std::ranges::all_of(site_.queues, [&](const auto& queue) {
            return queue.second.execution_type == type_of(queue.first);
        });
        if (same) return;
        Site after = site_;
        for (auto& [name, queue] : after.queues) queue.execution_type = type_of(name);
        plugin_->records().tell(site_, after);
        site_ = std::move(after);
    }

    // ---- Requests.

    Identity identity_of(const Ask& one) { return {one.request.user, name_of(one.address), one.privilege}; }

    // Returns the name of the host with this address. If it has no name, returns the address.
    const std::string& name_of(const std::string& address) {
        const auto [known, made] = hosts_.try_emplace(address, address);
        if (!made) return known->second;
        sockaddr_in peer{};
        peer.sin_family = AF_INET;
        std::array<char, NI_MAXHOST> name{};
        if (inet_pton(AF_INET, address.c_str(), &peer.sin_addr) == 1 &&
            getnameinfo(reinterpret_cast<const sockaddr*>(&peer), sizeof peer, name.data(), name.size(),
                        nullptr, 0, NI_NAMEREQD) == 0)
            known->second = name.data();
        return known->second;
    }

    // Carries out a request, or a part of it. Returns whether the request is answered.
    bool carry_out(const Ask& one) {
        if (one.request.type == ifl::RequestType::manager) return manager(one);
        if (std::holds_alternative<ifl::RunJob>(one.request.body)) return start(one);
        return status(one);
    }

    bool start(const Ask& one) {
        if (!programs_) {
            answer(one.ticket, ifl::Reply::error(PBSE_NOSUP, instead_of("start")));
            return true;
        }
        if (waits_for_look(one, std::get<ifl::RunJob>(one.request.body).job)) return false;
        return answered(one.ticket, programs_->start(now(), one, identity_of(one)));
    }

    bool answered(std::uint64_t ticket, const std::optional<ifl::Reply>& reply) {
        if (!reply) return false;
        listings_.erase(ticket);
        answer(ticket, *reply);
        return true;
    }

    bool manager(const Ask& one) {
        const auto& body = std::get<ifl::Manage>(one.request.body);
        const bool server = body.object_type == PBS_OBJ_SERVER;
        const bool sched = body.object_type == PBS_OBJ_SCHED;
        ManagerRequest request{static_cast<int>(body.command),
                               body.object_type,
                               server                         ? std::string()
                               : sched && body.object.empty() ? std::string("default")
                                                              : body.object,
                               body.attributes,
                               one.request.extend,
                               one.what == Ask::Kind::check};
        if (body.object_type == PBS_OBJ_QUEUE && !body.attributes.empty() &&
            (body.object.empty() || body.object.front() == '@')) {
            answer(one.ticket,
                   ifl::Reply::error(PBSE_IVALREQ, fmt::format("{} has to be set on one queue at a time",
                                                               body.attributes.front().name)));
            return true;
        }
        if (const std::string why = objection_to_type(site_, body); !why.empty()) {
            answer(one.ticket, ifl::Reply::error(PBSE_BADATVAL, why));
            return true;
        }
        if (body.object_type == PBS_OBJ_FAIRSHARE && !scheduling_) {
            answer(one.ticket, ifl::Reply::error(PBSE_NOSUP, instead_of("fairshare")));
            return true;
        }
        if (wants_backup(request)) {
            answer(one.ticket, backup(request));
            return true;
        }
        const ifl::Reply reply = plugin_->manager(now(), request, identity_of(one), one.ticket);
        if (reply.code == PBSE_TRYAGAIN) return false;
        if (one.what != Ask::Kind::check && reply.code == 0) {
            if (scheduling_) scheduling_->configured();
            show_all();
        }
        answer(one.ticket, reply);
        return true;
    }

    static bool wants_backup(const ManagerRequest& request) {
        return request.object_type == PBS_OBJ_CONFIGURATION &&
               std::ranges::any_of(request.attributes, [](const auto& one) { return one.name == "backup"; });
    }

    ifl::Reply backup(const ManagerRequest& request) const {
        if (request.command != PBS_CMD_SET || !request.object.empty() || request.attributes.size() != 1 ||
            request.attributes.front().value != "True")
            return ifl::Reply::error(PBSE_BADATVAL, "backup: expected True, and nothing else");
        const auto done = back_up(options_.home, now());
        return done ? ifl::Reply::warning(*done) : ifl::Reply::error(PBSE_SYSTEM, done.error());
    }

    bool status(const Ask& one) {
        constexpr std::string_view kBegin = "object=";
        const std::string_view extend = std::string_view(one.request.extend).substr(kBegin.size());
        const std::string_view kind = extend.substr(0, extend.find(';'));
        const std::uint32_t type = status_type(kind, scheduling_ != nullptr);
        if (kind == "registration" && programs_)
            return answered(one.ticket, programs_->enter(now(), one, identity_of(one)));
        if (type == 0) {
            answer(one.ticket, ifl::Reply::error(PBSE_NOSUP, instead_of(kind)));
            return true;
        }
        const auto& body = std::get<ifl::Status>(one.request.body);
        std::string name = body.object;
        Listing& listing = listings_[one.ticket];
        if (type == PBS_OBJ_CHANGES && programs_->waits(one.ticket)) return false;
        if (type == PBS_OBJ_EXPLANATION) {
            const Identity who = identity_of(one);
            const Records& records = plugin_->records();
            name = records.explained(name);
            if (waits_for_look(one, body.object)) return false;
            if (kind.size() < extend.size()) return explain_start(one, who, listing);
            if (who.privilege == PBS_PRIV_NONE && !records.may_see(who.user + '@' + who.host, name)) {
                answer(one.ticket, ifl::Reply::error(PBSE_PERM));
                listings_.erase(one.ticket);
                return true;
            }
        }
        if (!std::exchange(listing.begun, true)) {
            if (kind.size() < extend.size()) listing.extend = extend.substr(kind.size() + 1);
            if (type == PBS_OBJ_CHANGES) {
                auto begun = programs_->begin_wait(one, listing.extend, identity_of(one));
                if (!begun)
                    return answered(one.ticket, ifl::Reply::error(begun.error().code, begun.error().message));
                listing.extend = *std::move(begun);
                if (programs_->waits(one.ticket)) return false;
            }
        }
        for (;;) {
            std::string next;
            const ifl::Reply reply = plugin_->status(now(), type, name, body.wanted, identity_of(one),
                                                     listing.extend, one.ticket, listing.parts, next);
            if (reply.code == PBSE_TRYAGAIN) return false;
            if (reply.code != 0) {
                answer(one.ticket, reply);
                break;
            }
            if (!next.empty()) {
                listing.extend = std::move(next);
                continue;
            }
            send_objects(one.ticket, listing.parts);
            break;
        }
        if (type == PBS_OBJ_CHANGES) programs_->end_wait(one.ticket);
        listings_.erase(one.ticket);
        return true;
    }

    void send_objects(std::uint64_t ticket, ifl::StatusParts& objects) {
        Answer parts{ticket, {}};
        std::vector<ifl::StatusPart> all = objects.take();
        if (all.empty()) all.emplace_back();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto packet = ifl::part_packet(std::move(all[i]), i + 1 < all.size());
            parts.parts.push_back(packet[0].substr(ifl::kPacketHeaderSize) + packet[1]);
        }
        send(parts);
    }

    bool explain_start(const Ask& one, const Identity& who, Listing& listing) {
        std::vector<ifl::ObjectStatus> objects;
        const auto reply = programs_->explain(now(), one, who, objects);
        if (!reply || reply->code != 0) return answered(one.ticket, reply);
        for (const ifl::ObjectStatus& object : objects)
            listing.parts.add(object.type, object.name, object.attributes);
        send_objects(one.ticket, listing.parts);
        listings_.erase(one.ticket);
        return true;
    }

    // Returns whether the request has to wait for a query of the server's jobs, because the job that it names
    // isn't known. Each start waits so; but only one request for an explanation at a time, because the
    // server's loop waits a little for each request without an answer.
    bool waits_for_look(const Ask& one, const std::string& job) {
        if (looks_for_ == one.ticket) looks_for_.reset();
        const Records& records = plugin_->records();
        if (!scheduling_ || records.job(records.explained(job)) != nullptr) return false;
        const Clock::time_point asked = listings_[one.ticket].asked;
        if (looks_for_) return std::holds_alternative<ifl::RunJob>(one.request.body);
        if (scheduling_->look_after(asked)) return false;
        looks_for_ = one.ticket;
        return true;
    }

    void answer(std::uint64_t ticket, const ifl::Reply& reply) {
        send(Answer{ticket, {ifl::encode_reply(reply)}});
    }

    // ---- The socket.

    void send(const FromService& message) {
        out_ += packet_of(message);
        said_ = Clock::now();
        flush();
    }

    void flush() {
        while (!out_.empty()) {
            const ssize_t sent = ::send(fd_, out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
            if (sent < 0) {
                open_ = false;
                return;
            }
            out_.erase(0, static_cast<std::size_t>(sent));
        }
    }

    // Calls the plugin again for requests in progress, and begins new ones, in the order in which they came.
    void go_on() {
        if (!plugin_) return;
        std::deque<Ask> again;
        for (Ask& one : std::exchange(asked_, {})) {
            // Don't query the server before a commit: the server has done its part, and waits for the
            // service.
            if (stale_ && one.what != Ask::Kind::commit) refresh();
            if (!carry_out(one)) again.push_back(std::move(one));
        }
        asked_ = std::move(again);
        if (stale_) {
            refresh();
            show_all();
        }
    }

    void look_after_time() {
        if (Clock::now() - said_ > kAlive) send(Alive{});
        if (!plugin_) return;
        if (Clock::now() - looked_ > kLookAgain) stale_ = true;
        if (plugin_->next_deadline(now()) > now()) return;
        plugin_->tick(now());
        if (scheduling_) scheduling_->look_at_wanted();
        show_all();
    }

    void schedule() {
        if (!scheduling_) return;
        if (wake_.cycle_finished.exchange(false)) scheduling_->cycle_finished();
        scheduling_->step();
        // A cycle may have read other files. `list sched` shows facts about them, so show the schedulers
        // anew.
        const std::uint64_t cycles = scheduling_->cycles();
        const bool another = std::exchange(cycles_, cycles) != cycles;
        for (const auto& [name, sched] : site_.scheds)
            if (!show_scheduling(name) && another) show(PBS_OBJ_SCHED, name);
    }

    // If the attributes about a scheduler's scheduling have changed, shows the scheduler anew and returns
    // true. The scheduler's other attributes change only by requests, by time and by cycles.
    bool show_scheduling(const std::string& sched) {
        ifl::Attributes now = scheduling_->shown(sched);
        ifl::Attributes& before = scheduling_shown_[sched];
        if (now == before) return false;
        before = std::move(now);
        show(PBS_OBJ_SCHED, sched);
        return true;
    }

    int patience() {
        using std::chrono::milliseconds;
        if (stale_) return 0;
        if (!plugin_) return static_cast<int>(milliseconds(kServerRetry).count());
        std::int64_t most = milliseconds(kAlive).count();
        if (!asked_.empty()) {
            // If all requests wait for changes, none needs a look before there are any.
            const bool only_waits = programs_ && std::ranges::all_of(asked_, [this](const Ask& one) {
                                        return programs_->waits(one.ticket);
                                    });
            if (!only_waits) return static_cast<int>(kAgain.count());
            most = std::min<std::int64_t>(most, programs_->patience().count());
        }
        const std::int64_t due = plugin_->next_deadline(now());
        if (scheduling_) most = std::min<std::int64_t>(most, scheduling_->patience());
        if (due == INT64_MAX) return static_cast<int>(most);
        return static_cast<int>(
            std::min<std::int64_t>(std::max<std::int64_t>((due - now()) * 1000, 20), most));
    }

    void wait() {
        std::vector<pollfd> set{{fd_, static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT), 0},
                                {wake_.fd(), POLLIN, 0}};
        if (scheduling_) scheduling_->poll_for(set);
        if (poll(set.data(), set.size(), patience()) <= 0) return;
        if (set[1].revents != 0) wake_.clear();
        const pollfd& waiting = set.front();
        if ((waiting.revents & POLLOUT) != 0) flush();
        if ((waiting.revents & (POLLIN | POLLHUP | POLLERR)) == 0) return;
        const ssize_t size = recv(fd_, in_.room(ifl::kReadSize), ifl::kReadSize, MSG_DONTWAIT);
        const int error = errno;
        in_.filled(size > 0 ? static_cast<std::size_t>(size) : 0);
        if (size == 0 || (size < 0 && error != EINTR && error != EAGAIN)) {
            open_ = false;
            return;
        }
        read();
    }

    void read() {
        for (;;) {
            auto packet = in_.next();
            if (packet && !*packet) return;
            auto message = packet ? to_service(**packet) : tl::unexpected(packet.error());
            if (!message) {
                options_.log(fmt::format("the server's message can't be read: {}", message.error().message));
                open_ = false;
                return;
            }
            if (auto* one = std::get_if<Ask>(&*message)) {
                asked_.push_back(std::move(*one));
            } else if (const auto* gone = std::get_if<Abandon>(&*message)) {
                std::erase_if(asked_, [&](const Ask& asked) { return asked.ticket == gone->ticket; });
                listings_.erase(gone->ticket);
                if (looks_for_ == gone->ticket) looks_for_.reset();
                if (programs_) programs_->give_up(gone->ticket);
                if (plugin_) plugin_->abandon(gone->ticket);
            } else if (const auto* started = std::get_if<Started>(&*message)) {
                if (programs_) programs_->handled(started->ticket);
            } else if (const auto* changed = std::get_if<Changed>(&*message)) {
                if (scheduling_) scheduling_->noticed(changed->object_type);
                // Changes of jobs and vnodes concern only Scheduling, which queries them itself.
                if (changed->object_type != PBS_OBJ_JOB && changed->object_type != PBS_OBJ_NODE)
                    stale_ = true;
            }
        }
    }

    int fd_;
    const ServiceOptions& options_;
    bool open_ = true;
    ifl::PacketReader in_;
    std::string out_;
    std::deque<Ask> asked_;
    std::map<std::uint64_t, Listing> listings_;
    std::optional<std::uint64_t> looks_for_;  // the request that waits for a query of the server's jobs
    Wake wake_;                               // declared before the plugin, which uses it
    std::unique_ptr<Plugin> plugin_;
    Site site_;
    std::unique_ptr<Scheduling> scheduling_;
    std::unique_ptr<Programs> programs_;  // null: pbs_sched schedules
    std::map<std::string, ifl::Attributes> scheduling_shown_;
    std::uint64_t cycles_ = 0;
    bool stale_ = false;  // some of the server's objects may have changed
    std::map<std::pair<std::uint32_t, std::string>, ifl::Attributes> shown_;
    std::map<std::string, std::string> hosts_;  // host names by address
    std::string failed_;                        // the reason why the plugin can't be started
    bool told_waiting_ = false;
    Clock::time_point next_start_{};
    Clock::time_point said_{};
    Clock::time_point looked_{};
};

}  // namespace

void serve(int fd, const ServiceOptions& options, const std::atomic<bool>& end) {
    try {
        Service(fd, options).run(end);
    } catch (const std::exception& escaped) {
        options.log(fmt::format("the policy service has failed: {}", escaped.what()));
    } catch (...) {
        options.log("the policy service has failed");
    }
}

}  // namespace pbs::openpbs
