"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const S = data.strings, names = ["unchanged", "changed", "would change", "skipped", "not run", "failed"];
  const get = id => document.getElementById(id);
  const body = document.querySelector("#table tbody");
  const step = 200;
  let shown = 0, list = [];

  const el = (name, text, cls) => {
    const e = document.createElement(name);
    if (text) e.textContent = text;
    if (cls) e.className = cls;
    return e;
  };
  const time = ms => ms < 1000 ? Math.round(ms) + " ms" : ms < 60000 ? (ms / 1000).toFixed(1) + " s" :
    Math.floor(ms / 60000) + " min " + Math.round(ms % 60000 / 1000) + " s";
  const diff = text => {
    const pre = el("pre");
    for (const line of text.split("\n")) {
      const c = line[0];
      pre.append(el("span", line, c === "+" ? "add" : c === "-" ? "del" : c === "@" ? "at" : ""), "\n");
    }
    return pre;
  };
  const row = r => {
    const [suite, id, fun, sls, status, comment, d, rest, , length] = r;
    const tr = el("tr");
    const [st, host] = data.suites[suite];
    tr.append(el("td", S[st]), el("td", S[host]));
    const td = el("td");
    if (comment || d || rest) {
      const det = el("details");
      det.append(el("summary", S[id]));
      // Filled when it is opened: most never are.
      det.addEventListener("toggle", () => {
        if (!det.open || det.childElementCount > 1) return;
        if (sls) det.append(el("div", "SLS " + S[sls], "fun"));
        if (comment) det.append(el("pre", S[comment]));
        if (d) det.append(diff(S[d]));
        if (rest) det.append(el("pre", S[rest]));
      });
      td.append(det);
    } else {
      td.textContent = S[id];
    }
    tr.append(td, el("td", S[fun]), el("td", names[status], "s" + status), el("td", time(length), "time"));
    return tr;
  };
  const more = () => {
    const part = document.createDocumentFragment();
    for (const end = Math.min(list.length, shown + step); shown < end; shown++) part.append(row(list[shown]));
    body.append(part);
    get("more").hidden = shown >= list.length;
  };
  const filter = () => {
    const q = get("search").value.toLowerCase(), status = get("status").value, stepOf = get("step").value, host = get("host").value;
    // Each text is searched once, however many results have it.
    const hit = q ? S.map(s => s.toLowerCase().includes(q)) : null;
    list = data.rows.filter(r => {
      const [st, h] = data.suites[r[0]];
      return (status === "" || r[4] === +status) && (stepOf === "" || st === +stepOf) && (host === "" || h === +host) &&
        (!hit || hit[st] || hit[h] || hit[r[1]] || hit[r[2]] || hit[r[3]] || hit[r[5]] || hit[r[6]] || hit[r[7]]);
    });
    list.sort((a, b) => (b[4] === 5) - (a[4] === 5));
    body.textContent = "";
    shown = 0;
    more();
    get("count").textContent = list.length + " of " + data.rows.length + " results";
  };
  const options = (id, column) => {
    const select = get(id), all = [...new Set(data.suites.map(s => s[column]))].filter(i => S[i] !== "");
    all.sort((a, b) => S[a] < S[b] ? -1 : 1);
    for (const i of all) {
      const o = el("option", S[i]);
      o.value = i;
      select.append(o);
    }
    select.parentElement.hidden = all.length < 2;
    return all.length;
  };
  if (!options("step", 0)) get("table").className = "nosteps";
  options("host", 1);
  let wait;
  get("search").addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(filter, 120); });
  for (const id of ["status", "step", "host"]) get(id).addEventListener("change", filter);
  get("more").addEventListener("click", more);
  get("filter").addEventListener("submit", e => e.preventDefault());
  filter();
})();
