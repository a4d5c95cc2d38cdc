"use strict";
// The search. It reads an index of all pages, once somebody wants to search, and shows the passages that have all words.

{
  const form = document.getElementById("search"), field = document.getElementById("words");
  const box = document.getElementById("hits"), list = box.querySelector("ol"), told = document.getElementById("told");
  const root = document.body.dataset.root;
  const shown = 12, excerpt = 140; // passages, and letters of each
  let index = null;

  form.hidden = false;
  form.addEventListener("submit", e => { e.preventDefault(); list.querySelector("a")?.click(); });

  /** load reads the index once: whoever asks while it is read waits for the same answer. */
  function load() {
    index ??= fetch(root + "search.json").then(async answer => {
      if (!answer.ok) throw new Error(`search.json: ${answer.status}`);
      return (await answer.json()).map(p => ({ ...p, low: p.w.toLowerCase(), head: (p.t + " " + p.h).toLowerCase() }));
    }).catch(e => { index = null; throw e; });
    return index;
  }

  // A passage counts by where its words are: in its heading, and how often in its text.
  function weigh(p, words) {
    let sum = 0;
    for (const w of words) {
      const inHead = p.head.includes(w), at = p.low.indexOf(w);
      if (!inHead && at < 0) return 0;
      sum += (inHead ? 12 : 0) + Math.min(5, p.low.split(w).length - 1);
    }
    return sum / (1 + Math.log10(10 + p.low.length) / 4);
  }

  function piece(p, words) {
    const at = Math.max(0, Math.min(...words.map(w => p.low.indexOf(w)).filter(i => i >= 0), p.w.length) - 40);
    return (at > 0 ? "… " : "") + p.w.slice(at, at + excerpt) + (at + excerpt < p.w.length ? " …" : "");
  }

  async function search() {
    const asked = field.value, words = asked.toLowerCase().split(/\s+/).filter(w => w);
    if (!words.length) { close(); return; }
    let all;
    try { all = await load(); } catch (e) { told.textContent = "the index cannot be loaded: " + e.message; box.hidden = false; return; }
    if (field.value !== asked) return; // another search has the newer words: this one must not replace its links, one of which may be in focus
    const hits = all.map(p => [weigh(p, words), p]).filter(([w]) => w > 0).sort((a, b) => b[0] - a[0]);
    list.replaceChildren(...hits.slice(0, shown).map(([, p]) => {
      const item = document.createElement("li"), a = document.createElement("a"), text = document.createElement("span");
      a.href = `${root}${p.p}#${p.a}`;
      a.textContent = p.h === p.t ? p.t : `${p.t}: ${p.h}`;
      text.textContent = piece(p, words);
      item.append(a, text);
      return item;
    }));
    told.textContent = hits.length ? `${hits.length} passages` + (hits.length > shown ? `, the best ${shown} of them` : "") : "no passage has all of these words";
    box.hidden = false;
  }

  function close() { box.hidden = true; list.replaceChildren(); }

  field.addEventListener("input", search);
  field.addEventListener("focus", () => { load().catch(() => {}); });
  document.addEventListener("keydown", e => {
    const typing = e.target.closest("input, textarea, select");
    if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); field.focus(); }
    if (e.key === "Escape" && !box.hidden) { close(); field.focus(); }
    if ((e.key === "ArrowDown" || e.key === "ArrowUp") && !box.hidden && form.contains(e.target)) {
      const stops = [field, ...list.querySelectorAll("a")], i = stops.indexOf(e.target);
      stops[Math.min(stops.length - 1, Math.max(0, i + (e.key === "ArrowDown" ? 1 : -1)))].focus();
      e.preventDefault();
    }
  });
  document.addEventListener("click", e => { if (!form.contains(e.target)) close(); else if (e.target.closest("#hits a")) close(); });
}
