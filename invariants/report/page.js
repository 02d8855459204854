"use strict";
// Sorting, filtering, opening and copying. Without a script the page still shows everything; controls stay hidden.
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Sorting: a click on a head sorts by its column; again, the other way round.
const key = (row, column, numeric) => {
  const cell = row.cells[column];
  const value = cell.dataset.sort ?? cell.textContent.trim();
  return numeric ? Number(value) || 0 : value.toLowerCase();
};
const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
for (const button of all("button.sort")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const down = head.getAttribute("aria-sort") === "ascending";
    const numeric = head.dataset.kind === "number", column = head.cellIndex;
    for (const other of head.parentNode.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => [key(row, column, numeric), row]);
    rows.sort((a, b) => (down ? compare(b[0], a[0]) : compare(a[0], b[0])));
    body.append(...rows.map((pair) => pair[1]));
  });
}

// Filtering: an entry (a verdict, or a summary's part) must match; a line must match the text and keep an entry. While
// something is filtered for, groups without a line are hidden and folded ones are open.
const form = document.querySelector(".filters");
const matches = (entry, wanted) =>
  ["judge", "concept", "kind"].every((name) => !wanted[name] || entry.dataset[name] === wanted[name]) &&
  (!wanted.outcome || entry.dataset.outcome === wanted.outcome || entry.dataset.standing === wanted.outcome);
const filterLine = (row, wanted, text) => {
  const entries = row.dataset.outcome ? [row] : all(".entry", row);
  for (const entry of entries) entry.hidden = !matches(entry, wanted);
  for (const part of all(".part", row)) {
    const alike = (entry) => entry.dataset.outcome === part.dataset.outcome && entry.dataset.standing === part.dataset.standing;
    part.hidden = !all(".entry", part.closest("td")).some((entry) => alike(entry) && !entry.hidden);
  }
  const said = row.textContent.toLowerCase().replace(/\s+/g, " ");
  row.hidden = !entries.some((entry) => matches(entry, wanted)) || !text.every((word) => said.includes(word));
};
const filter = () => {
  const wanted = Object.fromEntries(new FormData(form));
  const text = wanted.text.trim().toLowerCase().split(/\s+/);
  for (const row of all("table[data-filtered] > tbody > tr")) filterLine(row, wanted, text);
  const active = Object.values(wanted).some((value) => value.trim());
  for (const group of all("details.group")) {
    group.hidden = !all("tbody > tr", group).some((row) => !row.hidden);
    if (active && !group.open) { group.open = true; group.dataset.opened = ""; }
    if (!active && "opened" in group.dataset) { group.open = false; delete group.dataset.opened; }
  }
  const rows = all("#rows tbody > tr");
  form.querySelector(".found").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
};
form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("reset", () => setTimeout(filter));
form.addEventListener("submit", (event) => event.preventDefault());
filter();

// A link into something closed opens it; printing opens everything.
const open = (target) => { for (let at = target; at; at = at.parentElement) if (at.matches("details")) at.open = true; };
const follow = () => { const at = document.getElementById(location.hash.slice(1)); if (at) { open(at); at.scrollIntoView(); } };
addEventListener("hashchange", follow);
follow();
let closed = [];
addEventListener("beforeprint", () => { closed = all("details:not([open])"); for (const one of closed) one.open = true; });
addEventListener("afterprint", () => { for (const one of closed) one.open = false; });

// Copying; where the clipboard is out of reach the command is selected instead.
for (const code of all(".command > code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  code.after(button);
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(code.textContent); button.textContent = "Copied"; }
    catch { getSelection().selectAllChildren(code); button.textContent = "Selected"; }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
