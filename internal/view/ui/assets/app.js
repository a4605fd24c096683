// What pages do beyond forms and links: runs are kept up to date, target
// expressions show who matches, wizards show the fields that conditions ask for,
// and steps can be dragged. All HTML comes from the server, which escapes it.

const parse = (html) => new DOMParser().parseFromString(html, "text/html");

const focusable = "a, button, summary, [tabindex]";

// keepOpen leaves the details of an element as somebody has opened or closed them.
function keepOpen(old, next) {
  const before = [...old.querySelectorAll("details")];
  for (const [i, d] of next.querySelectorAll("details").entries()) {
    d.dataset.opened = d.open;
    if (before[i]?.dataset.opened === d.dataset.opened) d.open = before[i].open;
  }
}

// replace puts an element in the place of the one with its id, and keeps what is
// open.
function replace(next) {
  const old = document.getElementById(next.id);
  if (!old) {
    keepOpen(next, next);
    document.getElementById(next.dataset.into)?.append(next);
    return;
  }
  if ("text" in next.dataset) {
    // Replaced, it would not be read out.
    if (old.textContent !== next.textContent) old.textContent = next.textContent;
    old.className = next.className;
    return;
  }
  keepOpen(old, next);
  if (old.outerHTML === next.outerHTML) return;
  const focus = old.contains(document.activeElement) ? [...old.querySelectorAll(focusable)].indexOf(document.activeElement) : -1;
  const top = old.querySelector("pre")?.scrollTop;
  old.replaceWith(next);
  if (focus >= 0) next.querySelectorAll(focusable)[focus]?.focus();
  const pre = next.querySelector("pre");
  if (pre && top) pre.scrollTop = top;
}

// signs are what the title and the icon of a tab tell of a run.
const signs = {
  work: ["\u25b6", ["is-running", "is-stopping", "is-waiting"]],
  good: ["\u2713", ["is-succeeded"]],
  bad: ["\u2717", ["is-failed", "is-stopped", "is-refused", "is-lost", "is-interrupted", "is-killed", "is-unfinished"]],
};

const title = document.title;

// sign has the tab tell how the run goes.
function sign(run) {
  const state = run.querySelector("[data-state]");
  for (const [name, [mark, classes]] of Object.entries(signs)) {
    if (!classes.some((c) => state?.classList.contains(c))) continue;
    document.title = mark + " " + title;
    const icon = document.querySelector("link[rel=icon]");
    const href = "/assets/icon-" + name + ".svg";
    if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
  }
}

// windowed makes one list of a list of which the page has a part: the other parts are fetched
// when somebody scrolls there, and those out of sight are given up.
function windowed(box) {
  const list = box.querySelector("ul");
  const row = list.firstElementChild?.getBoundingClientRect().height;
  if (!row) return;
  document.getElementById("window-links").hidden = true;
  let all = Number(box.dataset.all), from = Number(box.dataset.from), live = "live" in box.dataset, busy = false, stale = null, timer;
  const size = () => {
    list.style.paddingTop = from * row + "px";
    list.style.paddingBottom = Math.max(0, all - from - list.children.length) * row + "px";
  };
  const show = async (at) => {
    if (busy) return;
    busy = true;
    clearTimeout(timer);
    const url = new URL(box.dataset.window, location);
    url.searchParams.set("from", at);
    const text = await fetch(url, { signal: soon() }).then((answer) => answer.ok && answer.text()).catch(() => "");
    const next = text && parse(text).getElementById("window");
    if (next) {
      const focus = document.activeElement?.closest(".window a")?.getAttribute("href");
      list.replaceChildren(...next.querySelector("ul").children);
      all = Number(next.dataset.all);
      from = Number(next.dataset.from);
      live = "live" in next.dataset;
      size();
      stale = null;
      document.getElementById("window-sum").textContent = all + (all === 1 ? " host" : " hosts") + ", those that failed first";
      if (focus) [...list.querySelectorAll("a")].find((a) => a.getAttribute("href") === focus)?.focus({ preventScroll: true });
    }
    if (!next) {
      stale ??= new Date();
      document.getElementById("window-sum").textContent = "This list is not kept up to date since " + stale.toTimeString().slice(0, 8) + ". It tries again, and scrolling does.";
    }
    busy = false;
    if (live) timer = setTimeout(() => document.hidden || show(from), 2000);
    if (next) look();
  };
  const look = () => {
    const first = Math.floor(box.scrollTop / row), last = Math.ceil((box.scrollTop + box.clientHeight) / row);
    if (first < from || last > Math.min(all, from + list.children.length)) show(Math.max(0, first - 30));
  };
  box.addEventListener("scroll", look);
  document.addEventListener("visibilitychange", () => document.hidden || !live || show(from));
  size();
  box.scrollTop = from * row;
  if (live) timer = setTimeout(() => show(from), 2000);
}

