// What the pages of Berth draw with, on top of d3 (version 3): defines BerthDraw. Everything that comes from a scenario enters a
// page as text, never as markup. Needs an element #tip.
var BerthDraw = (function () {
  "use strict";
  var ABSENT = "\u2013", TENANT_COLOURS = 8, LABEL_WIDTH = 6.1;

  // ---- Words and numbers --------------------------------------------------------------------------------------------

  function isAbsent(x) { return x === null || x === undefined; }
  function fixed(x, digits) {
    var parts = x.toFixed(digits).split(".");
    parts[0] = parts[0].replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    return parts.join(".");
  }
  function whole(x) { return fixed(x, 0); }
  function ratio(x) { return fixed(x, 3); }
  function percent(x) { return fixed(x * 100, x > 0.9995 || x === 0 ? 0 : 1) + "\u202f%"; }
  function percentShort(x) { return fixed(x * 100, 0); }
  function significant(x) {
    var size = Math.abs(x);
    return fixed(x, size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
  }
  function dollars(micro) {
    var usd = micro / 1e6;
    return "$" + fixed(usd, usd === 0 || usd >= 1 ? 2 : usd >= 0.01 ? 4 : 6);
  }
  function clock(seconds) {
    var s = Math.round(seconds), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
    function two(n) { return (n < 10 ? "0" : "") + n; }
    return h > 0 ? h + ":" + two(m) + ":" + two(s % 60) : m + ":" + two(s % 60);
  }
  function duration(seconds) {
    var parts = [["h", 3600], ["min", 60], ["s", 1]].map(function (unit) {
      var n = Math.floor(seconds / unit[1]);
      seconds -= n * unit[1];
      return n > 0 ? whole(n) + "\u202f" + unit[0] : "";
    });
    return parts.filter(Boolean).join(" ") || "0\u202fs";
  }
  function plural(n, word) { return whole(n) + " " + word + (n === 1 ? "" : "s"); }
  function mean(list) {
    var kept = list.filter(function (x) { return !isAbsent(x); });
    return kept.length ? d3.sum(kept) / kept.length : null;
  }
  // An absent figure is a dash with an explanation, never a zero.
  function put(node, value, format) {
    if (!isAbsent(value)) return node.text(format(value));
    return node.append("span").attr("class", "absent").attr("title", "no figure: nothing to measure").text(ABSENT);
  }

  // ---- Colours of owners -------------------------------------------------------------------------------------------

  function fillOf(tenant) { return "var(--t" + tenant % TENANT_COLOURS + ")"; }
  function inkOn(tenant) { return "var(--on" + tenant % TENANT_COLOURS + ")"; }
  // Tenants beyond the eighth have the same colours with a pattern over them.
  function patternOf(tenant) {
    var round = Math.floor(tenant / TENANT_COLOURS);
    return round === 0 ? null : "url(#" + ["dots", "bars", "cross"][(round - 1) % 3] + ")";
  }

  function definePatterns() {
    var defs = d3.select("body").append("svg").attr("width", 0).attr("height", 0).attr("aria-hidden", "true")
      .style("position", "absolute").append("defs");
    function pattern(id, size, draw) {
      draw(defs.append("pattern").attr("id", id).attr("width", size).attr("height", size).attr("patternUnits", "userSpaceOnUse"));
    }
    pattern("hatch", 6, function (p) {
      p.attr("patternTransform", "rotate(45)");
      p.append("rect").attr("width", 2.4).attr("height", 6).style("fill", "var(--card)").style("opacity", 0.75);
    });
    pattern("dots", 7, function (p) { p.append("circle").attr("cx", 3).attr("cy", 3).attr("r", 1.3).style("fill", "var(--card)"); });
    pattern("bars", 6, function (p) { p.append("rect").attr("width", 6).attr("height", 1.4).style("fill", "var(--card)"); });
    pattern("cross", 8, function (p) { p.append("path").attr("d", "M4 1V7M1 4H7").style("stroke", "var(--card)").style("stroke-width", 1.3); });
  }
  function swatch(node, fill, overlay) {
    var svg = node.append("svg").attr("class", "swatch").attr("viewBox", "0 0 16 12").attr("aria-hidden", "true");
    svg.append("rect").attr("width", 16).attr("height", 12).style("fill", fill);
    if (overlay) svg.append("rect").attr("width", 16).attr("height", 12).style("fill", overlay);
  }

  // ---- Tooltip ------------------------------------------------------------------------------------------------------

  var tip = d3.select("#tip");
  // `at`: the position in the window; default: the pointer. Long texts wrap.
  function showTip(title, rows, at) {
    at = at || { x: d3.event.clientX, y: d3.event.clientY };
    tip.html("").attr("hidden", null).attr("aria-live", "off");
    tip.append("b").text(title);
    var body = tip.append("table").append("tbody");
    rows.forEach(function (row) {
      var tr = body.append("tr");
      tr.append("td").text(row[0]);
      tr.append("td").classed("text", row[1].length > 28).text(row[1]);
    });
    var box = tip.node().getBoundingClientRect(), x = at.x + 14, y = at.y + 14;
    if (x + box.width > window.innerWidth - 6) x = Math.max(6, at.x - box.width - 14);
    if (y + box.height > window.innerHeight - 6) y = Math.max(6, at.y - box.height - 14);
    tip.style("left", x + "px").style("top", y + "px");
  }
  function hideTip() { tip.attr("hidden", ""); }

  // ---- Tables -------------------------------------------------------------------------------------------------------

  function barCell(format) {
    return function (td, value) {
      if (isAbsent(value)) return put(td, value, format);
      var cell = td.append("span").attr("class", "cell");
      cell.append("i").style("width", Math.min(100, Math.max(0, value * 100)) + "%");
      return cell.append("b").text(format(value));
    };
  }
  function plainCell(format) { return function (td, value) { return put(td, value, format); }; }
  function funnelCell(td, f) {
    var cell = td.append("span").attr("class", "funnel"), track = cell.append("span").attr("class", "track");
    [f.allocated, f.busy, f.effective].forEach(function (share, i) {
      track.append("i").attr("class", "f" + i).style("width", Math.min(100, share * 100) + "%");
    });
    cell.append("small").text([f.allocated, f.busy, f.effective].map(percentShort).join(" \u203a ") + "\u202f%");
  }

  function headRow(table, first, columns) {
    var row = table.append("thead").append("tr");
    row.append("th").attr("scope", "col").text(first);
    columns.forEach(function (column) {
      var th = row.append("th").attr("scope", "col").text(column[0]);
      if (column[1]) { th.append("br"); th.append("span").text(column[1]); }
    });
  }
  function cells(row, columns, figures) {
    columns.forEach(function (column) {
      var td = row.append("td").attr("data-label", column[1] ? column[0] + ", " + column[1] : column[0]);
      column[2](td, column[3](figures));
    });
  }


  // ---- Figures ------------------------------------------------------------------------------------------------------

  function figure(parent, title, aside, tenant) {
    var fig = parent.append("figure"), caption = fig.append("figcaption"), name = caption.append("b").attr("title", title);
    if (tenant !== undefined) swatch(name, fillOf(tenant), patternOf(tenant));
    name.append("span").style("color", "inherit").style("font-size", "inherit").text(title);
    caption.append("span").text(aside);
    return fig;
  }
  function frame(fig, height, margin, label) {
    var width = Math.max(240, Math.floor(fig.node().clientWidth - 24));
    var svg = fig.append("svg").attr("viewBox", "0 0 " + width + " " + height).attr("role", "img").attr("aria-label", label);
    return { svg: svg, left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom, width: width };
  }

  // ---- Slices -------------------------------------------------------------------------------------------------------

  // One rectangle for one owner (null: none), in a state: serving, retraining, idle, changing, foreign.
  function drawSlice(svg, box, slice) {
    var owned = slice.owner !== null, shown = slice.state === "changing" || slice.state === "foreign";
    function rect(fill) {
      return svg.append("rect").attr("x", box.left).attr("y", box.top).attr("width", box.width).attr("height", box.height).style("fill", fill);
    }
    var body = rect(owned ? fillOf(slice.owner) : null)
      .attr("class", "slice " + (owned || shown ? slice.state : "idle"));
    if (owned && slice.state === "idle") body.style("opacity", 0.35);
    if (owned && patternOf(slice.owner)) rect(patternOf(slice.owner)).attr("class", "dots");
    if (slice.state === "retraining" || slice.state === "foreign") rect("url(#hatch)").attr("class", "hatch");
    return body;
  }
  // The owner's name on a slice, and what else fits; returns whether there was room.
  function drawName(svg, box, slice) {
    var name = slice.name, room = Math.floor(box.width / LABEL_WIDTH);
    if (room < Math.min(name.length, 4)) return false;
    var onPattern = slice.state !== "serving" || patternOf(slice.owner) !== null;
    var label = svg.append("text").attr("class", "label").attr("x", box.left).attr("y", box.middle)
      .style("fill", onPattern ? "var(--ink)" : inkOn(slice.owner))
      .text(room >= name.length ? name : name.slice(0, room - 1) + "\u2026");
    if (onPattern) {
      label.style("paint-order", "stroke").style("stroke", "var(--card)").style("stroke-width", 3);
    } else if (room >= name.length + 2 + slice.more.length) {
      label.append("tspan").attr("dx", 6).text(slice.more);
    }
    return true;
  }

  return {
    ABSENT: ABSENT, isAbsent: isAbsent, fixed: fixed, whole: whole, ratio: ratio, percent: percent, percentShort: percentShort,
    significant: significant, dollars: dollars, clock: clock, duration: duration, plural: plural, mean: mean, fillOf: fillOf,
    inkOn: inkOn, patternOf: patternOf, definePatterns: definePatterns, swatch: swatch, tip: tip, showTip: showTip, hideTip: hideTip,
    barCell: barCell, plainCell: plainCell, funnelCell: funnelCell, headRow: headRow, cells: cells, figure: figure, frame: frame,
    drawSlice: drawSlice, drawName: drawName
  };
})();
