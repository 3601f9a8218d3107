// page.js - what makes a page move: words at the pointer, keys that hide a series, tables that sort, a slider over K,
// and the neighbours of a point that is clicked. A page without it shows the same numbers, standing still.
'use strict';
(function () {
  var MARGIN = 3.2; // of points at the edge of the frame: their radius

  function all(root, what) { return Array.prototype.slice.call(root.querySelectorAll(what)); }

  function make(parent, tag, properties) {
    var element = document.createElement(tag);
    Object.keys(properties || {}).forEach(function (k) { element[k] = properties[k]; });
    parent.appendChild(element);
    return element;
  }

  // As a button: by mouse, by finger, by keyboard.
  function press(element, action) {
    element.tabIndex = 0;
    element.setAttribute('role', 'button');
    element.addEventListener('click', action);
    element.addEventListener('keydown', function (event) {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      action(event);
    });
  }

  // ---- words at the pointer ------------------------------------------------------------------------------------

  var tip = make(document.body, 'div', { id: 'tip', hidden: true });
  tip.setAttribute('role', 'status');

  // The words of a mark: its <title>, taken away once so that the browser does not show it a second time.
  function words(mark) {
    var title = mark.querySelector('title');
    if (title) {
      mark.setAttribute('data-words', title.textContent);
      mark.removeChild(title);
    }
    return mark.getAttribute('data-words');
  }

  function say(mark, text) {
    words(mark);
    mark.setAttribute('data-words', text);
  }

  document.addEventListener('pointerover', function (event) {
    var mark = event.target.closest ? event.target.closest('.panel circle, .panel .column, .panel .line') : null;
    var text = mark && words(mark); // null: a curve whose points speak
    tip.hidden = !text;
    if (text) tip.textContent = text;
  });
  document.addEventListener('pointermove', function (event) {
    if (tip.hidden) return;
    var right = event.clientX + tip.offsetWidth + 24 > window.innerWidth;
    tip.style.left = Math.max(4, right ? event.clientX - tip.offsetWidth - 12 : event.clientX + 14) + 'px';
    tip.style.top = Math.max(4, Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 4)) + 'px';
  });

  // ---- keys ------------------------------------------------------------------------------------------------------

  all(document, 'figure').forEach(function (figure) {
    all(figure, '.key li').forEach(function (entry) {
      entry.title = 'hide or show';
      entry.setAttribute('aria-pressed', 'true');
      press(entry, function () {
        var off = entry.classList.toggle('off');
        entry.setAttribute('aria-pressed', String(!off));
        all(figure, '.inside .series').forEach(function (series) {
          if (series.getAttribute('data-s') === entry.getAttribute('data-s')) series.classList.toggle('off', off);
        });
      });
    });
  });

  // ---- tables ----------------------------------------------------------------------------------------------------

  function value(row, column) {
    var cell = row.cells[column], text = cell ? cell.textContent.trim() : '';
    var number = parseFloat(text.replace('<', '').replace('∞', 'Infinity').replace('−', '-'));
    return isNaN(number) ? text : number;
  }

  function compare(a, b) {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === 'number' ? -1 : 1; // what is no number comes last
  }

  all(document, 'table.sort').forEach(function (table) {
    var body = table.tBodies[0];
    all(table, 'thead th').forEach(function (head, column) {
      head.title = 'sort';
      press(head, function () {
        var down = head.getAttribute('aria-sort') === 'ascending';
        all(table, 'thead th').forEach(function (other) { other.removeAttribute('aria-sort'); });
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        all(body, 'tr').sort(function (a, b) {
          return (down ? -1 : 1) * compare(value(a, column), value(b, column));
        }).forEach(function (row) { body.appendChild(row); });
      });
    });
  });

  // ---- panels -----------------------------------------------------------------------------------------------------

  // An axis as the picture has it: "lo hi from to", and "log".
  function axis(panel, name) {
    var part = panel.getAttribute('data-' + name).split(' ');
    var lo = +part[0], hi = +part[1], from = +part[2], to = +part[3], log = part[4] === 'log';
    return {
      from: from, to: to,
      at: function (v) {
        var share = log ? Math.log(v / lo) / Math.log(hi / lo) : (v - lo) / (hi - lo);
        return from + share * (to - from);
      },
      keep: function (at) { // inside the frame
        return Math.max(Math.min(from, to) + MARGIN, Math.min(Math.max(from, to) - MARGIN, at));
      }
    };
  }

  function panelOf(figure, id) { return figure.querySelector('[data-panel="' + id + '"]'); }

  function labels(panel) { // texts that stand in the panel itself: title, axis titles, note
    return all(panel, 'text').filter(function (text) { return text.parentNode === panel; });
  }

  // ---- neighbours of a point ----------------------------------------------------------------------------------------

  // near(id): for each point those nearest to it in the panel of that name.
  function neighbours(figure, data, near) {
    var picked = -1;
    var box = make(figure, 'p', { className: 'picked', hidden: true });
    figure.insertBefore(box, figure.querySelector('figcaption'));
    box.setAttribute('aria-live', 'polite');

    function name(i) {
      var label = data.classes[data['class'][i]];
      return 'row ' + data.row[i] + (label === undefined ? '' : ' (' + label + ')');
    }

    function draw(id) {
      var panel = panelOf(figure, id), inside = panel.querySelector('.inside');
      all(inside, '.near').forEach(function (old) { inside.removeChild(old); });
      if (picked < 0) return;
      function shape(tag) { return document.createElementNS(panel.namespaceURI, tag); }
      var group = shape('g');
      group.setAttribute('class', 'near');
      var here = inside.querySelector('circle[data-i="' + picked + '"]');
      near(id)[picked].concat(picked).forEach(function (j) {
        var there = inside.querySelector('circle[data-i="' + j + '"]');
        if (!here || !there) return;
        var line = shape('path'), ring = shape('circle');
        line.setAttribute('d', 'M' + here.getAttribute('cx') + ' ' + here.getAttribute('cy') +
          'L' + there.getAttribute('cx') + ' ' + there.getAttribute('cy'));
        ring.setAttribute('cx', there.getAttribute('cx'));
        ring.setAttribute('cy', there.getAttribute('cy'));
        ring.setAttribute('r', j === picked ? '8' : '6');
        group.appendChild(line);
        group.appendChild(ring);
      });
      inside.appendChild(group);
    }

    function list(id) { return near(id)[picked].map(name).join(', '); }

    function update() {
      draw('before');
      draw('after');
      box.hidden = picked < 0;
      if (picked < 0) return;
      box.textContent = 'Nearest to ' + name(picked) + (data.row.length < data.rows ? ' among the points shown' : '') +
        '. Before: ' + list('before') + '. After: ' + list('after') + '. Click it again to let it go.';
    }

    figure.addEventListener('click', function (event) {
      var mark = event.target.closest('[data-panel="before"] circle[data-i], [data-panel="after"] circle[data-i]');
      if (!mark) return;
      var i = +mark.getAttribute('data-i');
      picked = picked === i ? -1 : i;
      update();
    });
    return update;
  }

  // ---- a walk along K ------------------------------------------------------------------------------------------------

  function walk(figure, data) {
    var now = data.chosen;
    var update = neighbours(figure, data, function (id) {
      return id === 'before' ? data.before : data.step[now].neighbors;
    });
    var control = make(figure, 'p', { className: 'control' });
    figure.insertBefore(control, figure.firstChild);
    var label = make(control, 'label', { textContent: 'K ' });
    var slider = make(label, 'input', { type: 'range', min: 0, max: data.step.length - 1, step: 1 });
    slider.value = now;
    var told = make(control, 'output');
    var error = panelOf(figure, 'error'), spectrum = panelOf(figure, 'spectrum'), cloud = panelOf(figure, 'after');
    var ex = axis(error, 'x'), ey = axis(error, 'y'), sx = axis(spectrum, 'x'), sy = axis(spectrum, 'y');
    var cx = axis(cloud, 'x'), cy = axis(cloud, 'y');
    var titles = labels(cloud);

    function moveMark(step) {
      var mark = error.querySelector('.mark'), text = mark.querySelector('text'), x = ex.at(step.kappa);
      var left = x > (ex.from + ex.to) / 2;
      mark.querySelector('path').setAttribute('d', 'M' + x + ' ' + ey.from + 'L' + x + ' ' + ey.to);
      text.setAttribute('x', left ? x - 6 : x + 6);
      text.setAttribute('text-anchor', left ? 'end' : 'start');
      text.textContent = (now === data.chosen ? 'least error, K = ' : 'K = ') + step.distortion;
    }

    function moveSpectrum(step) {
      var path = '';
      all(spectrum, 'circle[data-i]').forEach(function (mark) {
        var i = +mark.getAttribute('data-i'), v = step.eigenvalue[i], y = sy.at(Math.max(v, 1e-300));
        mark.setAttribute('cy', y.toFixed(1));
        say(mark, 'eigenvalue ' + (i + 1) + ': ' + v.toPrecision(3) + ' of the largest');
        path += (path ? 'L' : 'M') + sx.at(i + 1).toFixed(1) + ' ' + y.toFixed(1);
      });
      spectrum.querySelector('.line').setAttribute('d', path);
    }

    function moveCloud(step) {
      var out = 0;
      all(cloud, 'circle[data-i]').forEach(function (mark) {
        var p = step.points[+mark.getAttribute('data-i')], x = cx.at(p[0]), y = cy.at(p[1]);
        var beyond = x !== cx.keep(x) || y !== cy.keep(y);
        out += beyond;
        mark.classList.toggle('out', beyond);
        mark.setAttribute('cx', cx.keep(x).toFixed(1));
        mark.setAttribute('cy', cy.keep(y).toFixed(1));
      });
      titles[0].textContent = 'under the metric of K = ' + step.distortion;
      titles[1].textContent = 'direction of largest variance, ' + Math.round(100 * step.share[0]) + ' % of all';
      titles[2].textContent = 'of second largest, ' + Math.round(100 * step.share[1]) + ' %';
      if (titles[3]) titles[3].textContent = out ? out + (out === 1 ? ' point lies' : ' points lie') + ' beyond the axes' : '';
    }

    function show() {
      var step = data.step[now];
      slider.setAttribute('aria-valuetext', 'K = ' + step.distortion);
      told.textContent = step.words + (now === data.chosen ? ' (least error in cross-validation)' : '');
      moveMark(step);
      moveSpectrum(step);
      moveCloud(step);
      update();
    }
    slider.addEventListener('input', function () {
      now = +slider.value;
      show();
    });
    told.textContent = data.step[now].words + ' (least error in cross-validation)';
  }

  all(document, 'script[type="application/json"]').forEach(function (script) {
    var figure = script.parentNode, data = JSON.parse(script.textContent);
    if (data.step) walk(figure, data);
    else neighbours(figure, data, function (id) { return data[id]; });
  });
}());
