"use strict";
(() => {
  // What a link to a rule leads to is opened, and what is closed is printed open.
  const openTarget = () => {
    const found = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = found; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    if (found) found.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  openTarget();
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((each) => { each.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));

  document.querySelectorAll(".copies").forEach((button) => {
    if (!navigator.clipboard) return;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
      button.textContent = "Copied";
    });
  });

  const source = document.getElementById("ledger-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const [TIME, SITE, RULE, URL_, TAKEN, SPIDER, STATE] = [0, 1, 2, 3, 4, 5, 6];
  const shown = (row, column) => (column === STATE ? data.states[row[column]] : row[column]);
  const gone = (row) => data.gone[`${row[SITE]} ${row[RULE]}`] || "";
  const moment = (time) => time.slice(0, 16).replace("T", " ");
  const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  const byId = (id) => document.getElementById(id);
  const [form, search, size, table, count, pages, place] =
    ["form", "search", "size", "table", "count", "pages", "page"].map((name) => byId(`ledger-${name}`));
  const body = table.tBodies[0];
  const texts = data.rows.map((row) =>
    [moment(row[TIME]), ...[SITE, RULE, URL_, TAKEN, SPIDER, STATE].map((column) => shown(row, column)), gone(row)].join("\n").toLowerCase());
  let order = data.rows.map((_, number) => number);
  let found = order;
  let page = 0;

  const cell = (row, content) => row.insertCell().append(content);
  const address = (text) => {
    if (!/^https?:\/\//.test(text)) return text;
    const link = document.createElement("a");
    Object.assign(link, { href: text, textContent: text, className: "url", rel: "noreferrer noopener" });
    return link;
  };
  const ruled = (id, fate) => {
    if (fate) {
      const said = document.createElement("span");
      Object.assign(said, { textContent: fate, className: "fate" });
      const both = document.createDocumentFragment();
      both.append(id, " ", said);
      return both;
    }
    if (!byId(`rule-${id}`)) return id;
    const link = document.createElement("a");
    Object.assign(link, { href: `#rule-${id}`, textContent: id });
    return link;
  };
  const draw = () => {
    const rows = Number(size.value);
    const last = Math.max(0, Math.ceil(found.length / rows) - 1);
    page = Math.min(Math.max(page, 0), last);
    body.replaceChildren();
    for (const number of found.slice(page * rows, (page + 1) * rows)) {
      const row = data.rows[number];
      const drawn = body.insertRow();
      cell(drawn, moment(row[TIME]));
      cell(drawn, address(row[URL_]));
      cell(drawn, address(row[TAKEN]));
      cell(drawn, ruled(row[RULE], gone(row)));
      [SITE, SPIDER, STATE].forEach((column) => cell(drawn, shown(row, column)));
    }
    place.textContent = `page ${page + 1} of ${last + 1}`;
    for (const button of pages.querySelectorAll("button")) {
      button.disabled = ["first", "previous"].includes(button.dataset.page) ? page === 0 : page === last;
    }
  };
  const look = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = order.filter((number) => words.every((word) => texts[number].includes(word)));
    count.textContent = words.length
      ? `${counted(found.length, "row")} of ${data.rows.length.toLocaleString("en")}`
      : counted(found.length, "row");
    page = 0;
    draw();
  };
  const sort = (column, ascending) => {
    const compared = (one, two) => { const [a, b] = [shown(data.rows[one], column), shown(data.rows[two], column)]; return a < b ? -1 : a > b ? 1 : 0; };
    order = data.rows.map((_, number) => number).sort((one, two) => (ascending ? compared(one, two) : compared(two, one)) || one - two);
    look();
  };

  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(look, 120); });
  form.addEventListener("submit", (event) => { event.preventDefault(); look(); });
  size.addEventListener("change", () => { page = 0; draw(); });
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const head = button.parentElement;
    const ascending = head.getAttribute("aria-sort") !== "ascending";
    table.tHead.querySelectorAll("th").forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    sort(Number(button.dataset.column), ascending);
  });
  pages.addEventListener("click", (event) => {
    const to = event.target.closest("button")?.dataset.page;
    if (!to) return;
    page = { first: 0, previous: page - 1, next: page + 1, last: Infinity }[to];
    draw();
  });
  form.hidden = table.hidden = pages.hidden = false;
  look();
})();
