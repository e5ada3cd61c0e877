
"use strict";
(function () {
  var field = document.getElementById("words");
  var count = document.getElementById("count");
  var list = document.getElementById("skills");
  var rows = Array.prototype.map.call(list.children, function (row, i) {
    return {
      row: row,
      at: i,
      name: row.querySelector("h2").textContent.toLowerCase(),
      text: row.textContent.toLowerCase()
    };
  });

  /* 0: does not fit; a word counts more in a name, most as the name itself. */
  function fit(row, words) {
    var sum = 0;
    for (var i = 0; i < words.length; i++) {
      if (row.text.indexOf(words[i]) < 0)
        return 0;
      sum += row.name === words[i] ? 16 : row.name.indexOf(words[i]) >= 0 ? 4 : 1;
    }
    return row.name === words.join("-") ? sum + 64 : sum;
  }

  function show() {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    var found = 0;
    rows.forEach(function (r) {
      r.fit = words.length ? fit(r, words) : 1;
      r.row.hidden = !r.fit;
      found += r.fit ? 1 : 0;
    });
    rows.slice().sort(function (a, b) {
      return words.length && a.fit !== b.fit ? b.fit - a.fit : a.at - b.at;
    }).forEach(function (r) { list.appendChild(r.row); });
    count.textContent = found === rows.length
      ? rows.length + (rows.length === 1 ? " skill" : " skills")
      : found + " of " + rows.length + " skills";
  }

  function read() {
    var at = location.hash.indexOf("#q=");
    if (at === 0) {
      try {
        field.value = decodeURIComponent(location.hash.slice(3));
      } catch (e) {
        field.value = "";
      }
    }
    show();
  }

  document.getElementById("search").hidden = false;
  field.addEventListener("input", show);
  window.addEventListener("hashchange", read);
  read();
})();
