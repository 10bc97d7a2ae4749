#include "server_plugin/host/store/store_impl.h"

#include <limits>
#include <map>
#include <vector>

#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/occurrences.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {

Result<Attributes> Store::Impl::load_attributes(int64_t object, const AttributeTable& table) {
    Attributes attributes;
    Query query = db.statement("SELECT name, resource, value FROM object_attribute WHERE object=?");
    query.bind(object);
    while (query.next())
        if (const AttributeDef* def = table.find(query.text(0)))
            attributes.set(*def, query.text(1), query.text(2));
    if (!query.ok()) return failed("can not read attributes of objects");
    return attributes;
}

Result<void> Store::Impl::load_resources(State& state) {
    Query query = db.statement("SELECT name, type, flags FROM resource");
    while (query.next()) {
        auto added = state.resources.add(query.text(0), query.text(1), query.text(2));
        if (!added)
            return fail(PBSE_SYSTEM, fmt::format("{}: {}", path, sqlite::printable(added.error().message)));
    }
    if (!query.ok()) return failed("can not read resources");
    return {};
}

Result<void> Store::Impl::load_objects(State& state) {
    Query query = db.statement("SELECT id, type, name, state, changed FROM object ORDER BY id");
    while (query.next()) {
        const int64_t id = query.integer(0);
        const auto handle = static_cast<uint64_t>(id);
        const std::string name(query.text(2));
        state.handle_in_use(handle);
        const int64_t type = query.integer(1);
        const AttributeTable* table = type == PBS_OBJ_SERVER  ? &server_table()
                                      : type == PBS_OBJ_QUEUE ? &queue_table()
                                      : type == PBS_OBJ_NODE  ? &node_table()
                                      : type == PBS_OBJ_SCHED ? &sched_table()
                                      : type == PBS_OBJ_RESV  ? &reservation_table()
                                                              : nullptr;
        if (table == nullptr)
            return fail(PBSE_SYSTEM,
                        fmt::format("{}: object {} has an unknown type", path, sqlite::printable(name)));
        auto attributes = load_attributes(id, *table);
        if (!attributes) return tl::unexpected(attributes.error());
        if (type == PBS_OBJ_SERVER) state.server = std::move(*attributes);
        if (type == PBS_OBJ_QUEUE) state.put(Queue{handle, name, std::move(*attributes)});
        if (type == PBS_OBJ_NODE)
            state.put(Node{handle, name, static_cast<uint32_t>(query.integer(3)), query.integer(4),
                           std::move(*attributes)});
        if (type == PBS_OBJ_SCHED) state.put(Sched{handle, name, std::move(*attributes)});
        if (type == PBS_OBJ_RESV) state.put(Reservation{handle, name, std::move(*attributes)});
    }
    if (!query.ok()) return failed("can not read objects");
    // Set the places of reservations last, when all vnodes are loaded.
    std::vector<Reservation> placed;
    for (const auto& [number, reservation] : state.reservations()) placed.push_back(reservation);
    for (Reservation& reservation : placed) {
        reservation.places = places_of(reservation.attributes.text("resv_nodes"), state);
        load_occurrences(reservation, state);
        state.put(std::move(reservation));
    }
    return {};
}

// Fills `job` from its row. Returns false if the job's attributes are damaged.
bool Store::Impl::make_job(const JobRow& row, SharedTexts& texts, Job& job) const {
    using R = JobRow;
    const std::string_view state = row.text[R::state];
    job.sequence = static_cast<uint64_t>(row.number[R::sequence]);
    job.state = state.empty() ? job_state::kQueued : state.front();
    job.substate = static_cast<int>(row.number[R::substate]);
    job.queue_name = texts.of({}, row.text[R::queue]);
    job.queue_rank = row.number[R::queue_rank];
    job.ctime = row.number[R::ctime];
    job.qtime = row.number[R::qtime];
    job.etime = row.number[R::etime];
    job.stime = row.number[R::stime];
    job.mtime = row.number[R::mtime];
    job.obittime = row.number[R::obittime];
    job.exec_vnode = SharedText(row.text[R::exec_vnode]);
    job.exec_host = SharedText(row.text[R::exec_host]);
    job.at_end = static_cast<Job::AtEnd>(row.number[R::at_end]);
    job.deleted = row.number[R::deleted] != 0;
    job.defaulted = texts.of({}, row.text[R::defaulted]);
    const std::string_view attributes = row.text[R::attributes];
    if (!numbers.read(attributes, texts, job.attributes)) return false;
    if (const std::string_view comment = row.text[R::comment]; !comment.empty()) {
        static const AttributeDef& def = *job_table().find("comment");
        job.attributes.put(AttributeValue(def, {}, comment, texts));
        job.mtime = row.number[R::comment_mtime];
    }
    job.attributes.fit(job.spare_attributes());
    return true;
}

