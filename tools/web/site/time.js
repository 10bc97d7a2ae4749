// Shows instants, in seconds since 1970, as the clock of the server's zone.

function formatter(zone, options) {
    try {
        return new Intl.DateTimeFormat("en-GB", {timeZone: zone, hourCycle: "h23", ...options});
    } catch {
        // The browser doesn't know the zone.
        return new Intl.DateTimeFormat("en-GB", {timeZone: "UTC", hourCycle: "h23", ...options});
    }
}

export class Clock {
    constructor(zone) {
        this.zone = zone;
        this.full = formatter(zone, {weekday: "short", day: "2-digit", month: "short", year: "numeric", hour: "2-digit",
                                     minute: "2-digit"});
        this.seconds = formatter(zone, {hour: "2-digit", minute: "2-digit", second: "2-digit"});
        this.minutes = formatter(zone, {hour: "2-digit", minute: "2-digit"});
        this.days = formatter(zone, {weekday: "short", day: "2-digit", month: "short"});
        this.parts = formatter(zone, {year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit",
                                      minute: "2-digit", second: "2-digit"});
    }
    // Formats an instant: "Mon, 23 Nov 2026, 10:00".
    text(at) { return this.full.format(at * 1000); }
    hms(at) { return this.seconds.format(at * 1000); }
    hm(at) { return this.minutes.format(at * 1000); }
    day(at) { return this.days.format(at * 1000); }
    // Splits an instant into numbers: {year, month, day, hour, minute, second}.
    fields(at) {
        return Object.fromEntries(this.parts.formatToParts(at * 1000).filter((part) => part.type !== "literal").map(
            (part) => [part.type, Number(part.value)]));
    }
    // Formats an instant relative to today: "today 17:00", "tomorrow 08:00", "Wed, 25 Nov, 17:00".
    near(at, now) {
        const day = this.day(at);
        if (day === this.day(now)) return `today ${this.hm(at)}`;
        if (day === this.day(now + 86400)) return `tomorrow ${this.hm(at)}`;
        return `${day}, ${this.hm(at)}`;
    }
    // Returns the last midnight at or before `at`.
    midnight(at) {
        const {hour, minute, second} = this.fields(at);
        const guess = at - hour * 3600 - minute * 60 - second;
        // Correct the guess: the clock may have been set in between.
        const shown = this.fields(guess);
        return shown.hour === 0 ? guess : shown.hour < 12 ? guess - shown.hour * 3600 : guess + (24 - shown.hour) * 3600;
    }
}

// Formats a duration: "3 d 4 h", "2 h 05 min", "45 s".
export function duration(seconds) {
    const s = Math.max(0, Math.round(seconds));
    if (s >= 86400) return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
    if (s >= 3600) return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} min`;
    if (s >= 60) return `${Math.floor(s / 60)} min`;
    return `${s} s`;
}
