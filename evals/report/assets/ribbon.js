"use strict";
/* Routes of the table, painted when they come near the screen: a thousand rows as text are light, as coloured stops not. */

const stops = Array.from(document.querySelectorAll(".legend [data-node]"));
const nodes = new Map(stops.map((stop) => [stop.textContent, stop.dataset.node]));
const hues = new Map(stops.map((stop) => [stop.dataset.node, stop.classList[1]]));

/* The colours of the nodes that a part names: in its routes, decisions and steps. */
function colour(part) {
  for (const place of part.querySelectorAll("[data-node]")) place.classList.add(hues.get(place.dataset.node) ?? "hue-none");
}

function paint(way) {
  const spoken = [];
  const painted = [];
  for (const [, beside, letter, marks, early] of way.textContent.matchAll(/(\+?)([A-Z][a-z]?\d*)([!^]*)|(⊣)/g)) {
    const stop = document.createElement("span");
    stop.textContent = early ?? letter;
    if (early) {
      stop.className = "gone";
      spoken.push("stops where the nearest exemplar goes on");
    } else {
      const [failed, leaves] = [marks.includes("!"), marks.includes("^")];
      stop.className = ["stop", hues.get(nodes.get(letter)), beside && "beside", failed && "broken", leaves && "diverges"].filter(Boolean).join(" ");
      stop.title = nodes.get(letter) + (beside && " beside it") + (failed ? ", failed" : "") + (leaves ? ", leaves the exemplar here" : "");
      spoken.push(stop.title);
    }
    painted.push(stop);
  }
  if (!painted.length) return;
  way.className = "ribbon";
  way.setAttribute("role", "img");
  way.setAttribute("aria-label", spoken.join(", "));
  way.replaceChildren(...painted);
}

const paintAll = (place) => place.querySelectorAll(".way").forEach(paint);

const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      paintAll(entry.target);
    }
  },
  { rootMargin: "600px" },
);
for (const row of document.querySelectorAll("tr.case")) near.observe(row);
addEventListener("beforeprint", () => paintAll(document));
