"use strict";
/* Opens, searches, filters and sorts the cases. */

const table = document.getElementById("case-table");
const body = table.tBodies[0];
const rows = Array.from(body.querySelectorAll("tr.case"));
const inOrder = rows.slice(); // lists count rows in the order of the run, whatever they are sorted by
const search = document.getElementById("search");
const only = document.getElementById("only");
const unknown = document.getElementById("unknown");
const keys = document.getElementById("keys");
const lists = JSON.parse(document.getElementById("lists").textContent);
let listed = ""; // the number of the list that is shown; empty for all cases
let listedRows = null;
const MOST_ROWS = 40; // of all cases before "Show the other cases" is pressed: those that changed come first
let whole = false; // whether it was pressed

/* What the address says after #, beside the open cases: one control of the page each. */
const controls = { q: search };
for (const name of ["slice", "outcome", "metric", "variants"]) {
  const control = document.getElementById(name);
  if (control) controls[name] = control;
}
const { slice, outcome } = controls;
const valueOf = (control) => (control.type === "checkbox" ? (control.checked ? "all" : "") : control.value);

/* --- one case, opened below its row ------------------------------------------------------------- */

const opener = (row) => row.querySelector("button.open");
const isOpen = (row) => opener(row).getAttribute("aria-expanded") === "true";

async function openCase(row) {
  if (isOpen(row)) return;
  const detail = document.createElement("tr");
  const cell = detail.appendChild(document.createElement("td"));
  detail.className = "detail";
  detail.id = "detail-" + row.dataset.id;
  cell.colSpan = row.cells.length;
  detail.setAttribute("role", "row");
  cell.setAttribute("role", "cell");
  cell.setAttribute("aria-busy", "true");
  row.after(detail);
  opener(row).setAttribute("aria-expanded", "true");
  opener(row).setAttribute("aria-controls", detail.id);
  try {
    cell.replaceChildren(partOf(await unpacked(), "case-" + row.dataset.id));
    watchWidths(cell);
  } catch (error) {
    cell.replaceChildren(alarmOf(error));
  }
  cell.removeAttribute("aria-busy");
}

function alarmOf(error) {
  const alarm = document.createElement("p");
  alarm.className = "alarm";
  alarm.textContent = error.message;
  return alarm;
}

function closeCase(row) {
  if (!isOpen(row)) return;
  row.nextElementSibling.remove();
  opener(row).setAttribute("aria-expanded", "false");
  opener(row).removeAttribute("aria-controls");
}

/* --- the address: filters, order and open cases, so that Back and a copied link lead to the same view --------------- */

function addressNow() {
  const parts = Object.entries(controls).map(([name, control]) => [name, valueOf(control)]);
  const sorted = table.tHead.querySelector("[aria-sort=ascending], [aria-sort=descending]");
  const order = sorted ? (sorted.ariaSort === "descending" ? "-" : "") + sorted.querySelector("button").dataset.sort : "";
  const open = rows.filter(isOpen).map((row) => ["case", row.dataset.id]);
  const told = [["list", listed], ...parts, ["sort", order], ["show", whole ? "all" : ""], ...open].filter(([, value]) => value);
  return told.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

/* `push` makes a step that Back returns from. */
function remember(push = true) {
  const hash = addressNow();
  const place = hash ? "#" + hash : location.pathname + location.search;
  if (hash === location.hash.slice(1)) return;
  history[push ? "pushState" : "replaceState"](null, "", place);
}

function toggle(row) {
  if (isOpen(row)) closeCase(row);
  else openCase(row);
  remember();
}

function followHash() {
  const hash = location.hash.slice(1);
  unknown.hidden = true;
  if (hash && !/^[a-z]+=/.test(hash)) { showPlace(hash); return; }
  const told = hash.split("&").filter(Boolean).map((part) => part.split(/=(.*)/s).slice(0, 2));
  const value = (name) => decoded(told.find(([key]) => key === name)?.[1] ?? "");
  for (const [name, control] of Object.entries(controls)) {
    if (control.type === "checkbox") control.checked = value(name) === "all";
    else control.value = value(name);
    if (control.selectedIndex === -1) control.selectedIndex = 0;
  }
  setList(value("list"));
  sortBy(value("sort"));
  whole = value("show") === "all";
  showVariants();
  filter();
  const cases = told.filter(([key]) => key === "case").map(([, rest]) => rest.split(/\/(.*)/s));
  const ids = new Set(cases.map(([id]) => decoded(id)));
  for (const row of rows) if (!ids.has(row.dataset.id)) closeCase(row);
  cases.forEach(([id, name], i) => showCase(id, name, i === cases.length - 1));
  if (!cases.length && hash) document.getElementById("cases").scrollIntoView();
  if (listed) document.getElementById("all").focus({ preventScroll: true });
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return ""; }
}

