// Makes elements of values. A value only ever becomes text, never markup.

// Makes an element: h("a", {href: "now", class: "x"}, "text", child, ...). null and undefined are left out.
export function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined).map(
        (child) => child instanceof Node ? child : String(child)));
    return element;
}

// Makes an SVG element likewise.
export function svg(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    element.append(...children);
    return element;
}

// Fills `element` with the result of `build`, unless `key` says that this content is there already. The focus
// stays.
export function update(element, key, build) {
    const text = JSON.stringify(key);
    if (element.dataset.key === text.length + ":" + hash(text)) return;
    element.dataset.key = text.length + ":" + hash(text);
    const focusable = "a[href], button, input, select, textarea, summary, [tabindex]";
    const before = [...element.querySelectorAll(focusable)].indexOf(document.activeElement);
    const open = [...element.querySelectorAll("details")].map((details) => details.open);
    element.replaceChildren(...[build()].flat(Infinity).filter((child) => child !== null));
    element.querySelectorAll("details").forEach((details, index) => { details.open ||= open[index] ?? false; });
    if (before >= 0) element.querySelectorAll(focusable)[before]?.focus({preventScroll: true});
}

function hash(text) {
    let sum = 7;
    for (let at = 0; at < text.length; ++at) sum = (sum * 31 + text.charCodeAt(at)) | 0;
    return sum;
}

// Makes a section with a heading; update() fills it.
export function section(title, id) {
    const body = h("div", {});
    const element = h("section", {"aria-labelledby": `${id}-title`, id},
                      h("h2", {id: `${id}-title`}, title), body);
    return {element, body};
}

// Makes a table. Columns are {title, number, cell(row)}; a cell is a text or an element. The first column is
// each row's heading.
export function table(caption, columns, rows, empty = "None.") {
    if (rows.length === 0) return h("p", {class: "empty"}, empty);
    return h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption}, h("table", {},
        h("caption", {}, caption),
        h("thead", {}, h("tr", {}, columns.map((column) =>
            h("th", {scope: "col", class: column.number ? "number" : null}, column.title)))),
        h("tbody", {}, rows.map((row) => h("tr", {class: row.class}, columns.map((column, index) => {
            const cell = column.cell(row);
            const attributes = {class: [column.number ? "number" : "", column.class ?? ""].join(" ").trim() || null};
            return index === 0 ? h("th", {...attributes, scope: "row"}, cell) : h("td", attributes, cell);
        }))))));
}

// Returns a colour of the style sheet, for canvases.
const colours = new Map();
export function colour(name) {
    if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
    return colours.get(name);
}

// Calls `draw` whenever the colours or the size of `element` change.
export function redraw(element, draw) {
    let asked = false;
    const soon = () => {
        if (asked) return;
        asked = true;
        requestAnimationFrame(() => { asked = false; draw(); });
    };
    new ResizeObserver(soon).observe(element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        colours.clear();
        soon();
    });
    return soon;
}

// Sizes a canvas to so many page pixels, sharp on every screen, and returns its context, in page pixels.
export function paper(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.round(width * ratio);
    const high = Math.round(height * ratio);
    if (canvas.width !== wide || canvas.height !== high) {
        canvas.width = wide;
        canvas.height = high;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
}

// Makes a legend of rows [class, text], ...
export function legend(...rows) {
    return h("span", {class: "legend"}, rows.map(([look, text]) => h("span", {}, h("i", {class: `key ${look}`, "aria-hidden": "true"}), text)));
}

export function plural(count, one, many = `${one}s`) {
    return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
