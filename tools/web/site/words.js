// Words for values that the server reports.

const kKinds = {
    policy: (name, detail) => `scheduler ${name}: policy ${detail}`,
    prime_time: () => "prime time",
    dedicated_time: () => "dedicated time",
    time_window: (name, detail) => `time window ${name}${detail ? ` (${detail})` : ""}`,
    non_work_day: (name) => `non-work day${name ? `: ${name}` : ""}`,
    reservation: (name) => `reservation ${name}`,
};

// Text for a span of the calendar.
export function spanText(span) {
    return kKinds[span.kind]?.(span.name, span.detail) ?? span.kind;
}

export function changeText(change) {
    const text = spanText(change);
    if (change.kind === "policy" || change.kind === "non_work_day") return text;
    return `${text} ${change.begins ? "begins" : "ends"}`;
}

const kStates = {B: "array, begun", E: "ending", F: "finished", H: "held", M: "moved", Q: "queued", R: "running",
                 S: "suspended", T: "in transit", U: "suspended by the user", W: "waits for its time", X: "ended subjob"};
export function jobState(letter) {
    return kStates[letter] ?? letter;
}

// Reduces states such as "job-busy,offline" to one kind: down, offline, busy, some, free.
export function vnodeKind(words, used, ncpus) {
    if (/down|unknown|stale|provisioning|wait/.test(words)) return "down";
    if (/offline|maintenance|sleep/.test(words)) return "offline";
    if (/exclusive/.test(words) || (ncpus > 0 && used >= ncpus)) return "busy";
    return used > 0 ? "some" : "free";
}
export const kVnodeKinds = {free: "free", some: "partly in use", busy: "in use", offline: "offline", down: "down"};