/* `#case=ID` opens a case, `#case=ID/NAME` a divergence in it: the variant that leaves the reference, or the baseline left. */
async function showCase(id, name = "", last = true) {
  const row = rows.find((candidate) => candidate.dataset.id === decoded(id));
  if (!row) { tellUnknown(decoded(id) || id); return; }
  row.hidden = false;
  row.classList.remove("later");
  await openCase(row);
  if (!last || !isOpen(row)) return;
  const parts = row.nextElementSibling.querySelectorAll("details.divergence");
  const part = Array.from(parts).find((one) => name && one.dataset.name === decoded(name));
  if (part) part.open = true;
  (part ?? row).scrollIntoView();
  (part ?? opener(row)).focus({ preventScroll: true });
}

function tellUnknown(id) {
  unknown.textContent = `No case “${id}” in this run.`;
  unknown.hidden = false;
  unknown.scrollIntoView({ block: "center" });
}

/* Tables that are wider than their place say that they scroll, in parts that open later as well. */
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) target.classList.toggle("wide", target.scrollWidth > target.clientWidth + 1);
});

function watchWidths(part) {
  for (const place of part.querySelectorAll(".scroll")) widths.observe(place);
}

/* A part of the page that is unpacked when it is first opened. */
async function fill(part) {
  const name = part.dataset.part;
  if (!part.open || !name) return;
  delete part.dataset.part;
  try {
    part.append(partOf(await unpacked(), name));
    watchWidths(part);
  } catch (error) {
    part.append(alarmOf(error));
  }
}

/* The cases behind a number of the page: their title, and steps from one row to the next. */
function setList(number) {
  const [title, steps] = lists[Number(number || -1)] ?? [];
  listed = title ? number : "";
  let place = 0;
  listedRows = title ? new Set(steps.map((step) => inOrder[place += step])) : null;
  document.getElementById("only-title").textContent = title ?? "";
  only.hidden = !title;
}

