// The page Now: schedulers, the next changes, jobs by queue, and vnodes.
import {h, plural, section, table, update} from "./dom.js";
import {live} from "./live.js";
import {duration} from "./time.js";
import {VnodeMap} from "./vnode_map.js";
import {changeText} from "./words.js";

const kNotes = {configuration_error: "Error", migration_error: "Migration", unsupported_settings: "Without effect",
                comment: "Comment"};
const kColumns = ["Running", "Queued", "Held", "Waiting"];

const scheds = section("Policy in force", "policy");
const changes = section("Next changes", "changes");
const queues = section("Jobs", "jobs");
const vnodes = section("Vnodes", "vnodes");
document.getElementById("page").append(
    h("div", {class: "columns"}, scheds.element, changes.element), queues.element, vnodes.element);
const map = new VnodeMap(vnodes.body);

function phase(sched) {
    if (sched.dedicated_time) return "dedicated time";
    return sched.prime_time ? "prime time" : "non-prime time";
}

function schedCard(sched) {
    return h("div", {class: "sched"},
        h("p", {class: "lead"}, h("strong", {}, sched.policy || "no policy"), " ",
            h("span", {class: "tag"}, phase(sched)),
            sched.scheduling ? null : [" ", h("span", {class: "tag warn"}, "scheduling is off")]),
        h("dl", {},
            h("dt", {}, "Scheduler"), h("dd", {}, sched.name, sched.state ? ` (${sched.state})` : ""),
            sched.policies ? [h("dt", {}, "Policies"), h("dd", {}, sched.policies)] : null,
            sched.next_policy_change ? [h("dt", {}, "Until"), h("dd", {}, sched.next_policy_change)] : null,
            sched.notes.map((note) => [h("dt", {class: note.about === "configuration_error" ? "warn" : null},
                                         kNotes[note.about]), h("dd", {class: "note"}, note.text)])));
}

// Sums up the jobs in states that have no column.
function others(states) {
    return Object.entries(states).reduce((sum, [name, count]) => sum + (kColumns.includes(name) ? 0 : count), 0);
}
function queueRows(json) {
    const rows = json.queues.map((queue) => ({...queue, class: queue.enabled && queue.started ? null : "off"}));
    return [...rows, {name: "All", states: json.server.states, total_jobs: json.server.total_jobs, class: "total"}];
}
function queueState(queue) {
    if (queue.class === "total") return "";
    const words = [queue.enabled ? "" : "takes no jobs", queue.started ? "" : "starts no jobs"].filter(Boolean);
    return words.length ? h("span", {class: "warn"}, words.join(", ")) : "open";
}
function bar(states) {
    const parts = kColumns.map((name) => [name, states[name] ?? 0]).filter(([, count]) => count > 0);
    const all = parts.reduce((sum, [, count]) => sum + count, 0);
    const strip = h("span", {class: "bar", "aria-hidden": "true"});
    for (const [name, count] of parts) {
        const part = h("i", {class: name.toLowerCase()});
        part.style.flexGrow = count / all;
        strip.append(part);
    }
    return strip;
}

function show(json, clock) {
    update(scheds.body, json.scheds, () => json.scheds.map(schedCard));
    update(changes.body, [json.next_changes, json.calendar_error, Math.floor(json.time / 60)], () => [
        json.calendar_error ? h("p", {class: "warn"}, json.calendar_error) : null,
        table("What begins and ends within a week", [
            {title: "When", cell: (change) => clock.near(change.at, json.time)},
            {title: "In", number: true, cell: (change) => duration(change.at - json.time)},
            {title: "What", cell: changeText},
        ], json.next_changes, "Nothing begins or ends within a week."),
    ]);
    update(queues.body, [json.queues, json.server], () => [
        table("Jobs by queue", [
            {title: "Queue", cell: (queue) => queue.name},
            ...kColumns.map((name) => (
                {title: name, number: true, cell: (queue) => (queue.states[name] ?? 0).toLocaleString("en")})),
            {title: "Other", number: true, cell: (queue) => others(queue.states).toLocaleString("en")},
            {title: "", class: "wide", cell: (queue) => queue.class === "total" ? "" : bar(queue.states)},
            {title: "State", cell: queueState},
            {title: "Time windows", cell: (queue) => queue.time_window ?? ""},
        ], queueRows(json)),
        h("p", {class: "hint"}, json.server.jobs_of_others ? h("a", {href: "why"}, "Why does a job wait?") :
            "Jobs of others aren't shown here: query_other_jobs is False."),
    ]);
    const count = json.vnodes.names.length;
    document.getElementById("vnodes-title").textContent = count ? plural(count, "vnode") : "Vnodes";
    map.show(json.vnodes);
}

live("now", {}, show);
