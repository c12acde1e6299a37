"use strict";
/* Opens, searches, filters and sorts the cases. */

const table = document.getElementById("case-table");
const body = table.tBodies[0];
const rows = Array.from(body.querySelectorAll("tr.case"));
const inOrder = rows.slice(); // lists count rows in the order of the run, whatever they are sorted by
const search = document.getElementById("search");
const archetype = document.getElementById("archetype");
const outcome = document.getElementById("outcome");
const only = document.getElementById("only");
const lists = JSON.parse(document.getElementById("lists").textContent);
let listed = null; // the rows of the list that was asked for; null for all

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

function remember(hash) {
  history.replaceState(null, "", hash || location.pathname + location.search);
}

function toggle(row) {
  if (isOpen(row)) {
    closeCase(row);
    remember("");
  } else {
    openCase(row);
    remember("#case=" + encodeURIComponent(row.dataset.id));
  }
}

function followHash() {
  const [, kind, rest] = /^#(case|list)=(.+)$/.exec(location.hash) ?? [];
  if (kind === "list") showList(Number(rest));
  else if (kind === "case") showCase(...rest.split(/\/(.*)/s));
  else showPlace(location.hash.slice(1));
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return ""; }
}

/* `#case=ID` opens a case, `#case=ID/NAME` a divergence in it: the variant that leaves the reference, or the baseline left. */
async function showCase(id, name = "") {
  const row = rows.find((candidate) => candidate.dataset.id === decoded(id));
  if (!row) return;
  if (row.hidden) reset();
  await openCase(row);
  const parts = row.nextElementSibling.querySelectorAll("details.divergence");
  const part = Array.from(parts).find((one) => name && one.dataset.name === decoded(name));
  if (part) part.open = true;
  (part ?? row).scrollIntoView();
  (part ?? opener(row)).focus({ preventScroll: true });
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

function showList(number) {
  const [title, steps] = lists[number] ?? [];
  if (!title) return;
  reset();
  let place = 0;
  listed = new Set(steps.map((step) => inOrder[place += step]));
  document.getElementById("only-title").textContent = title;
  only.hidden = false;
  filter();
  document.getElementById("cases").scrollIntoView();
  document.getElementById("all").focus({ preventScroll: true });
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

/* What a row is found by: id, title, archetype, category, split, and its routes letter after letter. */
function wordsOf(row) {
  const routes = Array.from(row.querySelectorAll(".way, .ribbon"), (way) => way.textContent.replace(/[^A-Za-z]/g, ""));
  return [row.cells[0].textContent, row.cells[1].textContent, row.dataset.kind, ...routes].join(" ").toLowerCase();
}

const found = new Map();

function fits(row, words) {
  if (words.length && !found.has(row)) found.set(row, wordsOf(row));
  return (!listed || listed.has(row))
    && words.every((word) => found.get(row).includes(word))
    && (!archetype.value || row.cells[1].textContent === archetype.value)
    && (!outcome.value || row.dataset.outcomes.split(" ").includes(outcome.value));
}

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    row.hidden = !fits(row, words);
    if (row.hidden) closeCase(row);
    else shown += 1;
  }
  const all = rows.length;
  document.getElementById("count").textContent = shown === all ? `${all} cases` : `${shown} of ${all} cases`;
  document.getElementById("none").hidden = shown > 0;
}

function reset() {
  search.value = archetype.value = outcome.value = "";
  listed = null;
  only.hidden = true;
  filter();
}

/* --- sorting ---------------------------------------------------------------------------------------- */

function compare(key) {
  if (/^\d+$/.test(key)) {
    const rank = (row) => Number(row.dataset.ranks.split(" ")[Number(key)]);
    return (a, b) => rank(a) - rank(b);
  }
  const column = { id: 0, archetype: 1, question: 2 }[key];
  const text = (row) => (column ? row.cells[column].textContent : row.dataset.id);
  return (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
}

function sort(button) {
  const heading = button.closest("th");
  const descending = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const order = compare(button.dataset.sort);
  rows.sort(descending ? (a, b) => order(b, a) : order);
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
  const shown = rows.filter((row) => !row.hidden);
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
  if (event.key === "/") {
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
  const sorter = event.target.closest("button[data-sort]");
  if (sorter) { sort(sorter); return; }
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
search.addEventListener("input", filter);
archetype.addEventListener("change", filter);
outcome.addEventListener("change", filter);
for (const id of ["reset", "all"]) {
  document.getElementById(id).addEventListener("click", () => { reset(); remember(""); });
}
for (const part of document.querySelectorAll("details[data-part]")) part.addEventListener("toggle", () => fill(part));
watchWidths(document);
addEventListener("hashchange", followHash);
followHash();
