// Draws the report from the JSON in #figures with d3 (version 3) and BerthDraw. Everything that comes from the scenario enters the page as
// text, never as markup.
(function () {
  "use strict";
  var root = document.documentElement;
  window.onerror = function (message) { root.setAttribute("data-error", String(message)); };

  var shared = BerthDraw, ABSENT = shared.ABSENT, isAbsent = shared.isAbsent, fixed = shared.fixed, whole = shared.whole, ratio = shared.ratio,
    percent = shared.percent, percentShort = shared.percentShort, significant = shared.significant, dollars = shared.dollars,
    clock = shared.clock, duration = shared.duration, plural = shared.plural, mean = shared.mean, fillOf = shared.fillOf,
    patternOf = shared.patternOf, definePatterns = shared.definePatterns, swatch = shared.swatch, tip = shared.tip,
    showTip = shared.showTip, hideTip = shared.hideTip, barCell = shared.barCell, plainCell = shared.plainCell,
    funnelCell = shared.funnelCell, headRow = shared.headRow, cells = shared.cells, figure = shared.figure, frame = shared.frame,
    drawSlice = shared.drawSlice, drawName = shared.drawName;

  var page = JSON.parse(document.getElementById("figures").textContent);
  var ran = page.policies.filter(function (p) { return !p.infeasible; });

  // ---- The head and the table of policies ---------------------------------------------------------------------------

  function tenantOf(service) { return page.services[service].tenant; }

  function boundText(bound) {
    var text = "goodput " + bound.any.toFixed(3);
    return bound.unshared < bound.any ? text + " (" + bound.unshared.toFixed(3) + " with services kept apart)" : text;
  }

  function drawFacts() {
    var list = d3.select("#facts");
    function fact(term, text) {
      var item = list.append("div");
      item.append("dt").text(term);
      item.append("dd").text(text);
    }
    var shown = page.fleet.slice(0, 4).map(function (entry) { return whole(entry.count) + " \u00d7 " + entry.gpu; });
    if (page.fleet.length > shown.length) shown.push((page.fleet.length - shown.length) + " more");
    fact("Scenario", page.scenario);
    fact("Fleet", shown.join(", "));
    fact("Services", plural(page.services.length, "service") + " of " + plural(page.tenants.length, "tenant"));
    fact("Simulated", duration(page.seconds));
    if (ran.length) fact("Requests", whole(ran[0].figures.requests));
    fact("The fleet costs", isAbsent(page.fleet_cost) ? "not known: no price" : dollars(page.fleet_cost));
    if (page.bound && !isAbsent(page.bound.any)) fact("No policy can exceed", boundText(page.bound));
    fact("Seed", String(page.seed));
  }

  function objectiveOf(policy) { return page.objective === "services" ? policy.figures.mean : policy.figures.goodput; }
  // The highest goodput of the policies that could run live.
  function bestOf() {
    return ran.reduce(function (best, p) {
      return p.hindsight || isAbsent(objectiveOf(p)) || (best && objectiveOf(best) >= objectiveOf(p)) ? best : p;
    }, null);
  }

  var COLUMNS = {
    mean: ["Goodput", "mean of services", barCell(ratio), function (f) { return f.mean; }],
    all: ["Goodput", "", barCell(ratio), function (f) { return f.goodput; }],
    allRequests: ["Goodput", "all requests", plainCell(ratio), function (f) { return f.goodput; }],
    worst: ["Worst", "service", plainCell(ratio), function (f) { return f.worst; }],
    attainment: ["In time", "of requests", barCell(percent), function (f) { return f.attainment; }],
    requests: ["Requests", "", plainCell(whole), function (f) { return f.requests; }],
    inTime: ["In time", "requests", plainCell(whole), function (f) { return f.in_time; }],
    late: ["Late", "", plainCell(whole), function (f) { return f.late; }],
    dropped: ["Dropped", "", plainCell(whole), function (f) { return f.dropped; }],
    accuracy: ["Accuracy", "in time", plainCell(ratio), function (f) { return f.accuracy; }],
    p50: ["p50", "ms", plainCell(significant), function (f) { return f.p50; }],
    p99: ["p99", "ms", plainCell(significant), function (f) { return f.p99; }],
    hours: ["GPU-hours", "", plainCell(significant), function (f) { return f.gpu_seconds / 3600; }],
    cost: ["Cost", "", plainCell(dollars), function (f) { return f.cost; }],
    million: ["Cost", "per million in time", plainCell(dollars), function (f) { return f.cost_per_million; }],
    funnel: ["SM-time", "allocated \u203a busy \u203a effective", funnelCell, function (f) { return f; }],
    changes: ["Changes", "", plainCell(whole), function (f) { return f.changes; }]
  };
  function drawPolicies() {
    var columns = ["mean", "allRequests", "worst", "attainment", "p50", "p99", "hours", "cost", "million", "funnel", "changes"]
      .map(function (name) { return COLUMNS[name]; });
    var table = d3.select("#policies"), best = bestOf();
    table.append("caption").attr("class", "absent").style("display", "none").text("Figures of each policy");
    headRow(table, "Policy", columns);
    var body = table.append("tbody");
    page.policies.forEach(function (policy) {
      var row = body.append("tr").attr("data-policy", policy.name).classed("best", policy === best);
      var head = row.append("th").attr("scope", "row").text(policy.name);
      if (policy.hindsight) head.append("small").attr("title", "works in hindsight").text("\u202f*");
      if (policy.infeasible) {
        row.append("td").attr("class", "infeasible").attr("colspan", columns.length).text("cannot run: " + policy.infeasible);
      } else {
        cells(row, columns, policy.figures);
      }
    });
    drawNotes();
  }

  function drawNotes() {
    var notes = d3.select("#policy-notes");
    function note(text) { notes.append("p").text(text); }
    if (page.policies.some(function (p) { return p.hindsight; })) note("* works in hindsight: it knows the whole trace beforehand.");
    page.policies.forEach(function (p) { if (p.how) note(p.name + ": " + p.how); });
    grouped(function (p) { return p.ignores; }).forEach(function (g) { note("Not obeyed by " + g.names + ": " + g.text); });
    grouped(function (p) { return p.notes; }).forEach(function (g) { note(g.names + ": " + g.text); });
  }
  // One line for a remark that several policies share.
  function grouped(listOf) {
    var groups = d3.map();
    page.policies.forEach(function (p) {
      var text = listOf(p).join(", ");
      if (text) groups.set(text, (groups.get(text) || []).concat(p.name));
    });
    return groups.entries().map(function (e) { return { names: e.value.join(", "), text: e.key }; });
  }

  // ---- Goodput against the bound ------------------------------------------------------------------------------------

  function drawBound() {
    var reported = ran.filter(function (p) { return p.bound && !isAbsent(objectiveOf(p)); }), bound = page.bound;
    if (!bound || isAbsent(bound.any) || reported.length === 0) return;
    d3.select("#against-bound").attr("hidden", null);
    var apart = !isAbsent(bound.unshared) && bound.any - bound.unshared >= 0.0005;
    d3.select("#bound-lead").text("No policy can exceed " + ratio(bound.any) + " on these arrivals (line)" +
      (apart ? "; none that gives each slice to one service at a time can exceed " + ratio(bound.unshared) + " (dashed line)" : "") +
      ". Over the whole run, " + (page.objective === "services" ? "mean of services." : "over all requests."));
    var least = d3.min(reported, objectiveOf), low = Math.max(0, Math.floor((least - 0.25 * (bound.any - least) - 0.005) * 20) / 20);
    var list = d3.select("#bound").html(""), lines = (apart ? [bound.unshared] : []).concat(bound.any);
    function track(row, height) {
      var width = Math.max(160, Math.floor(row.node().clientWidth) || 160);
      var svg = row.append("svg").attr("viewBox", "0 0 " + width + " " + height).attr("aria-hidden", "true");
      width = Math.max(160, Math.floor(svg.node().getBoundingClientRect().width) || width);
      svg.attr("viewBox", "0 0 " + width + " " + height);
      return { svg: svg, x: d3.scale.linear().domain([low, bound.any]).range([8, width - 16]) };
    }
    function line(svg, name, x1, x2, y1, y2) {
      svg.append("line").attr("class", name).attr("x1", x1).attr("x2", x2).attr("y1", y1).attr("y2", y2);
    }
    reported.forEach(function (policy) {
      var value = objectiveOf(policy), row = list.append("div").attr("class", "reach").attr("data-reach", policy.name).classed("best", policy === bestOf());
      row.append("b").text(policy.name + (policy.hindsight ? " *" : ""));
      row.append("span").attr("class", "value").text(ratio(value));
      var box = track(row, 26), limit = policy.shares || !apart ? bound.any : bound.unshared;
      line(box.svg, "reached", box.x(low), box.x(value), 13, 13);
      if (limit > value) line(box.svg, "missing", box.x(value), box.x(limit), 13, 13);
      lines.forEach(function (at, i) { line(box.svg, "limit" + (apart && i === 0 ? " unshared" : ""), box.x(at), box.x(at), 0, 26); });
      box.svg.append("circle").attr("cx", box.x(value)).attr("cy", 13).attr("r", 5);
      row.append("span").attr("class", "words").text(policy.bound);
    });
    var axis = list.append("div").attr("class", "reach axis");
    axis.append("b"); axis.append("span").attr("class", "value");
    var box = track(axis, 18);
    box.x.ticks(5).forEach(function (v, i) {
      line(box.svg, "tick", box.x(v), box.x(v), 0, 4);
      box.svg.append("text").attr("x", box.x(v)).attr("y", 15).attr("text-anchor", i === 0 ? "start" : "middle").text(fixed(v, 2));
    });
    axis.append("span").attr("class", "words");
  }

  // ---- Charts -------------------------------------------------------------------------------------------------------

  function timeScale(box) { return d3.scale.linear().domain([0, page.seconds]).range([box.left, box.right]); }
  function timeTicks(count) {
    var steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
    var step = steps.filter(function (s) { return page.seconds / s <= count; })[0] || Math.ceil(page.seconds / count / 86400) * 86400;
    return d3.range(0, page.seconds + 1e-9, step);
  }
  function timeAxis(box, x) {
    timeTicks(Math.max(3, Math.floor(box.width / 85))).forEach(function (t) {
      box.svg.append("line").attr("class", "tick").attr("x1", x(t)).attr("x2", x(t)).attr("y1", box.bottom).attr("y2", box.bottom + 3);
      var end = x(t) > box.right - 14;
      box.svg.append("text").attr("x", end ? box.right : x(t)).attr("y", box.bottom + 14)
        .attr("text-anchor", end ? "end" : t === 0 ? "start" : "middle").text(clock(t));
    });
  }
  function valueAxis(box, y, values, format) {
    values.forEach(function (v) {
      box.svg.append("line").attr("class", "gridline").attr("x1", box.left).attr("x2", box.right).attr("y1", y(v)).attr("y2", y(v));
      box.svg.append("text").attr("x", box.left - 6).attr("y", y(v) + 4).attr("text-anchor", "end").text(format(v));
    });
  }
  // Calls `show(bin)` for the bin under the pointer, with a dashed line there.
  function hover(box, x, bins, show) {
    var cursor = box.svg.append("line").attr("class", "cursor").attr("y1", box.top).attr("y2", box.bottom).style("display", "none");
    box.svg.on("mousemove", function () {
      var at = x.invert(d3.mouse(box.svg.node())[0]);
      var bin = Math.max(0, Math.min(bins - 1, Math.floor(at / page.bin_seconds)));
      cursor.attr("x1", x((bin + 0.5) * page.bin_seconds)).attr("x2", x((bin + 0.5) * page.bin_seconds)).style("display", null);
      show(bin);
    }).on("mouseleave", function () { cursor.style("display", "none"); hideTip(); });
  }
  function binTime(bin) { return clock(bin * page.bin_seconds) + " to " + clock(Math.min(page.seconds, (bin + 1) * page.bin_seconds)); }

  // Averages neighbouring bins until there are fewer points than pixels: 600 bins stay readable in a small panel.
  function thinned(list, count) {
    var step = Math.max(1, Math.ceil(list.length / count));
    return d3.range(0, list.length, step).map(function (i) {
      return { t: (i + Math.min(step, list.length - i) / 2) * page.bin_seconds, v: mean(list.slice(i, i + step)) };
    });
  }

  function drawGoodput() {
    var over = page.objective === "services" ? "mean of services" : "over all requests", best = bestOf();
    d3.select("#goodput-lead").text("Of the requests that arrived at each moment, " + over + ". Each panel shows one policy; the others are grey in the background.");
    var grid = d3.select("#goodput").html("");
    ran.forEach(function (policy) {
      var value = objectiveOf(policy);
      var fig = figure(grid, policy.name + (policy.hindsight ? " *" : ""), isAbsent(value) ? ABSENT : ratio(value)).classed("best", policy === best);
      var box = frame(fig, 150, { left: 30, right: 6, top: 8, bottom: 20 }, "Goodput of " + policy.name + " over time, " + over + ": " + (isAbsent(value) ? "no figure" : ratio(value)));
      var x = timeScale(box), y = d3.scale.linear().domain([0, 1]).range([box.bottom, box.top]);
      var points = Math.floor((box.right - box.left) / 3);
      valueAxis(box, y, [0, 0.5, 1], function (v) { return v === 0.5 ? "0.5" : String(v); });
      timeAxis(box, x);
      var line = d3.svg.line().defined(function (d) { return !isAbsent(d.v); }).x(function (d) { return x(d.t); }).y(function (d) { return y(d.v); });
      ran.filter(function (other) { return other !== policy; }).concat([policy]).forEach(function (other) {
        box.svg.append("path").attr("class", other === policy ? "own" : "other").attr("d", line(thinned(other.timeline.goodput, points)));
      });
      hover(box, x, policy.timeline.goodput.length, function (bin) {
        showTip(binTime(bin), ran.map(function (p) {
          var v = p.timeline.goodput[bin];
          return [p.name, isAbsent(v) ? "no requests" : ratio(v)];
        }));
      });
    });
  }

  function drawLoad(policy) {
    var count = policy.timeline.capacity.length;
    d3.select("#load-lead").text("Requests per second that arrive (filled, the tenant's colour) and that the slices serving them can process (line)." +
      " Red: arrivals above the capacity." + (count < page.services.length ? " The first " + count + " of " + page.services.length + " services are shown." : ""));
    var grid = d3.select("#load").html("");
    policy.timeline.capacity.forEach(function (capacity, i) { drawServiceLoad(grid, policy, i, capacity); });
  }

  function drawServiceLoad(grid, policy, i, capacity) {
    var service = page.services[i], figures = policy.services[i], arrivals = service.arrivals;
    var aside = "goodput " + (isAbsent(figures.goodput) ? ABSENT : ratio(figures.goodput)) + " \u00b7 p99 " +
      (isAbsent(figures.p99) ? ABSENT : significant(figures.p99)) + " of " + significant(service.target_ms) + " ms";
    var fig = figure(grid, service.name, aside, service.tenant);
    var box = frame(fig, 168, { left: 42, right: 6, top: 16, bottom: 20 }, "Arrivals and capacity of " + service.name + " under " + policy.name + ", " + aside);
    var peak = d3.max(arrivals) || 1, most = d3.max(capacity) || 0;
    var top = Math.max(peak, Math.min(most, peak * 2)) * 1.05;
    var x = timeScale(box), y = d3.scale.linear().domain([0, top]).range([box.bottom, box.top]).clamp(true);
    valueAxis(box, y, y.ticks(3), function (v) { return v >= 10000 ? d3.format("s")(v) : significant(v).replace(/\.0+$/, ""); });
    timeAxis(box, x);
    var bins = d3.range(arrivals.length);
    function areaOf(low, high) {
      return d3.svg.area().interpolate("step-after").x(function (b) { return x(Math.min(page.seconds, b * page.bin_seconds)); })
        .y0(function (b) { return y(low(b)); }).y1(function (b) { return y(high(b)); })(bins.concat(bins.length));
    }
    function at(list, b) { return list[Math.min(b, list.length - 1)] || 0; }
    box.svg.append("path").attr("class", "arrivals").style("fill", fillOf(service.tenant))
      .attr("d", areaOf(function () { return 0; }, function (b) { return Math.min(at(arrivals, b), at(capacity, b)); }));
    box.svg.append("path").attr("class", "short")
      .attr("d", areaOf(function (b) { return Math.min(at(arrivals, b), at(capacity, b)); }, function (b) { return at(arrivals, b); }));
    box.svg.append("path").attr("class", "capacity").attr("d", d3.svg.line().interpolate("step-after")
      .x(function (b) { return x(Math.min(page.seconds, b * page.bin_seconds)); }).y(function (b) { return y(at(capacity, b)); })(bins.concat(bins.length)));
    if (most > top) {
      box.svg.append("text").attr("class", "above").attr("x", box.right).attr("y", 11).attr("text-anchor", "end")
        .text("capacity up to " + whole(most) + "/s, above the scale");
    }
    hover(box, x, arrivals.length, function (bin) {
      var goodput = policy.timeline.service_goodput[i][bin];
      showTip(binTime(bin), [["arrivals", significant(arrivals[bin]) + "/s"], ["capacity", significant(capacity[bin]) + "/s"],
        ["goodput", isAbsent(goodput) ? "no requests" : ratio(goodput)]]);
    });
  }

  // ---- Layout strips ------------------------------------------------------------------------------------------------

  function drawLegend(policy) {
    var list = d3.select("#legend").html("");
    function entry(text, fill, overlay) {
      var item = list.append("li");
      swatch(item, fill, overlay);
      item.append("span").text(text);
    }
    page.tenants.slice(0, 40).forEach(function (name, i) { entry(name, fillOf(i), patternOf(i)); });
    if (page.tenants.length > 40) list.append("li").text("and " + (page.tenants.length - 40) + " more tenants");
    function has(state) { return policy.timeline.spans.some(function (s) { return s[4] === state; }); }
    if (has("retraining")) entry("retraining", "var(--muted)", "url(#hatch)");
    if (policy.timeline.spans.some(function (s) { return s[4] === "idle" && s[5].length > 0; })) {
      entry("owned, idle", "color-mix(in srgb, var(--muted) 35%, var(--card))");
    }
    if (has("changing")) entry("changing", "var(--changing)");
    entry("free", "var(--idle)");
  }

  function drawStrips(policy) {
    var lead = "Vertical: placement units of the GPU, as the driver counts them. Horizontal: time. Each rectangle is a slice at its place.";
    if (policy.timeline.spans.some(function (s) { return s[5].length > 1; })) lead += " A shared one has a lane for each service on it.";
    if (page.gpu_count > page.gpus.length) lead += " The first " + page.gpus.length + " of " + whole(page.gpu_count) + " GPUs are shown.";
    if (policy.decisions.shown.length) lead += " Triangles: decisions; point at one, or step through them with the arrow keys; click or Enter shows it in the list below.";
    if (policy.timeline.spans_cut) lead += " There were more changes than are drawn here: the strips are incomplete.";
    d3.select("#layout-lead").text(lead);
    drawLegend(policy);
    var byGpu = d3.nest().key(function (s) { return s[0]; }).map(policy.timeline.spans, d3.map);
    var grid = d3.select("#strips").html("");
    page.gpus.forEach(function (gpu, index) { drawStrip(grid, policy, gpu, index, byGpu.get(index) || []); });
  }

  function drawStrip(grid, policy, gpu, index, spans) {
    var slices = d3.set(spans.map(function (s) { return s[1] + " " + s[3]; })).size();
    var fig = figure(grid, gpuName(index), gpu.model + (spans.length ? "" : " \u00b7 unused"));
    var unit = gpu.units === 1 ? 90 : page.gpus.length > 8 ? 12 : 18;
    var box = frame(fig, gpu.units * unit + 35, { left: gpu.units === 1 ? 4 : 20, right: 4, top: 13, bottom: 22 },
      "Layout of " + gpuName(index) + " (" + gpu.model + ") under " + policy.name + ": " + plural(slices, "slice"));
    box.svg.attr("data-gpu", index);
    var x = timeScale(box), y = d3.scale.linear().domain([0, gpu.units]).range([box.bottom, box.top]);
    box.svg.append("rect").attr("class", "lane").attr("x", box.left).attr("y", box.top)
      .attr("width", box.right - box.left).attr("height", box.bottom - box.top);
    if (gpu.units > 1) d3.range(gpu.units).forEach(function (u) {
      box.svg.append("line").attr("class", "axisline").attr("x1", box.left).attr("x2", box.right).attr("y1", y(u)).attr("y2", y(u));
      box.svg.append("text").attr("x", box.left - 6).attr("y", y(u + 0.5) + 4).attr("text-anchor", "end").text(u);
    });
    timeAxis(box, x);
    var decisions = policy.decisions.shown.map(function (d, i) { return { at: d[1], nth: i, gpu: d[0], it: d }; })
      .filter(function (d) { return d.gpu === index; });
    spans.forEach(function (span) { drawSpan(box, x, y, span, decisions); });
    drawLabels(box, x, y, spans);
    drawMarks(box, x, decisions);
  }

  // Decisions that are too close to be distinguished share a triangle.
  function drawMarks(box, x, decisions) {
    var marks = [], chosen = -1;
    decisions.forEach(function (d) {
      var left = Math.min(x(d.at), box.right - 1), last = marks[marks.length - 1];
      if (last && left - last.x < 7) last.of.push(d); else marks.push({ x: left, of: [d] });
    });
    if (marks.length === 0) return;
    var drawn = box.svg.selectAll(".mark").data(marks).enter().append("path").attr("class", "mark")
      .attr("d", function (m) { return "M" + (m.x - 4) + " 3h8l-4 8z"; })
      .on("mousemove", function (m) { tipOfMark(m); }).on("mouseleave", hideTip)
      .on("click", function (m) { hideTip(); showDecision(m.of[0].nth); });
    function choose(nth) {
      chosen = Math.max(0, Math.min(marks.length - 1, nth));
      drawn.classed("held", function (m, i) { return i === chosen; });
      var place = drawn[0][chosen].getBoundingClientRect();
      tipOfMark(marks[chosen], { x: place.left, y: place.bottom });
      tip.attr("aria-live", "polite");
    }
    box.svg.attr("tabindex", 0).attr("role", "group")
      .attr("aria-label", box.svg.attr("aria-label") + ", " + plural(decisions.length, "decision") + ": arrow keys step through them")
      .on("keydown", function () {
        var key = d3.event.key, to = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: marks.length - 1 }[key];
        if (to !== undefined) {
          choose(to);
        } else if (key === "Escape") {
          hideTip();
        } else if (key === "Enter" && chosen >= 0) {
          hideTip();
          showDecision(marks[chosen].of[0].nth);
        } else {
          return;
        }
        d3.event.preventDefault();
      }).on("blur", function () { hideTip(); chosen = -1; drawn.classed("held", false); });
  }
  function tipOfMark(mark, at) {
    var rows = [], reported = mark.of.slice(0, 3);
    reported.forEach(function (d) {
      rows.push([clock(d.at), stepsText(d.it[4], 6)], ["why", d.it[2]]);
      if (d.it[3].length) rows.push(["", numbersText(d.it[3])]);
    });
    if (mark.of.length > reported.length) rows.push(["", "and " + (mark.of.length - reported.length) + " more: see the list below"]);
    showTip(plural(mark.of.length, "decision"), rows, at);
  }

  // A shared slice is drawn as one lane for each service on it.
  function drawSpan(box, x, y, span, decisions) {
    var left = x(span[6]), width = Math.max(0.6, x(span[7]) - left), top = y(span[1] + span[2]), height = y(span[1]) - top;
    var state = span[4], services = state === "changing" || span[5].length === 0 ? [null] : span[5], lane = height / services.length;
    services.forEach(function (service, i) {
      drawSlice(box.svg, { left: left, top: top + i * lane, width: width, height: lane },
        { owner: service === null ? null : tenantOf(service), state: state })
        .on("mousemove", function () { tipOfSpan(span, decisions); }).on("mouseleave", hideTip);
    });
  }
  // The last decision about the slice before its span begins.
  function reasonOf(span, decisions) {
    for (var i = decisions.length - 1; i >= 0; i--) {
      if (decisions[i].at > span[6] + 1e-6) continue;
      if (decisions[i].it[4].some(function (step) { return step[1] === span[3] && step[2] === span[1]; })) return decisions[i];
    }
    return null;
  }
  function tipOfSpan(span, decisions) {
    var why = reasonOf(span, decisions);
    var names = span[5].map(function (s) { return page.services[s].name; });
    var units = span[2] === 1 ? "unit " + span[1] : "units " + span[1] + " to " + (span[1] + span[2] - 1);
    showTip(names.join(", ") || "unowned", [["slice", span[3] + " at " + span[1] + ", " + units],
      ["tenant", d3.set(span[5].map(function (s) { return page.tenants[tenantOf(s)]; })).values().join(", ") || ABSENT],
      ["state", span[4]], ["from", clock(span[6])], ["to", clock(span[7])], ["lasts", duration(Math.round(span[7] - span[6])) ]]
      .concat(why ? [["decided", clock(why.at)], ["why", why.it[2]]] : []));
  }

  // The name of a holder is written in its rectangles where there is room: the widest ones first, at some distance.
  function drawLabels(box, x, y, spans) {
    var placed = {}, apart = 260;
    function widthOf(span) { return x(span[7]) - x(span[6]); }
    spans.slice().sort(function (a, b) { return d3.descending(widthOf(a), widthOf(b)) || d3.ascending(a[6], b[6]); }).forEach(function (span) {
      if (span[4] === "changing" || span[5].length === 0) return;
      var height = (y(span[1]) - y(span[1] + span[2])) / span[5].length, left = x(span[6]);
      var key = span[1] + " " + span[3] + " " + span[5].join(), near = placed[key] = placed[key] || [];
      if (height < 11 || near.some(function (other) { return Math.abs(other - left) < apart; })) return;
      span[5].forEach(function (service, i) {
        if (drawLabel(box, span, service, left + 6, y(span[1] + span[2]) + (i + 0.5) * height + 4, widthOf(span) - 10)) near.push(left);
      });
    });
  }
  function drawLabel(box, span, service, left, middle, width) {
    return drawName(box.svg, { left: left, middle: middle, width: width },
      { owner: tenantOf(service), state: span[4], name: page.services[service].name, more: span[3] });
  }

  // ---- Decisions and their reasons ----------------------------------------------------------------------------------

  var ROWS_AT_FIRST = 12, ROWS_MORE = 50;
  var list = { policy: null, rows: [], shown: 0 };

  function stepText(step) {
    var slice = step[1] + " at " + step[2], names = step[3].map(function (s) { return page.services[s].name; }).join(", ");
    var how = step[4] ? " (" + step[4] + ")" : "";
    if (step[0] === "destroy") return "destroys " + slice;
    if (step[0] === "create") return "creates " + slice + (names ? " for " + names + how : "");
    return names ? "gives " + slice + " to " + names + how : "takes " + slice + " from its holder";
  }
  function stepsText(steps, most) {
    var text = steps.slice(0, most).map(stepText).join("; ");
    return steps.length > most ? text + "; and " + plural(steps.length - most, "step") + " more" : text;
  }
  function numbersText(numbers) {
    return numbers.map(function (n) {
      return n[0].replace(/_/g, " ") + " " + (Math.abs(n[1]) >= 0.001 || n[1] === 0 ? significant(n[1]).replace(/\.0+$/, "") : n[1].toExponential(1));
    }).join(" \u00b7 ");
  }

  // Decisions at second 0 with the same reason are one row, for any number of GPUs.
  function rowsOf(policy, gpu) {
    var rows = [], first = d3.map();
    policy.decisions.shown.forEach(function (d, nth) {
      if (gpu !== null && d[0] !== gpu) return;
      var row = d[1] === 0 ? first.get(d[2]) : undefined;
      if (row) {
        row.of.push(nth);
      } else {
        row = { of: [nth], it: d };
        if (d[1] === 0) first.set(d[2], row);
        rows.push(row);
      }
    });
    return rows;
  }
  function gpuName(index) { return "gpu-" + index; }
  function gpusText(gpus) {
    var first = gpus[0], last = gpus[gpus.length - 1];
    if (first === last) return gpuName(first);
    return last - first === gpus.length - 1 ? gpuName(first) + " to " + gpuName(last) : gpus.slice(0, 6).map(gpuName).join(", ") + (gpus.length > 6 ? ", \u2026" : "");
  }
  function drawRow(body, row) {
    var d = row.it, line = body.append("tr").attr("data-decision", row.of[0]).attr("tabindex", -1), count = row.of.length;
    function cell(label, text) { return line.append("td").attr("data-label", label).append("span").text(text); }
    cell("When", clock(d[1]));
    cell("GPU", gpusText(row.of.map(function (nth) { return list.policy.decisions.shown[nth][0]; })));
    cell("What", count > 1 ? plural(d3.sum(row.of, function (nth) { return list.policy.decisions.shown[nth][4].length; }), "step") +
      ", such as: " + stepsText(d[4].slice(0, 2), 2) : stepsText(d[4], 16));
    var why = cell("Why", d[2]);
    if (d[3].length) why.append("small").text(numbersText(d[3]));
  }
  function showRows(until) {
    var body = d3.select("#decisions tbody");
    for (; list.shown < Math.min(until, list.rows.length); list.shown++) drawRow(body, list.rows[list.shown]);
    var left = list.rows.length - list.shown;
    d3.select("#decisions-more").attr("hidden", left > 0 ? null : "")
      .text(left > ROWS_MORE ? "Show " + ROWS_MORE + " more of " + whole(left) : "Show the other " + whole(left));
  }
  function listDecisions(policy, gpu) {
    list = { policy: policy, rows: rowsOf(policy, gpu), shown: 0 };
    var table = d3.select("#decisions").html(""), head = table.append("thead").append("tr");
    ["When", "GPU", "What", "Why"].forEach(function (name) { head.append("th").attr("scope", "col").text(name); });
    table.append("tbody");
    showRows(ROWS_AT_FIRST);
  }
  function drawDecisions(policy) {
    var decisions = policy.decisions, count = decisions.shown.length;
    d3.select("#deciding").attr("hidden", count ? null : "");
    d3.select("#decisions-lead").text("What " + policy.name + " did to each GPU, in order of time, with the reason of each action." +
      (decisions.count > count ? " The first " + whole(count) + " of " + whole(decisions.count) + ", of the GPUs above, are shown." : ""));
    var select = d3.select("#decisions-gpu").html("");
    select.append("option").attr("value", "").text("all");
    d3.set(decisions.shown.map(function (d) { return d[0]; })).values().map(Number).sort(d3.ascending).forEach(function (gpu) {
      select.append("option").attr("value", gpu).text(gpuName(gpu));
    });
    d3.select("#decisions-of").attr("hidden", page.gpus.length > 1 ? null : "");
    select.on("change", function () { listDecisions(policy, this.value === "" ? null : Number(this.value)); });
    listDecisions(policy, null);
  }
  // Scrolls the list to one decision of the strips.
  function showDecision(nth) {
    function at() {
      for (var i = 0; i < list.rows.length; i++) if (list.rows[i].of.indexOf(nth) >= 0) return i;
      return -1;
    }
    if (at() < 0) {
      d3.select("#decisions-gpu").property("value", "");
      listDecisions(list.policy, null);
    }
    var row = at();
    showRows(row + 6);
    d3.selectAll("#decisions tr").classed("held", false);
    var node = d3.selectAll("#decisions tbody tr")[0][row];
    d3.select(node).classed("held", true);
    node.scrollIntoView({ block: "center" });
    node.focus({ preventScroll: true });
  }

  // ---- Forecast against arrivals ------------------------------------------------------------------------------------

  function drawForecasts(policy) {
    var forecast = policy.forecast;
    d3.select("#forecasting").attr("hidden", forecast ? null : "");
    if (!forecast) return;
    var select = d3.select("#lead"), chosen = select.property("value") || "0";
    select.html("").on("change", function () { drawLead(policy, forecast.leads[this.value] || forecast.leads[0]); });
    forecast.leads.forEach(function (lead, i) {
      select.append("option").attr("value", i)
        .text(lead.seconds === 0 ? "by the last plan before each second" : "at least " + duration(lead.seconds) + " before each second");
    });
    select.property("value", forecast.leads[chosen] ? chosen : "0");
    drawLead(policy, forecast.leads[select.property("value")]);
  }
  function drawLead(policy, lead) {
    var share = Math.round(policy.forecast.share * 100) + "\u202f%", count = lead.services.length, bin = page.bin_seconds;
    d3.select("#forecast-lead").text("Requests per second: what " + policy.name + " expected (band: " + share + " of the probability; bold line: median) and what arrived (thin line)." +
      (bin > 1 ? " Drawn as means of " + duration(bin) + ", which scatter less than single seconds do; the shares next to the names are of single seconds." : "") +
      (count < page.services.length ? " The first " + count + " of " + page.services.length + " services are shown." : ""));
    var grid = d3.select("#forecast").html("");
    lead.services.forEach(function (service, i) { drawForecast(grid, policy, i, service, share); });
  }
  function drawForecast(grid, policy, i, forecast, share) {
    var service = page.services[i], arrivals = service.arrivals || [];
    var aside = isAbsent(forecast.inside) ? "not forecast"
      : percentShort(forecast.inside) + "\u202f% of seconds in the band" + (isAbsent(forecast.wape) ? "" : " \u00b7 median off by " + percent(forecast.wape));
    var fig = figure(grid, service.name, aside, service.tenant).attr("data-forecast", i);
    var box = frame(fig, 168, { left: 42, right: 6, top: 16, bottom: 20 }, "Forecast and arrivals of " + service.name + " under " + policy.name + ", " + aside);
    var points = Math.floor((box.right - box.left) / 1.5), peak = Math.max(d3.max(arrivals) || 1, 1);
    var top = Math.max(peak, Math.min(d3.max(forecast.high) || 0, 3 * peak)) * 1.05;
    var x = timeScale(box), y = d3.scale.linear().domain([0, top]).range([box.bottom, box.top]).clamp(true);
    valueAxis(box, y, y.ticks(3), function (v) { return v >= 10000 ? d3.format("s")(v) : significant(v).replace(/\.0+$/, ""); });
    timeAxis(box, x);
    function line(values) {
      return d3.svg.line().defined(function (d) { return !isAbsent(d.v); }).x(function (d) { return x(d.t); }).y(function (d) { return y(d.v); })(thinned(values, points));
    }
    var low = thinned(forecast.low, points), high = thinned(forecast.high, points);
    box.svg.append("path").attr("class", "band").attr("d", d3.svg.area().defined(function (d) { return !isAbsent(d.v); })
      .x(function (d) { return x(d.t); }).y0(function (d) { return y(d.v); }).y1(function (d, n) { return y(high[n].v); })(low));
    if ((d3.max(forecast.high) || 0) > top) {
      box.svg.append("text").attr("class", "above").attr("x", box.right).attr("y", 11).attr("text-anchor", "end")
        .text("band up to " + whole(d3.max(forecast.high)) + "/s, above the scale");
    }
    box.svg.append("path").attr("class", "arrived").attr("d", line(arrivals));
    box.svg.append("path").attr("class", "median").attr("d", line(forecast.median));
    hover(box, x, arrivals.length, function (bin) {
      var median = forecast.median[bin];
      showTip(binTime(bin), [["arrived", significant(arrivals[bin]) + "/s"]].concat(isAbsent(median) ? [["expected", "not forecast"]]
        : [["expected", significant(median) + "/s"], [share + " band", significant(forecast.low[bin]) + " to " + significant(forecast.high[bin]) + "/s"]]));
    });
  }

  // ---- One policy ---------------------------------------------------------------------------------------------------

  function drawServices(policy) {
    d3.select("#services-lead").text("Each service under " + policy.name + ".");
    var columns = ["all", "attainment", "requests", "inTime", "late", "dropped", "accuracy", "p50", "p99", "hours", "cost"]
      .map(function (name) { return COLUMNS[name]; });
    var table = d3.select("#services").html("");
    headRow(table, "Service", columns);
    var body = table.append("tbody");
    policy.services.forEach(function (figures, i) {
      var row = body.append("tr"), head = row.append("th").attr("scope", "row");
      head.append("span").text(page.services[i].name + " ");
      head.append("small").text(page.tenants[tenantOf(i)] + ", " + significant(page.services[i].target_ms) + " ms");
      cells(row, columns, figures);
    });
  }

  function drawChoice(policy) {
    d3.select("#choice-how").text(policy.how || "");
    drawStrips(policy);
    drawDecisions(policy);
    drawForecasts(policy);
    drawLoad(policy);
    drawServices(policy);
  }

  function draw() {
    drawBound();
    drawGoodput();
    drawChoice(ran[document.getElementById("choice").value]);
  }

  definePatterns();
  drawFacts();
  drawPolicies();
  if (ran.length === 0) {
    d3.selectAll("#inside, [aria-labelledby=h-goodput]").remove();
  } else {
    var choice = d3.select("#choice");
    ran.forEach(function (policy, i) {
      choice.append("option").attr("value", i).property("selected", policy === bestOf()).text(policy.name + (policy.hindsight ? " *" : ""));
    });
    choice.on("change", function () { drawChoice(ran[this.value]); });
    d3.select("#decisions-more").on("click", function () { showRows(list.shown + ROWS_MORE); });
    var width = window.innerWidth, waiting = null;
    window.addEventListener("resize", function () {
      if (window.innerWidth === width) return;
      width = window.innerWidth;
      clearTimeout(waiting);
      waiting = setTimeout(draw, 120);
    });
    draw();
  }
  root.setAttribute("data-state", "drawn");
})();
