// The search: over search-index.js, which is loaded when it is first used. A row
// there is [address, title of the page, heading, text].
'use strict';
(() => {
  const root = document.currentScript.dataset.root;
  const form = document.createElement('div');
  form.className = 'search';
  form.setAttribute('role', 'search');
  form.innerHTML = '<input type="search" placeholder="Search (/)" aria-label="Search"' +
    ' autocomplete="off" spellcheck="false"><ul class="found"></ul>';
  const [input, found] = form.children;
  let chosen = -1;

  function load() {
    if (document.getElementById('index')) return;
    const script = document.createElement('script');
    script.id = 'index';
    script.src = root + 'search-index.js';
    script.onload = show;
    document.head.append(script);
  }

  // How well a row answers one word; 0: not at all.
  function worth(word, [, title, head, text]) {
    const t = title.toLowerCase(), h = head.toLowerCase();
    const starts = s => s.startsWith(word) || s.includes(' ' + word);
    const whole = s => s.split(/[^a-z0-9.-]+/).includes(word);
    return (whole(h) ? 20 : starts(h) ? 12 : h.includes(word) ? 3 : 0) +
      (whole(t) ? 8 : t.includes(word) ? 4 : 0) +
      (starts(text.toLowerCase()) ? 2 : text.toLowerCase().includes(word) ? 1 : 0);
  }
  // Short headings, and manual pages before documents about the inside.
  const favour = ([address, title, head]) =>
    (address.startsWith('man/') ? 8 : 0) - (title.length + head.length) / 20;
  function search(words) {
    const rows = [];
    for (const row of mapmSearchIndex) {
      const each = words.map(word => worth(word, row));
      if (each.every(n => n > 0))
        rows.push([each.reduce((a, b) => a + b) + favour(row), row]);
    }
    return rows.sort((a, b) => b[0] - a[0]).slice(0, 20).map(r => r[1]);
  }

  // Text with the words marked; nothing of it is ever read as markup.
  function marked(parent, text, words) {
    const parts = text.split(new RegExp('(' + words.map(w =>
      w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|') + ')', 'i'));
    parts.forEach((part, i) => {
      const node = i % 2 ? document.createElement('mark') : document.createTextNode(part);
      if (i % 2) node.textContent = part;
      parent.append(node);
    });
  }
  function excerpt(text, words) {
    const at = Math.max(0, ...words.map(w => text.toLowerCase().indexOf(w)));
    const from = at < 60 ? 0 : text.indexOf(' ', at - 50) + 1;
    return (from ? '… ' : '') + text.slice(from, from + 160) + (text.length > from + 160 ? ' …' : '');
  }
  function entry([address, title, head, text], words) {
    const li = document.createElement('li'), a = document.createElement('a');
    const b = document.createElement('b');
    a.href = root + address;
    marked(b, head && head !== title ? title + ' › ' + head : title, words);
    a.append(b);
    marked(a, excerpt(text, words), words);
    li.append(a);
    return li;
  }
  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.replaceChildren();
    chosen = -1;
    if (!words.length || typeof mapmSearchIndex === 'undefined') return;
    const rows = search(words);
    found.append(...rows.map(row => entry(row, words)));
    if (!rows.length) found.innerHTML = '<li><p>Nothing has all of these words.</p></li>';
  }
  function choose(step) {
    const links = [...found.querySelectorAll('a')];
    if (!links.length) return;
    if (chosen >= 0) links[chosen].classList.remove('chosen');
    chosen = (chosen + step + links.length + (chosen < 0 && step < 0)) % links.length;
    links[chosen].classList.add('chosen');
    links[chosen].scrollIntoView({block: 'nearest'});
  }

  input.addEventListener('focus', load);
  input.addEventListener('input', show);
  input.addEventListener('keydown', e => {
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault();
      choose(e.key === 'ArrowDown' ? 1 : -1);
    } else if (e.key === 'Enter') {
      const a = found.querySelectorAll('a')[Math.max(chosen, 0)];
      if (a) { location.href = a.href; found.replaceChildren(); }
    } else if (e.key === 'Escape') {
      input.value = '';
      show();
    }
  });
  document.addEventListener('keydown', e => {
    if (e.key === '/' && !e.ctrlKey && !e.metaKey && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
      e.preventDefault();
      input.focus();
    }
  });
  document.addEventListener('click', e => {
    if (!form.contains(e.target)) found.replaceChildren();
  });
  document.querySelector('header').append(form);
  const here = document.querySelector('nav [aria-current]');
  if (here && innerWidth >= 960) here.scrollIntoView({block: 'center'});
})();
