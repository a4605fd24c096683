// The pages of the documentation work without this script; it adds the search and
// the buttons that copy. It is not a module: browsers refuse these in files.
"use strict";
(() => {
  const root = document.body.dataset.root;
  const form = document.querySelector("form[role=search]");
  const field = form.querySelector("input");
  const found = document.getElementById("found");
  let index; // a promise of what searches

  // On a phone the table of contents would fill the first screen.
  const outline = document.querySelector(".outline");
  if (outline && matchMedia("(max-width: 70rem)").matches) outline.open = false;

  for (const box of document.querySelectorAll(".code")) {
    const code = box.querySelector("code");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const done = await copy(code.classList.contains("language-console") ? commands(code.textContent) : code.textContent);
      button.textContent = done ? "Copied" : "Not allowed";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    box.append(button);
  }

  // commands leaves out the prompts and what the commands print.
  function commands(text) {
    const out = [];
    let here = false; // lines of a here-document follow
    for (const line of text.split("\n")) {
      if (line.startsWith("$ ")) {
        out.push(line.slice(2));
        here = line.includes("<<'EOF'");
      } else if (here && line.startsWith(">")) {
        out.push(line.replace(/^> ?/, ""));
        here = line !== "> EOF";
      }
    }
    return (out.length ? out.join("\n") : text.trimEnd()) + "\n";
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  function load() {
    index ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = root + "index.js";
      script.addEventListener("load", () => resolve(searcher(brineIndex)));
      script.addEventListener("error", reject);
      document.head.append(script);
    });
    return index;
  }

  // searcher returns what finds sections: internal/view/handbook/search.go does the same.
  function searcher(data) {
    const common = new Set(data.common);
    const words = data.words.trimEnd().split("\n").map((line) => {
      const [word, ...steps] = line.split(" ");
      let n = 0;
      return [word, steps.map((step) => (n += parseInt(step, 36)))];
    });
    const split = (text) => text.toLowerCase().split(/[^_\p{L}\p{N}]+/u).filter((w) => w.length > 1 && w.length <= 40 && !common.has(w));
    const titles = data.sections.map((s) => new Set(split(s[2])));
    const variants = (word) => (word.endsWith("s") && word.length > 3 ? [word, word.slice(0, -1)] : [word]);
    // answered returns the sections that people mean by words of other programs.
    const answered = (query) => {
      const have = new Set(query.flatMap(variants));
      return [...new Set(data.asked.filter(([all]) => all.every((w) => have.has(w) || have.has(w.replace(/s$/, "")))).map(([, n]) => n))];
    };
    // around returns the part of a section that has the first of the words.
    const around = (query, section) => {
      const forms = query.flatMap(variants).map((w) => w.replace(/[^\p{L}\p{N}_]/gu, ""));
      const at = forms.length ? new RegExp(`(?<![_\\p{L}\\p{N}])(${forms.join("|")})`, "iu").exec(section[4]) : null;
      if (!at) return section[3];
      let text = section[4];
      let first = "";
      if (at.index > 50) {
        const blank = text.indexOf(" ", at.index - 50);
        text = text.slice(blank >= 0 && blank < at.index ? blank + 1 : at.index);
        first = "… ";
      }
      return first + (text.length > 140 ? text.slice(0, Math.max(text.lastIndexOf(" ", 139), 0)) + " …" : text);
    };
    const pageTitles = data.pages.map((p) => new Set(split(p[1])));
    return (query) => {
      const scores = new Map();
      const counts = new Map();
      for (const word of new Set(split(query))) {
        const best = new Map();
        const forms = variants(word);
        for (const [w, sections] of words) {
          let worth = forms.includes(w) ? 3 : forms.some((v) => w.startsWith(v)) ? 1 : 0;
          if (!worth) continue;
          worth *= Math.log(1 + data.sections.length / sections.length);
          for (const n of sections) {
            const page = data.sections[n][0];
            let v = worth * (titles[n].has(w) ? 4 : pageTitles[page].has(w) ? 2 : 1);
            if (data.pages[page][0].startsWith("reference/")) v *= 0.8;
            if (v > (best.get(n) ?? 0)) best.set(n, v);
          }
        }
        for (const [n, v] of best) {
          scores.set(n, (scores.get(n) ?? 0) + v);
          counts.set(n, (counts.get(n) ?? 0) + 1);
        }
      }
      const most = Math.max(0, ...counts.values());
      const wanted = split(query);
      const answers = answered(wanted);
      const rest = [...scores.keys()].filter((n) => counts.get(n) === most && !answers.includes(n))
        .sort((a, b) => Math.abs(scores.get(b) - scores.get(a)) > 1e-6 ? scores.get(b) - scores.get(a) : a - b);
      return [...answers, ...rest].slice(0, 20).map((n) => {
        const [page, anchor, title] = data.sections[n];
        return {
          href: root + data.pages[page][0] + (anchor ? "#" + anchor : ""), title, page: data.pages[page][1],
          text: around(wanted, data.sections[n]), words: wanted.flatMap(variants),
        };
      });
    };
  }

  function show(hits) {
    found.hidden = hits === null;
    if (hits === null) return;
    const note = document.createElement("p");
    note.textContent = hits.length ? `${hits.length} results` : "Nothing found";
    const list = document.createElement("ol");
    for (const hit of hits) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = hit.href;
      link.textContent = hit.title === hit.page ? hit.title : `${hit.page}: ${hit.title}`;
      link.addEventListener("click", () => show(null));
      const text = document.createElement("span");
      // What was searched for is marked.
      for (const piece of hit.text.split(/([_\p{L}\p{N}]+)/u)) {
        const low = piece.toLowerCase();
        if (hit.words.some((w) => low.startsWith(w))) {
          const mark = document.createElement("mark");
          mark.textContent = piece;
          text.append(mark);
        } else {
          text.append(piece);
        }
      }
      item.append(link, text);
      list.append(item);
    }
    found.replaceChildren(note, list);
  }

  async function search() {
    const query = field.value;
    if (!query.trim()) {
      show(null);
      return;
    }
    try {
      const find = await load();
      if (field.value === query) show(find(query));
    } catch {
      found.hidden = false;
      found.textContent = "The index of the search could not be read.";
    }
  }

  form.hidden = false;
  field.addEventListener("focus", () => { load().catch(() => {}); });
  field.addEventListener("input", search);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await search();
    found.querySelector("a")?.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && !found.hidden) {
      field.value = "";
      show(null);
      field.focus();
    }
  });
})();