// A browser has six connections for a server, and tabs share them: only so many tabs hold
// one for what changes, the others ask from time to time.
const streams = 3;

// hold calls f with what lets a place for a stream go again, or with nothing if all are
// taken.
function hold(f) {
  if (!navigator.locks) return f(() => {});
  const next = (i) => {
    if (i === streams) return f(null);
    navigator.locks.request("brine-stream-" + i, { ifAvailable: true }, (lock) => {
      if (!lock) return next(i + 1);
      return new Promise((release) => f(release));
    });
  };
  next(0);
}

// A server that hangs, or a network that is away, ends no connection: a page that heard
// nothing for so long says that it is lost. The server says something every 15 seconds.
const silence = 60000;

// soon has a request fail that is not answered.
const soon = () => AbortSignal.timeout(10000);

// live keeps a page up to date until it is over, and says since when it is not. A tab
// that nobody sees lets go of its connection: a browser has only a few for a server.
function live(run) {
  for (const d of run.querySelectorAll("details")) d.dataset.opened = d.open;
  const lost = document.createElement("p");
  lost.setAttribute("role", "status");
  run.prepend(lost);
  let source, since, timer, heard, opening = false, over = false, release = null;
  const show = (...parts) => {
    lost.className = parts.length ? "problem" : "";
    lost.replaceChildren(...parts);
  };
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
    release?.();
    release = null;
  };
  const take = (e) => {
    for (const el of [...parse(e.data).body.children]) replace(document.adoptNode(el));
    sign(run);
  };
  const open = () => {
    if (opening) return;
    close();
    opening = true;
    hold((free) => {
      opening = false;
      if (over || document.hidden || source) return free?.();
      release = free;
      stream(!free);
    });
  };
  const stream = (once) => {
    source = new EventSource(run.dataset.events);
    const hear = () => {
      heard = Date.now();
    };
    hear();
    for (const name of ["open", "beat", "update"]) source.addEventListener(name, hear);
    source.addEventListener("open", () => {
      since = null;
      show();
      sign(run);
    });
    source.addEventListener("error", fail);
    source.addEventListener("update", (e) => {
      take(e);
      if (!once) return;
      close();
      timer = setTimeout(open, 3000);
    });
    source.addEventListener("end", (e) => {
      take(e);
      over = true;
      close();
      document.removeEventListener("visibilitychange", look);
    });
  };
  const fail = async () => {
    close();
    since ??= new Date();
    document.title = "? " + title; // nobody knows how the run goes
    const answer = await fetch(location.href, { method: "HEAD", redirect: "manual", cache: "no-store", signal: soon() }).catch(() => null);
    if (document.hidden || source) return;
    if (answer?.type === "opaqueredirect") {
      const link = document.createElement("a");
      link.href = "/login?" + new URLSearchParams({ next: location.pathname + location.search });
      link.textContent = "Log in again";
      show("Your log-in has expired. ", link, " to come back to this page.");
      return;
    }
    const at = since.toTimeString().slice(0, 8);
    if (answer) show("This page is not kept up to date since " + at + ". It tries again.");
    else show("Connection lost since " + at + ". It tries again.");
    clearTimeout(timer);
    timer = setTimeout(open, 2000);
  };
  const look = () => {
    if (document.hidden) close();
    else if (!source) open();
  };
  document.addEventListener("visibilitychange", look);
  setInterval(() => {
    if (!source || Date.now() - heard < silence) return;
    since ??= new Date(heard);
    fail();
  }, 5000);
  sign(run);
  look();
}

// preview shows who matches the target expression of an input element.
function preview(input) {
  const out = document.getElementById(input.dataset.preview);
  let timer, asked = 0;
  const kind = document.getElementById(input.id + "-kind");
  const show = async () => {
    const mine = ++asked;
    const answer = await fetch("/targets?" + new URLSearchParams({ expr: input.value, kind: kind.value })).catch(() => null);
    const text = answer?.ok && !answer.redirected ? await answer.text() : "<p class='hint bad'>It is not known who matches: the server does not answer, or the log-in has expired.</p>";
    if (mine === asked) out.replaceChildren(...parse(text).body.childNodes);
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 250);
  });
  kind.addEventListener("change", show);
  const closed = input.closest("details:not([open])");
  if (closed) closed.addEventListener("toggle", show, { once: true });
  else if (input.value) show();
}