/* A line of a diff may stand in a folded part of the page. */
function showPlace(name) {
  const place = name && document.getElementById(name);
  if (!place) return;
  for (let part = place.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  place.scrollIntoView();
  place.focus({ preventScroll: true });
}

/* --- search and filters --------------------------------------------------------------------------- */

/* What a row is found by at once: id, title, slice, kind, split, and its routes letter after letter. */
function wordsOf(row) {
  const routes = Array.from(row.querySelectorAll(".way, .ribbon"), (way) => way.textContent.replace(/[^A-Za-z]/g, ""));
  return [row.cells[0].textContent, row.cells[1].textContent, row.dataset.kind, ...routes].join(" ").toLowerCase();
}

const found = new Map();
let texts = null; // what cases say inside, once it is unpacked: (id, word) -> whether it is there

function wanted() {
  const outcomes = outcome.value && controls.metric?.value && /^(worse|better)$/.test(outcome.value)
    ? `${outcome.value}:${controls.metric.value}` : outcome.value;
  return { words: search.value.toLowerCase().split(/\s+/).filter(Boolean), outcomes };
}

function says(row, word) {
  if (!found.has(row)) found.set(row, wordsOf(row));
  return found.get(row).includes(word) || Boolean(texts?.(row.dataset.id, word));
}

function fits(row, { words, outcomes }) {
  return (!listedRows || listedRows.has(row))
    && (!slice.value || row.cells[1].textContent === slice.value)
    && (!outcomes || row.dataset.outcomes.split(" ").includes(outcomes))
    && words.every((word) => says(row, word));
}

function filter() {
  const asked = wanted();
  const most = whole || listed || slice.value || asked.outcomes || asked.words.length ? Infinity : MOST_ROWS;
  let shown = 0;
  for (const row of rows) {
    row.hidden = !fits(row, asked);
    if (row.hidden) closeCase(row);
    else shown += 1;
    row.classList.toggle("later", shown > most && !isOpen(row));
  }
  const rest = document.getElementById("rest");
  rest.hidden = shown <= most;
  rest.textContent = `Show the other ${shown - most} cases`;
  const all = rows.length;
  document.getElementById("count").textContent = shown === all ? `${all} cases` : `${shown} of ${all} cases`;
  document.getElementById("none").hidden = shown > 0;
}

/* Prompts, answers and findings are packed: the first search unpacks them, and counts them in when they are there. */
async function searched() {
  const began = !search.value || !/(^|[#&])q=/.test(location.hash);
  filter();
  remember(began);
  if (texts || !search.value) return;
  try { texts = textSearch(await unpacked()); } catch { texts = () => false; }
  filter();
}

function showVariants() {
  const two = Number(table.dataset.compared) > 1;
  table.classList.toggle("two", two && !controls.variants?.checked);
  table.classList.toggle("one", !two && !controls.variants?.checked);
}

function reset() {
  for (const control of Object.values(controls)) if (control.type !== "checkbox") control.value = "";
  setList("");
  filter();
  remember();
}

/* --- sorting ---------------------------------------------------------------------------------------- */

function compare(key) {
  if (/^\d+$/.test(key)) {
    const rank = (row) => Number(row.dataset.ranks.split(" ")[Number(key)]);
    return (a, b) => rank(a) - rank(b);
  }
  const column = { id: 0, slice: 1 }[key];
  const text = (row) => (column ? row.cells[column].textContent : row.dataset.id);
  return (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
}

/* By a column, as `id`, or downwards as `-id`; in the order of the page for none. */
function sortBy(order) {
  const key = order.replace(/^-/, "");
  for (const heading of table.tHead.rows[0].cells) {
    const mine = key && heading.querySelector("button").dataset.sort === key;
    heading.setAttribute("aria-sort", mine ? (order.startsWith("-") ? "descending" : "ascending") : "none");
  }
  const places = new Map(inOrder.map((row, i) => [row, i]));
  const by = key ? compare(key) : (a, b) => places.get(a) - places.get(b);
  rows.sort(order.startsWith("-") ? (a, b) => by(b, a) : by);
  body.append(...rows.flatMap((row) => (isOpen(row) ? [row, row.nextElementSibling] : [row])));
}

/* --- keyboard and wiring ------------------------------------------------------------------------------ */

const MOVES = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 };

/* The row a key is meant for: that of the focus, be it in the row or in the case opened below it. */
function rowOf(place) {
  const row = place.closest("tr.case, tr.detail");
  return row?.matches("tr.detail") ? row.previousElementSibling : row;
}

function step(from, by) {
  const shown = rows.filter((row) => !row.hidden && !row.classList.contains("later"));
  const next = from ? shown[shown.indexOf(from) + by] : shown[0];
  if (next) opener(next).focus();
}

function onKey(event) {
  if (event.target === search && event.key === "Enter") {
    event.preventDefault(); /* else the same key opens what it led to */
    step(null, 1);
  }
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  const row = rowOf(event.target);
  const arrow = event.key.startsWith("Arrow");
  if (event.key === "?" && !keys.open) keys.showModal();
  else if (keys.open) return;
  else if (event.key === "/") {
    event.preventDefault();
    search.focus();
  } else if (event.key in MOVES && (!arrow || event.target.closest("tr.case"))) {
    event.preventDefault();
    step(row, MOVES[event.key]);
  } else if (event.key === "Escape" && row && isOpen(row)) {
    toggle(row);
    opener(row).focus();
  }
}

function onClick(event) {
  const heading = event.target.closest("thead th");
  if (heading) {
    sortBy((heading.ariaSort === "ascending" ? "-" : "") + heading.querySelector("button").dataset.sort);
    filter();
    remember();
    return;
  }
  const [, inside] = /^#case=(.+)$/.exec(event.target.closest("tr.detail a")?.getAttribute("href") ?? "") ?? [];
  if (inside) { // a link of an open case leads on within it: filters and other cases stay
    event.preventDefault();
    const [id, name] = inside.split(/\/(.*)/s);
    showCase(id, name);
    return;
  }
  const row = event.target.closest("tr.case");
  if (row && !String(getSelection())) toggle(row);
}

/* Rows are laid out as grids; some browsers take what is no table on the screen for no table at all. */
for (const [place, role] of [["table", "table"], ["thead, tbody", "rowgroup"], ["tr", "row"], ["thead th", "columnheader"], ["tbody th", "rowheader"], ["td", "cell"]]) {
  for (const element of place === "table" ? [table] : table.querySelectorAll(place)) element.setAttribute("role", role);
}
for (const row of rows) {
  row.dataset.id = opener(row).textContent;
  row.id = "row-" + row.dataset.id;
  opener(row).setAttribute("aria-expanded", "false");
}
table.addEventListener("click", onClick);
document.addEventListener("keydown", onKey);
search.addEventListener("input", searched);
for (const control of Object.values(controls)) {
  if (control !== search) control.addEventListener("change", () => { showVariants(); filter(); remember(); });
}
for (const id of ["reset", "all"]) document.getElementById(id).addEventListener("click", reset);
document.getElementById("rest").addEventListener("click", () => { whole = true; filter(); remember(); });
document.getElementById("help").addEventListener("click", () => keys.showModal());
for (const part of document.querySelectorAll("details[data-part]")) part.addEventListener("toggle", () => fill(part));
watchWidths(document);
addEventListener("hashchange", followHash);
followHash();
