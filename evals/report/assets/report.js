"use strict";
/* Opens, searches, filters and sorts the cases. Text enters the page through textContent only. */

const pool = JSON.parse(document.getElementById("texts").textContent);
const table = document.getElementById("case-table");
const body = table.tBodies[0];
const rows = Array.from(body.querySelectorAll("tr.case"));
const inOrder = rows.slice(); // lists count rows in the order of the run, whatever they are sorted by
const search = document.getElementById("search");
const archetype = document.getElementById("archetype");
const outcome = document.getElementById("outcome");
const only = document.getElementById("only");
let listed = null; // the rows of the list that was asked for; null for all

function textOf(number) {
  const runs = pool.texts[number];
  const lines = [];
  for (let i = 0; i < runs.length; i += 2) {
    lines.push(...pool.lines.slice(runs[i], runs[i] + runs[i + 1]));
  }
  return lines.join("\n");
}

function scoreRow(name, text) {
  const row = document.createElement("tr");
  const heading = row.appendChild(document.createElement("th"));
  heading.scope = "row";
  heading.textContent = name;
  row.appendChild(document.createElement("td")).textContent = text;
  row.className = /^(skipped|failed):/.exec(text)?.[1] ?? "";
  return row;
}

function eventRow(line) {
  const row = document.createElement("tr");
  const [step, status, why] = line.split("\t");
  for (const text of ["step " + step, status, why]) {
    row.appendChild(document.createElement(row.firstChild ? "td" : "th")).textContent = text;
  }
  row.firstChild.scope = "row";
  return row;
}

/* --- one case, opened below its row ------------------------------------------------------------- */

const opener = (row) => row.querySelector("button.open");
const isOpen = (row) => opener(row).getAttribute("aria-expanded") === "true";

function openCase(row) {
  if (isOpen(row)) return;
  const copy = document.getElementById("case-" + row.dataset.id).content.cloneNode(true);
  for (const place of copy.querySelectorAll("[data-plan]")) {
    place.append(document.getElementById("plan-" + place.dataset.plan).content.cloneNode(true));
  }
  for (const kind of ["change", "cause"]) {
    for (const place of copy.querySelectorAll(`[data-${kind}]`)) {
      place.append(document.getElementById(`${kind}-${place.dataset[kind]}`).content.cloneNode(true));
    }
  }
  for (const place of copy.querySelectorAll("[data-events]")) {
    place.append(...textOf(Number(place.dataset.events)).split("\n").map(eventRow));
  }
  for (const place of copy.querySelectorAll("[data-text]")) {
    place.textContent = textOf(Number(place.dataset.text));
  }
  for (const place of copy.querySelectorAll("[data-scores]")) {
    textOf(Number(place.dataset.scores)).split("\n").forEach((text, i) => place.append(scoreRow(pool.scorers[i], text)));
  }
  const detail = document.createElement("tr");
  const cell = detail.appendChild(document.createElement("td"));
  detail.className = "detail";
  detail.id = "detail-" + row.dataset.id;
  cell.colSpan = row.cells.length;
  cell.append(copy);
  row.after(detail);
  opener(row).setAttribute("aria-expanded", "true");
  opener(row).setAttribute("aria-controls", detail.id);
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

/* `#case=ID` opens a case, `#case=ID/VARIANT` the place where that variant leaves the reference's way. */
function showCase(id, variant = "") {
  const row = rows.find((candidate) => candidate.dataset.id === decoded(id));
  if (!row) return;
  if (row.hidden) reset();
  openCase(row);
  const parts = row.nextElementSibling.querySelectorAll("details.divergence");
  const part = Array.from(parts).find((one) => variant && one.dataset.variant === decoded(variant));
  if (part) part.open = true;
  (part ?? row).scrollIntoView();
  (part ?? opener(row)).focus({ preventScroll: true });
}

function showList(number) {
  const [title, places] = pool.lists[number] ?? [];
  if (!title) return;
  reset();
  listed = new Set(places.map((place) => inOrder[place]));
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

function fits(row) {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  return (!listed || listed.has(row))
    && words.every((word) => row.dataset.search.includes(word))
    && (!archetype.value || row.dataset.archetype === archetype.value)
    && (!outcome.value || row.dataset.outcomes.split(" ").includes(outcome.value));
}

function filter() {
  let shown = 0;
  for (const row of rows) {
    row.hidden = !fits(row);
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
  const text = (row) => row.dataset[key];
  return (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
}

function sort(button) {
  const heading = button.closest("th");
  const descending = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const order = compare(button.dataset.sort);
  rows.sort(descending ? (a, b) => order(b, a) : order);
  for (const row of rows) {
    const detail = isOpen(row) ? row.nextElementSibling : null;
    body.append(row);
    if (detail) body.append(detail);
  }
}

/* --- keyboard and wiring ------------------------------------------------------------------------------ */

function step(from, by) {
  const shown = rows.filter((row) => !row.hidden);
  const next = shown[shown.indexOf(from) + by];
  if (next) opener(next).focus();
}

function onKey(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !typing) {
    event.preventDefault();
    search.focus();
    return;
  }
  const row = event.target.closest("tr.case");
  if (!row) return;
  const moves = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in moves) {
    event.preventDefault();
    step(row, moves[event.key]);
  } else if (event.key === "Escape" && isOpen(row)) {
    toggle(row);
  }
}

function onClick(event) {
  const sorter = event.target.closest("button[data-sort]");
  if (sorter) { sort(sorter); return; }
  const row = event.target.closest("tr.case");
  if (row && !String(getSelection())) toggle(row);
}

table.addEventListener("click", onClick);
document.addEventListener("keydown", onKey);
search.addEventListener("input", filter);
archetype.addEventListener("change", filter);
outcome.addEventListener("change", filter);
for (const id of ["reset", "all"]) {
  document.getElementById(id).addEventListener("click", () => { reset(); remember(""); });
}
addEventListener("hashchange", followHash);
filter();
followHash();