namespace {

// Gets jobs in the order of their numbers, and puts them into a state in the order of queueing. The two
// orders are mostly the same. When a job comes that was queued before jobs already in the state, those jobs
// are taken out of the state, held, and put back after it.
class InOrder {
  public:
    explicit InOrder(State& state) : state_(state) {}

    void add(Job job) {
        const auto rank = static_cast<uint64_t>(job.queue_rank);
        take_back(rank);
        held_.emplace(rank, std::move(job));
        if (taken_back_ < kMost) put_held(rank);
    }
    void finish() {
        if (held_.empty()) return;
        taken_back_ = 0;
        take_back(held_.begin()->first, std::numeric_limits<size_t>::max());
        put_held(std::numeric_limits<uint64_t>::max());
    }

  private:
    // When this many jobs have been taken out of the state, all further jobs are held until the last row has
    // come.
    static constexpr size_t kMost = 10'000;

    void put_held(uint64_t up_to) {
        while (!held_.empty() && held_.begin()->first <= up_to) {
            auto next = held_.extract(held_.begin());
            next.mapped().handle = state_.new_handle();
            state_.put_loaded(std::move(next));
        }
    }
    void take_back(uint64_t behind, size_t most = kMost) {
        const auto& jobs = state_.jobs();
        for (; !jobs.empty() && taken_back_ < most; ++taken_back_) {
            const auto rank = static_cast<uint64_t>(jobs.rbegin()->second.queue_rank);
            if (rank <= behind) return;
            Job last = jobs.rbegin()->second;
            state_.erase_job(last.handle);
            // Insert it before held jobs of the same rank, because they came later.
            held_.emplace_hint(held_.lower_bound(rank), rank, std::move(last));
        }
    }

    State& state_;
    std::multimap<uint64_t, Job> held_;  // by their ranks
    size_t taken_back_ = 0;
};

}  // namespace

Result<void> Store::Impl::load_jobs(State& state) {
    JobRows rows(db);
    InOrder in_order(state);
    const auto damaged = [&](std::string_view what, std::string_view id) {
        return fail(PBSE_SYSTEM, fmt::format("{}: the {} of job {} are damaged", path, what, id));
    };
    size_t usual = 0;  // number of attributes to reserve memory for: that of the last job
    bool subjobs = false;
    for (const auto* some = &rows.next(); !some->empty(); some = &rows.next())
        for (const JobRow& row : *some) {
            Job job;
            job.attributes.reserve(usual);
            if (!make_job(row, state.texts(), job)) return damaged("attributes", state.job_id(job.sequence));
            usual = job.attributes.values().size() + job.spare_attributes();
            if (const Queue* queue = state.queue(job.queue_name.text())) job.queue = queue->handle;
            job.id = is_foreign(job.sequence) ? std::string(job.attributes.text("foreign_id"))
                                              : state.job_id(job.sequence);
            if (!restore_array(job, state)) return damaged("array indices", job.id);
            if (job.running()) job.places = places_of(job.exec_vnode.text(), state);
            subjobs = subjobs || job.is_subjob();
            in_order.add(std::move(job));
        }
    if (!rows.ok()) return failed("can not read jobs");
    in_order.finish();
    if (subjobs) count_subjobs(state);
    return {};
}

Result<void> Store::Impl::load_links(State& state) {
    Query query = db.statement("SELECT id, job, kind, other FROM depend");
    while (query.next())
        state.dependencies.add(
            {static_cast<uint64_t>(query.integer(0)), static_cast<uint64_t>(query.integer(1)),
             static_cast<LinkKind>(query.integer(2)), static_cast<uint64_t>(query.integer(3))});
    if (!query.ok()) return failed("can not read dependencies");
    return {};
}

Result<void> Store::load(State& state) {
    {
        Query query = impl_->db.statement("SELECT 1 FROM counter WHERE name='aside_holds'");
        impl_->behind = query.next();
        if (!query.ok()) return impl_->failed("can not read counters");
    }
    if (impl_->behind)
        if (auto done = impl_->begin_writing(); !done) return done;
    for (bool more = impl_->behind; more;) {
        auto done = catch_up(1000);
        if (!done) return tl::unexpected(done.error());
        more = *done;
    }
    if (auto done = impl_->load_resources(state); !done) return done;
    if (auto done = impl_->load_objects(state); !done) return done;
    if (auto done = impl_->load_jobs(state); !done) return done;
    if (auto done = impl_->load_links(state); !done) return done;
    // Choose the occurrences for the scheduler's next decision only when all jobs are loaded, because the
    // choice depends on whether jobs run in the reservation.
    std::vector<Reservation> reservations;
    for (const auto& [number, reservation] : state.reservations()) reservations.push_back(reservation);
    for (Reservation& reservation : reservations) {
        choose_asked(reservation, state);
        state.put(std::move(reservation));
    }
    Query query = impl_->db.statement("SELECT value FROM counter WHERE name='next_sequence'");
    if (query.next()) state.next_sequence = query.integer(0);
    if (!query.ok()) return impl_->failed("can not read the number of the next job");
    return impl_->begin_writing();
}

}  // namespace pbs::host
