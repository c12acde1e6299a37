"use strict";
/* What opens on demand: inflated when the first of it is asked for, then put together from its pieces. See html_page.py. */

const unpacked = (() => {
  let content = null;
  return () => (content ??= inflate(document.getElementById("packed").textContent));
})();

async function inflate(letters) {
  if (!("DecompressionStream" in globalThis)) {
    throw new Error("Details need a browser that can inflate them: Chromium 80, Firefox 113, Safari 16.4 or newer.");
  }
  const inflating = new Blob([bytesOf(letters)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const content = await new Response(inflating).json();
  content.places = new Map(content.names.map((name, i) => [name, i]));
  return content;
}

/* Base 85 as Python writes it, with , . : for < > &: five letters are four bytes, and a last few one byte less than letters. */
function bytesOf(letters) {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%:()*+-;,=.?@^_`{|}~";
  const values = new Uint8Array(128);
  for (let i = 0; i < alphabet.length; i += 1) values[alphabet.charCodeAt(i)] = i;
  const padded = letters + "~".repeat((5 - (letters.length % 5)) % 5);
  const bytes = new DataView(new ArrayBuffer((padded.length / 5) * 4));
  for (let i = 0; i < padded.length; i += 5) {
    let word = 0;
    for (let k = i; k < i + 5; k += 1) word = word * 85 + values[padded.charCodeAt(k)];
    bytes.setUint32((i / 5) * 4, word);
  }
  return new Uint8Array(bytes.buffer, 0, bytes.byteLength - (padded.length - letters.length));
}

/* A part of the page in markup, and the texts it shows by number. */
function read(content, name) {
  const [known, paragraphs, texts, numbers, codes] = content.columns.map((column) => column[content.places.get(name)]);
  const places = numbers.values();
  const piece = (code) => content.pieces[code > 0 ? code - 1 : known - code - 1];
  const stack = [];
  for (const code of codes) {
    const [first, ...others] = code === 0 ? [String(places.next().value)] : piece(code).split("\u0001");
    const fill = stack.splice(stack.length - others.length);
    stack.push(first + others.map((other, i) => fill[i] + other).join(""));
  }
  const told = paragraphs.map((lines) => lines.map(piece).join("\n"));
  return {
    texts: texts.map((each) => each.map((i) => told[i]).join("\n\n")),
    markup: stack.join(""),
  };
}

/* Its nodes. All text in the markup was escaped when it was written; a document that is parsed runs and loads nothing. */
function partOf(content, name) {
  const { markup, texts } = read(content, name);
  const part = document.createDocumentFragment();
  part.append(...new DOMParser().parseFromString(markup, "text/html").body.childNodes);
  const places = (kind) => Array.from(part.querySelectorAll(`[data-${kind}]`), (place) => [place, place.dataset[kind]]);
  for (const [place, number] of places("text")) place.textContent = texts[number];
  for (const [place, number] of places("events")) place.append(...texts[number].split("\n").map(eventRow));
  for (const [place, number] of places("scores")) {
    place.append(...texts[number].split("\n").map((text, i) => scoreRow(content.scorers[i], text)));
  }
  for (const kind of ["plan", "change", "cause", "rules"]) {
    for (const [place, number] of places(kind)) place.append(partOf(content, `${kind}-${number}`));
  }
  for (const [place, number] of places("cells")) fillSheet(place, texts[number].split("\n").map((line) => line.split("\t")));
  colour(part);
  return part;
}

/* Whether a case says a word in what it was shown, answered or found: each text is looked at once for all its cases. */
function textSearch(content) {
  const plain = content.pieces.map((piece) => piece.toLowerCase());
  const used = new Map();
  content.names.forEach((name, i) => {
    if (!name.startsWith("case-")) return;
    const [known, paragraphs, , , codes] = content.columns.map((column) => column[i]);
    const place = (code) => (code > 0 ? code - 1 : known - code - 1);
    const values = codes.filter(Boolean).map(place).filter((at) => !/[<\u0001]/.test(plain[at])); // the others are markup
    used.set(name.slice(5), new Set([...paragraphs.flat().map(place), ...values]));
  });
  const words = new Map();
  return (id, word) => {
    if (!words.has(word)) words.set(word, plain.map((text) => text.includes(word)));
    const says = words.get(word);
    for (const piece of used.get(id) ?? []) if (says[piece]) return true;
    return false;
  };
}

function tableRow(heading, ...texts) {
  const row = document.createElement("tr");
  const cell = row.appendChild(document.createElement("th"));
  cell.scope = "row";
  cell.textContent = heading;
  for (const text of texts) row.appendChild(document.createElement("td")).textContent = text;
  return row;
}

function scoreRow(name, text) {
  const row = tableRow(name, text);
  row.className = /^(skipped|failed):/.exec(text)?.[1] ?? "";
  return row;
}

/* A sheet of rules has a row per rule; each trial brings a cell for every row. */
function fillSheet(place, trials) {
  place.querySelectorAll("tbody tr").forEach((row, i) => {
    for (const cells of trials) {
      const cell = row.appendChild(document.createElement("td"));
      cell.textContent = cells[i];
      cell.className = cells[i].startsWith("✗") ? "failed" : cells[i] === "✓" ? "" : "skipped";
    }
  });
}

function eventRow(line) {
  const [step, status, why] = line.split("\t");
  return tableRow("step " + step, status, why);
}