// check shows what the page of a link finds, in the place of the link.
async function check(box) {
  const answer = await fetch(box.querySelector("a").href).catch(() => null);
  const found = answer?.ok && parse(await answer.text()).getElementById("check");
  if (found) box.replaceWith(document.adoptNode(found));
}

// wizard asks the server for the fields again when a value changes: conditions may
// show others.
function wizard(form) {
  let asked = 0;
  form.addEventListener("change", async (e) => {
    if (!e.target.closest("#fields")) return;
    const mine = ++asked;
    const data = new URLSearchParams(new FormData(form));
    data.set("op", "refresh");
    const answer = await fetch(form.action, { method: "POST", body: data }).catch(() => null);
    const next = answer?.ok && parse(await answer.text()).getElementById("fields");
    if (!next || mine !== asked) return;
    const old = form.querySelector("#fields");
    // Passwords are not sent back, and what was typed meanwhile stays.
    for (const el of old.querySelectorAll("input, select")) {
      const twin = el.id && next.querySelector("#" + CSS.escape(el.id));
      if (!twin) continue;
      if (el.type === "checkbox") twin.checked = el.checked;
      else if (el.tagName === twin.tagName) twin.value = el.value;
    }
    // So does what it matches: what is below would move away from a pointer on its way.
    for (const el of old.querySelectorAll("[data-preview]")) {
      const was = document.getElementById(el.dataset.preview);
      const twin = next.querySelector("#" + CSS.escape(el.dataset.preview));
      if (was && twin) twin.replaceChildren(...was.childNodes);
    }
    const id = document.activeElement?.id;
    old.replaceWith(document.adoptNode(next));
    if (id) document.getElementById(id)?.focus();
    for (const el of form.querySelectorAll("[data-preview]")) preview(el);
  });
}

// sortable lets a pointer drag the items of a list to another place, beside the
// buttons of each: the form that moves an item is sent with the place.
function sortable(list) {
  const items = [...list.children];
  if (items.length < 2) return;
  for (const [from, item] of items.entries()) {
    const form = item.querySelector("[data-move]");
    const grip = document.createElement("span");
    grip.className = "grip";
    grip.textContent = "\u22ee\u22ee";
    grip.title = "Drag to another place";
    grip.setAttribute("aria-hidden", "true");
    item.querySelector("p").prepend(grip);
    let to = from;
    const show = (place) => {
      to = place;
      for (const [i, other] of items.entries()) {
        other.classList.toggle("drop-before", i === to && to < from);
        other.classList.toggle("drop-after", i === to && to > from);
      }
    };
    const escape = (e) => {
      if (e.key === "Escape") end();
    };
    const end = () => {
      show(from);
      item.classList.remove("dragged");
      removeEventListener("keydown", escape);
    };
    grip.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      e.preventDefault();
      grip.setPointerCapture(e.pointerId);
      item.classList.add("dragged");
      addEventListener("keydown", escape);
    });
    grip.addEventListener("pointermove", (e) => {
      if (!item.classList.contains("dragged")) return;
      if (e.clientY < 40) scrollBy(0, -20);
      if (e.clientY > innerHeight - 40) scrollBy(0, 20);
      // The place is after the others whose middle is above the pointer.
      show(items.filter((other) => {
        const box = other.getBoundingClientRect();
        return other !== item && (box.top + box.bottom) / 2 < e.clientY;
      }).length);
    });
    grip.addEventListener("pointerup", () => {
      if (!item.classList.contains("dragged")) return;
      const place = to;
      end();
      if (place === from) return;
      form.elements.to.value = place + 1;
      form.submit();
    });
    grip.addEventListener("pointercancel", end);
  }
}

document.querySelector("main [aria-invalid]")?.focus();
const run = document.querySelector("[data-events]");
if (run) live(run);
else sign(document); // a run that was over when the page was loaded
for (const input of document.querySelectorAll("[data-preview]")) preview(input);
for (const list of document.querySelectorAll("[data-sortable]")) sortable(list);
for (const form of document.querySelectorAll("[data-wizard]")) wizard(form);
for (const box of document.querySelectorAll("[data-check]")) check(box);
for (const box of document.querySelectorAll("[data-window]")) windowed(box);
