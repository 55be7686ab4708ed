// The last hour of the fleet or of one service, in charts of /v1/series: defines BerthHour. Needs d3 (version 3) and BerthDraw.
// `read(path)` promises the JSON of a GET; its error has the status of the answer as `status`, if there was one.
var BerthHour = function (read) {
  "use strict";
  var draw = BerthDraw, HOUR_MS = 3600e3, YOUNG_MS = 900e3, REFRESH_MS = 4000, RETRY_MS = 30000;
  var STEP_SECONDS = 20, YOUNG_STEP_SECONDS = 5, MANY_STEP_SECONDS = 60, POINTS_MAX = 500;
  var CLIP_FACTOR = 4, FINE_ERROR = 0.004, COARSE_ERROR = 0.04, NOW_WIDTH = 30, DEFAULT_TARGET = 0.95;
  var scope = null, step = STEP_SECONDS, points = [], nextAt = 0, isAsking = false, isHeld = false, wants = null;

  // ---- Reading --------------------------------------------------------------------------------------------------------

  // Shows the fleet with these services (null: not all are known), or one service of the overview. Called at each refresh of the
  // page; reads at most once in REFRESH_MS.
  function show(status, services, service) {
    var name = service ? service.tenant + "/" + service.name : "";
    if (name !== scope) {
      scope = name; points = []; nextAt = 0; isHeld = false;
      step = services === null ? MANY_STEP_SECONDS : STEP_SECONDS;
      d3.select("#charts").html("");
    }
    wants = { now: Date.parse(status.time), services: services, service: service };
    if (!isAsking && Date.now() >= nextAt) ask(name, wants.now);
  }
  function ask(name, now) {
    var asked = step, from = points.length ? points[points.length - 1].from : now - HOUR_MS;
    isAsking = true;
    read("/v1/series?" + (name ? "service=" + encodeURIComponent(name) + "&" : "") + "step=" + asked + "&limit=" + POINTS_MAX +
      "&from=" + encodeURIComponent(new Date(from).toISOString()))
      .then(function (body) {
        done(REFRESH_MS);
        if (name !== scope || asked !== step) return;
        take(body.items, now);
        if (!isHeld) redraw();
      })
      .catch(function (problem) {
        done(problem.status ? RETRY_MS : REFRESH_MS);
        if (name === scope && problem.status === 503) lead("No series can be read now: " + problem.message);
      });
  }
  function done(wait) { isAsking = false; nextAt = Date.now() + wait; }
  function lead(text) { d3.select("#hour-lead").text(text); }

  // Adds new points; the last one that was known may have grown. A young world has finer ones.
  function take(items, now) {
    var fresh = items.map(pointOf), since = fresh.length ? fresh[0].from : Infinity;
    points = points.filter(function (p) { return p.from < since && p.to > now - HOUR_MS; }).concat(fresh);
    // With many services seconds are long to read: minutes are stored apart.
    var wanted = wants.services === null ? MANY_STEP_SECONDS
      : points.length && points[0].from > now - YOUNG_MS ? YOUNG_STEP_SECONDS : STEP_SECONDS;
    if (wanted !== step) { step = wanted; points = []; nextAt = 0; }
  }
  function pointOf(item) {
    var settled = item.in_time + item.late + item.dropped;
    return {
      from: Date.parse(item.from), to: Date.parse(item.to),
      rate: item.seconds > 0 && !draw.isAbsent(item.requests) ? item.requests / item.seconds : null,
      in_time: settled > 0 ? item.in_time / settled : null,
      p99: item.latency_p99_ms, allocated: item.allocated, busy: item.busy, effective: item.effective, lost: item.lost_gpus_max
    };
  }

  // ---- What is drawn --------------------------------------------------------------------------------------------------

  function milliseconds(x) { return draw.significant(x) + "\u202fms"; }
  function perSecond(x) { return draw.significant(x) + "/s"; }
  // The share in time that a service should reach: what was agreed on, else its floor, else DEFAULT_TARGET.
  function targetOf(service) {
    return [service.agreed, service.floor, DEFAULT_TARGET].filter(function (x) { return !draw.isAbsent(x); })[0];
  }
  // The share in time of the fleet if every service just reached its target: their mean, weighted by requests.
  function targetOfAll(services) {
    var requests = 0, wanted = 0;
    (services || []).forEach(function (service) {
      var count = service.last_minute ? service.last_minute.requests : 0;
      requests += count;
      wanted += count * targetOf(service);
    });
    return requests > 0 ? wanted / requests : null;
  }
  // `lines`: the figures of a point, the first one in the caption. `target`: a line to stay at or above ("least"), or at or
  // below ("most"), or ("") a mark at the present. `top`: the end of the scale; absent: the largest value.
  function chartsOf(service, services) {
    var ofAll = targetOfAll(services), inTime = { title: "Answers in time", format: draw.percent, top: 1, lines: [["in_time", "in time"]] };
    var load = { title: "Requests", format: perSecond, isArea: true, lines: [["rate", "requests"]] };
    if (!service) {
      if (ofAll !== null) inTime.target = { value: ofAll, name: "targets", kind: "least" };
      return [inTime, load, { title: "SM-time", format: draw.percent, top: 1, isArea: true,
        lines: [["allocated", "allocated"], ["busy", "busy"], ["effective", "effective"]] }];
    }
    inTime.target = { value: targetOf(service), name: "target", kind: "least" };
    if (service.capacity > 0) load.target = { value: service.capacity, name: "capacity now", kind: "" };
    return [inTime, { title: "p99 latency", format: milliseconds, lines: [["p99", "p99"]],
      target: { value: service.latency_target_ms, name: "target", kind: "most" } }, load];
  }

  // ---- Drawing --------------------------------------------------------------------------------------------------------

  function redraw() {
    if (!wants) return;
    draw.hideTip();
    var first = points.length ? points[0].from : wants.now, begin = Math.max(wants.now - HOUR_MS, Math.min(first, wants.now - 60e3));
    var grid = d3.select("#charts").html("");
    lead(points.length === 0 ? "Nothing was recorded in the last hour." :
      begin > wants.now - HOUR_MS + 60e3 ? "Recorded for " + draw.duration(Math.round((wants.now - begin) / 60e3) * 60) + " so far." : "");
    chartsOf(wants.service, wants.services).forEach(function (chart) { drawChart(grid, chart, [begin, wants.now]); });
  }

  function maxOf(chart) {
    var most = d3.max(points, function (p) { return d3.max(chart.lines, function (line) { return p[line[0]]; }); }) || 0;
    if (!chart.target) return most;
    // An outlier must not flatten what lies around the target: beyond this it is cut off at the upper edge.
    return chart.target.kind === "most" ? Math.min(Math.max(most, chart.target.value * 1.25), chart.target.value * CLIP_FACTOR)
      : Math.max(most, chart.target.value);
  }
  // Percentiles are those of a histogram, which is coarser from minutes on.
  function isMissed(chart, value) {
    if (!chart.target || !chart.target.kind || draw.isAbsent(value)) return false;
    if (chart.target.kind === "least") return value < chart.target.value;
    return value > chart.target.value * (1 + (step < 60 ? FINE_ERROR : COARSE_ERROR));
  }
  // Points with gaps where nothing was recorded.
  function withGaps() {
    var list = [];
    points.forEach(function (p, i) {
      if (i > 0 && p.from > points[i - 1].to + 500) list.push(null);
      list.push(p);
    });
    return list;
  }

  function drawChart(grid, chart, span) {
    var main = chart.lines[0][0], known = points.filter(function (p) { return !draw.isAbsent(p[main]); });
    var last = known.length ? known[known.length - 1][main] : null, target = chart.target;
    var words = target ? target.name + " " + chart.format(target.value) : "";
    var fig = draw.figure(grid, chart.title, "", wants.service ? wants.service.number : undefined), aside = fig.select("figcaption > span");
    if (chart.lines.length > 1) putShares(aside, chart, known);
    else aside.append("span").attr("class", isMissed(chart, last) ? "missed" : "now").text(draw.isAbsent(last) ? draw.ABSENT : chart.format(last));
    if (words) aside.append("small").text(" \u00b7 " + words);
    var box = draw.frame(fig, 132, { left: 50, right: 6, top: 8, bottom: 18 }, labelOf(chart, known, words));
    var x = d3.scale.linear().domain(span).range([box.left, box.right]);
    var top = chart.top || maxOf(chart) * 1.08 || 1, y = d3.scale.linear().domain([0, top]).range([box.bottom, box.top]).clamp(true);
    drawAxes(box, x, y, chart, span);
    drawLost(box, x);
    chart.lines.forEach(function (line, i) { drawLine(box, x, y, chart, line[0], i); });
    if (target) drawTarget(box, y, target, words);
    addCursor(box, x, chart);
  }
  // The newest figures of several lines: "allocated 90 > busy 56 > effective 35 %".
  function putShares(aside, chart, known) {
    var last = known.length ? known[known.length - 1] : {};
    aside.append("small").text(chart.lines.map(function (line) {
      return line[1] + " " + (draw.isAbsent(last[line[0]]) ? draw.ABSENT : draw.percentShort(last[line[0]]));
    }).join(" \u203a ") + "\u202f%");
  }
  function labelOf(chart, known, words) {
    if (known.length === 0) return chart.title + ": nothing recorded";
    var range = d3.extent(known, function (p) { return p[chart.lines[0][0]]; });
    return chart.title + " in the last hour: from " + chart.format(range[0]) + " to " + chart.format(range[1]) + (words ? "; " + words : "");
  }
  function clockText(ms, seconds) { return new Date(ms).toISOString().slice(11, seconds ? 19 : 16); }

  function drawAxes(box, x, y, chart, span) {
    y.ticks(3).forEach(function (v) {
      box.svg.append("line").attr("class", "gridline").attr("x1", box.left).attr("x2", box.right).attr("y1", y(v)).attr("y2", y(v));
      box.svg.append("text").attr("x", box.left - 5).attr("y", y(v) + 4).attr("text-anchor", "end")
        .text(chart.format(v).replace(/\.0+(?=\D|$)/, ""));
    });
    var minutes = [1, 2, 5, 10, 15, 20].filter(function (m) { return (span[1] - span[0]) / (m * 60e3) <= 6.5; })[0] || 20;
    for (var t = Math.ceil(span[0] / (minutes * 60e3)) * minutes * 60e3; t <= span[1]; t += minutes * 60e3) {
      box.svg.append("line").attr("class", "axisline").attr("x1", x(t)).attr("x2", x(t)).attr("y1", box.bottom).attr("y2", box.bottom + 4);
      if (x(t) > box.left + 12 && x(t) < box.right - 12) {
        box.svg.append("text").attr("x", x(t)).attr("y", box.bottom + 15).attr("text-anchor", "middle").text(clockText(t));
      }
    }
  }
  // When GPUs were lost, behind the figures of the fleet.
  function drawLost(box, x) {
    points.forEach(function (p) {
      if (!(p.lost > 0)) return;
      var left = Math.max(box.left, x(p.from));
      box.svg.append("rect").attr("class", "lost-time").attr("x", left).attr("width", Math.max(1, x(p.to) - left))
        .attr("y", box.top).attr("height", box.bottom - box.top);
    });
  }
  function drawLine(box, x, y, chart, key, rank) {
    function middle(p) { return Math.max(box.left, Math.min(box.right, x((p.from + p.to) / 2))); }
    function has(p) { return p !== null && !draw.isAbsent(p[key]); }
    var list = withGaps();
    function area(low, high) {
      return d3.svg.area().defined(has).x(middle).y0(low).y1(high)(list);
    }
    var value = function (p) { return y(p[key]); };
    if (chart.isArea) box.svg.append("path").attr("class", chart.lines.length > 1 ? "layer f" + rank : "band").attr("d", area(box.bottom, value));
    if (chart.target && chart.target.kind) {
      var edge = y(chart.target.value), pick = chart.target.kind === "least" ? Math.max : Math.min;
      box.svg.append("path").attr("class", "short").attr("d", area(edge, function (p) { return pick(edge, value(p)); }));
    }
    if (chart.isArea && chart.lines.length > 1) return;
    box.svg.append("path").attr("class", "own").attr("d", d3.svg.line().defined(has).x(middle).y(value)(list));
    // A point between two gaps has no line.
    list.forEach(function (p, i) {
      if (!has(p) || (i > 0 && has(list[i - 1])) || (i + 1 < list.length && has(list[i + 1]))) return;
      box.svg.append("circle").attr("class", "lone").attr("cx", middle(p)).attr("cy", value(p)).attr("r", 1.5);
    });
  }
  function drawTarget(box, y, target, words) {
    // What holds only now is not drawn over the past.
    var at = y(target.value), left = target.kind ? box.left : box.right - NOW_WIDTH;
    box.svg.append("line").attr("class", "target").attr("x1", left).attr("x2", box.right).attr("y1", at).attr("y2", at)
      .append("title").text(words);
  }

  // ---- One point ------------------------------------------------------------------------------------------------------

  // The pointer, or the arrow keys, choose a point; the charts are not redrawn meanwhile.
  function addCursor(box, x, chart) {
    if (points.length === 0) return;
    var line = box.svg.append("line").attr("class", "cursor").attr("y1", box.top).attr("y2", box.bottom).attr("hidden", ""), chosen = null;
    function choose(index, at) {
      chosen = Math.max(0, Math.min(points.length - 1, index));
      var p = points[chosen], place = x((p.from + p.to) / 2);
      isHeld = true;
      line.attr("hidden", null).attr("x1", place).attr("x2", place);
      var rows = chart.lines.map(function (each) { return [each[1], draw.isAbsent(p[each[0]]) ? draw.ABSENT : chart.format(p[each[0]])]; });
      if (chart.target) rows.push([chart.target.name, chart.format(chart.target.value)]);
      if (p.lost > 0) rows.push(["GPUs lost", draw.whole(p.lost)]);
      draw.showTip(clockText(p.from, true) + " to " + clockText(p.to, true) + " UTC", rows, at);
    }
    function leave() { isHeld = false; chosen = null; line.attr("hidden", ""); draw.hideTip(); }
    function nearest(ms) {
      var i = d3.bisector(function (p) { return p.from; }).right(points, ms) - 1;
      return Math.max(0, i);
    }
    box.svg.attr("tabindex", 0).on("focus", function () { isHeld = true; }).on("mousemove", function () {
      var frame = box.svg.node().getBoundingClientRect();
      choose(nearest(x.invert((d3.event.clientX - frame.left) * box.width / frame.width)));
    }).on("mouseleave", function () { leave(); box.svg.node().blur(); }).on("blur", leave).on("keydown", function () {
      var move = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[d3.event.key];
      if (move === undefined) return;
      d3.event.preventDefault();
      var frame = box.svg.node().getBoundingClientRect();
      choose((chosen === null ? points.length - 1 : chosen + move), { x: frame.left, y: frame.bottom - 14 });
    });
  }

  return { show: show, redraw: function () { if (!isHeld) redraw(); } };
};
