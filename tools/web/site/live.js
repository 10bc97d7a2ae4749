// Keeps a page up to date: the server sends events while somebody looks.
import {Clock} from "./time.js";

const pulse = document.getElementById("pulse");
const problem = document.getElementById("problem");

function say(state, text) {
    pulse.dataset.state = state;
    if (pulse.textContent !== text) pulse.textContent = text;
}

export function complain(text) {
    problem.hidden = !text;
    if (problem.textContent !== (text ?? "")) problem.textContent = text ?? "";
}

// Returns the JSON of an address of this program. Throws an Error with the text for people.
export async function ask(name, parameters = {}) {
    const response = await fetch(address(name, "json", parameters));
    const json = await response.json().catch(() => ({error: `status ${response.status}`}));
    if (!response.ok) throw new Error(json.error ?? `status ${response.status}`);
    return json;
}

function address(name, form, parameters) {
    const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "" && value != null));
    return `${name}.${form}${query.size ? `?${query}` : ""}`;
}

// Calls show(json, clock) with every new answer. `parameters` are those of the address. Returns a function
// that stops it.
export function live(name, parameters, show) {
    const asJson = document.getElementById("as-json");
    asJson.href = address(name, "json", parameters);
    let source = null;
    let again = 0;
    let zone = "UTC";
    let clock = new Clock(zone);
    let over = false;

    const tell = (time) => say("live", `Live, ${clock.hms(time)} ${zone.replace("Etc/", "")}`);
    async function news() {
        try {
            const json = await ask(name, parameters);
            if (over) return;
            if (json.time_zone && json.time_zone !== zone) {
                zone = json.time_zone;
                clock = new Clock(zone);
            }
            complain(null);
            const server = json.server?.name ?? json.server_name;
            if (server) document.getElementById("site").textContent = server;
            if (json.time) tell(json.time);
            show(json, clock);
        } catch (error) {
            if (!over) complain(error.message);
        }
    }
    function close() {
        clearTimeout(again);
        source?.close();
        source = null;
    }
    function open() {
        close();
        source = new EventSource(address(name, "events", parameters));
        source.addEventListener("news", (event) => {
            tell(JSON.parse(event.data).time);
            news();
        });
        source.addEventListener("same", (event) => tell(JSON.parse(event.data).time));
        source.onerror = () => {
            say("lost", "Not connected");
            if (source?.readyState !== EventSource.CLOSED) return;
            // Too many clients watch: look once, and try again later.
            news();
            again = setTimeout(open, 30000);
        };
    }
    // Stop watching while the page is in the background.
    const seen = () => {
        if (document.hidden) {
            close();
            say("waiting", "Paused");
        } else if (!source) {
            open();
        }
    };
    document.addEventListener("visibilitychange", seen);
    seen();
    return () => {
        over = true;
        document.removeEventListener("visibilitychange", seen);
        close();
    };
}
