// The first page: asks for the key, then reads /v1/overview each second and draws it with BerthDraw. What the server says enters
// the page as text, never as markup. What is shown in detail is in the address behind its #: "#/services/TENANT/NAME" or
// "#/gpus/NAME".
(function () {
  "use strict";
  var draw = BerthDraw, root = document.documentElement;
  window.onerror = function (message) { root.setAttribute("data-error", String(message)); };

  var REFRESH_MS = 1000, RETRY_MS = 2000, PATIENCE_MS = 10000, EVENTS_MAX = 300, EVENT_ROWS_MAX = 100, GPUS_AT_ONCE = 48,
    SERVICES_AT_ONCE = 50, CALIBRATION_MS = 10000, LOGIN = "login=", KEPT_KEY = "berth-login";
  var key = "", timer = null, first = { gpus: 0, services: 0 }, lastEvent = 0, drawn = {}, events = [];
  var chosen = null, wantedGpu = null, calibrationDue = 0, hour = BerthHour(read);  // chosen: { tenant, name } of the service in detail

  function isAbsent(x) { return draw.isAbsent(x); }
  function say(problem) { d3.select("#problem").attr("hidden", problem ? null : "").text(problem || ""); }

  // ---- Reading ------------------------------------------------------------------------------------------------------

  // The JSON of a GET.
  function read(path, signal) {
    return fetch(path, { headers: { Authorization: "Bearer " + key }, cache: "no-store", signal: signal }).then(function (answer) {
      if (answer.status === 401) throw { asks: true };
      return answer.json().then(function (body) {
        if (answer.ok) return body;
        var problem = new Error("The server answers " + answer.status + ": " + body.error.message);
        problem.status = answer.status;
        throw problem;
      });
    });
  }
  function refresh() {
    clearTimeout(timer);
    if (document.hidden) { timer = setTimeout(refresh, REFRESH_MS); return; }
    var control = new AbortController(), patience = setTimeout(function () { control.abort(); }, PATIENCE_MS);
    var asked = { gpus: first.gpus, services: first.services, chosen: chosen };
    read("/v1/overview?gpus=" + asked.gpus + "&services=" + asked.services + "&events=" + lastEvent +
      (chosen ? "&service=" + encodeURIComponent(fullName(chosen)) : ""), control.signal)
      .then(function (page) { clearTimeout(patience); show(page, asked); timer = setTimeout(refresh, REFRESH_MS); })
      .catch(function (problem) { clearTimeout(patience); fail(problem); });
  }
  function fail(problem) {
    if (problem.asks) {
      ask(keptKey() === key ? "This login has ended with the process that gave it. A new berth up prints a new login address."
        : "The server does not accept this key. It is the text of admin.key; another process has another one.");
      return;
    }
    var gone = problem.name === "TypeError" || problem.name === "AbortError";
    say((gone ? "The server does not answer. What is below is old" : problem.message) + "; trying again every 2 seconds.");
    d3.select("body").classed("stale", true);
    timer = setTimeout(refresh, RETRY_MS);
  }
  function ask(problem) {
    key = "";
    keepKey("");
    d3.select("#live").attr("hidden", "");
    d3.select("#ask").attr("hidden", null);
    d3.select("#headline").text("A running engine");
    say(problem);
    document.getElementById("key").focus();
  }
  function begin(text) {
    key = text;
    lastEvent = 0; events = []; drawn = {}; calibrationDue = 0;
    refresh();
  }

  // ---- Logging in -----------------------------------------------------------------------------------------------------

  // The key of a login address is kept for this tab, so that the page may be loaded again; it is worthless after the process.
  function keptKey() { try { return sessionStorage.getItem(KEPT_KEY) || ""; } catch (e) { return ""; } }
  function keepKey(text) {
    try { if (text) sessionStorage.setItem(KEPT_KEY, text); else sessionStorage.removeItem(KEPT_KEY); } catch (e) { /* not kept */ }
  }
  function logIn(token) {
    fetch("/v1/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token: token }), cache: "no-store" })
      .then(function (answer) {
        if (!answer.ok) throw { isUsed: answer.status === 401 };
        return answer.json();
      })
      .then(function (body) { keepKey(body.key); begin(body.key); })
      .catch(function (problem) {
        if (problem.isUsed && keptKey()) { begin(keptKey()); return; }  // this tab has used it
        ask(problem.isUsed ? "This login address was used before, or is older than 10 minutes. The key is still valid."
          : "The server does not answer. Load the page again.");
      });
  }

  // ---- The address behind its # ---------------------------------------------------------------------------------------

  function fullName(service) { return service.tenant + "/" + service.name; }
  function hrefOfService(service) { return "#/services/" + encodeURIComponent(service.tenant) + "/" + encodeURIComponent(service.name); }
  function hrefOfGpu(name) { return "#/gpus/" + encodeURIComponent(name); }
  function link(node, href, text) { return node.append("a").attr("href", href).text(text); }

  function decoded(text) { try { return decodeURIComponent(text); } catch (e) { return text; } }

  // Shows what the address names. A login or a key is taken out of it: browsers do not send that part.
  function go() {
    var given = location.hash.slice(1), parts = given.split("/");
    if (given && parts[0] !== "") {
      history.replaceState(null, "", location.pathname);
      if (given.indexOf(LOGIN) === 0) { logIn(given.slice(LOGIN.length)); return; }
      if (/^[\x21-\x7e]+$/.test(given)) { begin(decoded(given)); return; }
    }
    parts = parts.map(decoded);
    chosen = parts[1] === "services" && parts.length === 4 ? { tenant: parts[2], name: parts[3] } : null;
    wantedGpu = parts[1] === "gpus" && parts.length === 3 ? parts[2] : null;
    if (wantedGpu !== null) showPageOf(wantedGpu);
    drawn.scope = null;
    drawn.focus = null;
    if (key) refresh(); else if (keptKey()) begin(keptKey());
  }
  function showPageOf(gpu) {
    var number = /^gpu-(\d{1,9})$/.exec(gpu);
    if (number) first.gpus = Math.floor(Number(number[1]) / GPUS_AT_ONCE) * GPUS_AT_ONCE;
    drawn["#fleet-pager"] = null;
  }

  // ---- Drawing ------------------------------------------------------------------------------------------------------

  // Calls `make` only if what it draws has changed: what is under the pointer or in the focus stays.
  function ifNew(name, value, make) {
    var text = JSON.stringify(value);
    if (drawn[name] === text) return;
    drawn[name] = text;
    make();
  }
  function timeOfDay(text) { return text.slice(11, 19); }

  function show(page, asked) {
    say("");
    d3.select("body").classed("stale", false);
    d3.select("#ask").attr("hidden", "");
    d3.select("#live").attr("hidden", null);
    document.getElementById("key").value = "";
    showHead(page);
    showAgent(page.status);
    if (asked.chosen === chosen) showHour(page);
    if (asked.gpus === first.gpus) showFleet(page);
    if (asked.services === first.services) showServices(page);
    ifNew("plan", page.plan, function () { showPlan(page.plan); });
    showEvents(page);
    goToGpu(page);
    readCalibration();
    root.setAttribute("data-state", "drawn");
  }

  function showHead(page) {
    var status = page.status, fleet = page.fleet, running = page.services.filter(function (s) { return s.phase === "Running"; }).length;
    d3.select("#headline").text(draw.plural(fleet.gpus, "GPU") + ", " + draw.plural(page.service_count, "service") +
      (page.service_count === page.services.length ? ", " + draw.whole(running) + " running" : ""));
    showMissed(status.services.not_in_time, page);
    showBadges(status, fleet);
    var list = d3.select("#facts").html("");
    function fact(term, fill) {
      var item = list.append("div");
      item.append("dt").text(term);
      var dd = item.append("dd");
      if (typeof fill === "function") fill(dd); else dd.text(fill);
    }
    function known(value, format) {
      return function (dd) {
        if (isAbsent(value)) dd.append("span").attr("class", "absent").attr("title", "not known yet").text(draw.ABSENT);
        else dd.text(format(value));
      };
    }
    var away = [[fleet.lost, "lost"], [fleet.cordoned - fleet.drained, "cordoned"], [fleet.draining, "draining"], [fleet.drained, "drained"]]
      .filter(function (pair) { return pair[0] > 0; }).map(function (pair) { return draw.whole(pair[0]) + " " + pair[1]; });
    fact("World", status.world + ", " + (status.speed === "max" ? "as fast as possible" : status.speed === 1 ? "as fast as the clock"
      : draw.significant(status.speed).replace(/\.0+$/, "") + " times as fast"));
    fact("World time (UTC)", status.time.slice(0, 10) + " " + timeOfDay(status.time));
    fact("GPUs not open", away.join(", ") || "none");
    fact("Goodput", known(status.goodput, draw.ratio));
    fact("SM-time: allocated \u203a busy \u203a effective", function (dd) {
      if (isAbsent(status.funnel.allocated)) known(null)(dd);
      else if (isAbsent(status.funnel.busy)) dd.text(draw.percent(status.funnel.allocated) + " allocated, the rest is unknown");
      else draw.funnelCell(dd, status.funnel);
    });
    fact("Cost per hour", known(status.cost_micro_usd_per_hour, draw.dollars));
    fact("Planning", status.planning.paused ? "paused: " + status.planning.reason : status.solver.running ? "a plan is being made" : "on");
  }

  // Nothing can be changed on real GPUs while their agent is gone.
  function showAgent(status) {
    var gone = status.devices && status.devices.agent_reason;
    d3.select("#agent").attr("hidden", gone ? null : "").text(gone ? gone.charAt(0).toUpperCase() + gone.slice(1) + ". No GPU is changed until it answers." : "");
  }

  // How many services do not keep their agreed share in time, with their names where all of them are on the page.
  function showMissed(count, page) {
    if (count === 0) return;
    var names = page.services.filter(isMissed).map(function (s) { return s.tenant + "/" + s.name; });
    var named = names.length === count && count <= 3 ? ": " + names.join(", ") : "";
    d3.select("#headline").append("span").text(", ");
    d3.select("#headline").append("span").attr("class", "bad").text(draw.whole(count) + " not in time" + named);
  }

  // What is real here, and what is not.
  function showBadges(status, fleet) {
    ifNew("badges", [status.world, status.load, fleet.gpus, fleet.observed], function () {
      var isLocal = status.world === "local", box = d3.select("#badges").html("").attr("hidden", isLocal ? null : "");
      d3.select("#foot").text("What happens is recorded in the folder of this berth up. " +
        (isLocal ? "The GPUs are those of its machine; services have no processes on them yet." : "The fleet is simulated."));
      if (!isLocal) return;
      var some = fleet.observed < fleet.gpus ? draw.whole(fleet.observed) + " of " + draw.whole(fleet.gpus) + " only observed" : "only observed";
      box.append("span").text("local GPUs" + (fleet.observed > 0 ? ", " + some : ""));
      box.append("span").text(isAbsent(status.load) ? "load unknown" : status.load + " load");
      if (status.devices && status.devices.reason) d3.select("#badges").append("small").text(status.devices.reason);
    });
  }

  function pager(id, noun, from, count, total, step, move) {
    var box = d3.select(id);
    ifNew(id, [from, count, total], function () {
      box.html("").attr("hidden", total > step ? null : "");
      box.append("button").attr("type", "button").property("disabled", from === 0).text("Previous").on("click", function () { move(Math.max(0, from - step)); });
      box.append("button").attr("type", "button").property("disabled", from + count >= total).text("Next").on("click", function () { move(from + step); });
      box.append("span").attr("aria-live", "polite").text(noun + " " + draw.whole(from + 1) + " to " + draw.whole(from + count) + " of " + draw.whole(total));
    });
  }
  function mover(what) {
    return function (to) { first[what] = to; drawn["#" + (what === "gpus" ? "fleet" : "services") + "-pager"] = null; refresh(); };
  }

  // ---- The last hour, and one service in detail -----------------------------------------------------------------------

  function showHour(page) {
    var names = page.services.map(function (s) { return { tenant: s.tenant, name: s.name }; }), focus = chosen && page.focus;
    if (chosen && !names.some(function (s) { return fullName(s) === fullName(chosen); })) names.unshift(chosen);
    ifNew("scope", [names, chosen], function () {
      var select = d3.select("#scope").html("");
      select.append("option").attr("value", "#/").text("the whole fleet");
      names.forEach(function (s) { select.append("option").attr("value", hrefOfService(s)).text(fullName(s)); });
      select.property("value", chosen ? hrefOfService(chosen) : "#/");
    });
    d3.select("#focus").attr("hidden", chosen ? null : "");
    if (chosen && !focus) {
      d3.select("#charts").html("");
      d3.select("#hour-lead").text("There is no service " + fullName(chosen) + ".");
      d3.select("#focus").attr("hidden", "");
      return;
    }
    hour.show(page.status, page.services.length === page.service_count ? page.services : null, focus ? focus.service : null);
    if (!focus) return;
    ifNew("focus", [focus.slices, focus.plan, focus.events, focus.service.conditions.Placed, focus.service.programs], function () { showFocus(focus); });
  }
  function showFocus(focus) {
    var box = d3.select("#focus").html("");
    function part(title, isWide) {
      var section = box.append("div").classed("wide", isWide);
      section.append("h3").text(title);
      return section;
    }
    heldTable(part("Its slices (" + draw.whole(focus.slices.length) + ")", false), focus);
    var programs = focus.service.programs;
    if (programs) {
      var lines = programs.map(function (p) { return p.slice + ": " + p.phase + (p.pid ? ", pid " + p.pid : "") + (p.failures ? ", failed " + p.failures + " times" : ""); });
      part("Its programs (" + draw.whole(lines.length) + ")", false).append("p").attr("class", "lead").text(lines.join("; ") || "None runs.");
    }
    var plan = part("The last plan that gives it slices", false), events = part("Its events", true);
    plan.append("p").attr("class", "lead").text(focus.plan ? planText(focus.plan) : "None of the latest plans does.");
    if (focus.plan) planTable(logTable(plan), focus.plan.spec.actions, false);
    if (focus.events.length === 0) events.append("p").attr("class", "note").text("None of the latest events is about it.");
    else eventTable(logTable(events), focus.events.slice().reverse());
  }
  function logTable(section) { return section.append("div").attr("class", "scroll").append("table").attr("class", "log"); }
  function heldTable(section, focus) {
    if (focus.slices.length === 0) { section.append("p").attr("class", "note").text(focus.service.conditions.Placed.message); return; }
    var table = section.append("div").attr("class", "slices").append("table").attr("class", "log");
    draw.headRow(table, "GPU", [["Slice"], ["State"]]);
    var body = table.append("tbody");
    focus.slices.forEach(function (slice) {
      var row = body.append("tr"), will = slice.role === "retraining" && slice.state !== "retraining" ? " (retraining)" : "";
      link(row.append("th").attr("scope", "row"), hrefOfGpu(slice.gpu), slice.gpu);
      row.append("td").attr("data-label", "Slice").append("span").text(slice.profile + " at " + slice.start);
      row.append("td").attr("data-label", "State").append("span").text(slice.state + will);
    });
  }

  // ---- GPUs and slices ----------------------------------------------------------------------------------------------

  function showFleet(page) {
    pager("#fleet-pager", "GPUs", first.gpus, page.gpus.length, page.fleet.gpus, GPUS_AT_ONCE, mover("gpus"));
    if (page.gpus.length === 0 && first.gpus > 0) mover("gpus")(0);
    var shown = page.gpus.map(function (gpu) { return gpu.name; });
    ifNew("shown", [shown, window.innerWidth], function () {
      d3.select("#fleet").html("");
      Object.keys(drawn).forEach(function (name) { if (name.indexOf("gpu:") === 0) delete drawn[name]; });
      if (shown.length === 0) d3.select("#fleet").append("p").attr("class", "note").text("The fleet has no GPUs.");
      shown.forEach(function () { d3.select("#fleet").append("figure").attr("tabindex", 0); });
    });
    page.gpus.forEach(function (gpu, i) {
      var fig = d3.select(d3.selectAll("#fleet figure")[0][i]), use = useLines(gpu);
      delete gpu.measured; delete gpu.processes;  // they change each second; what is under the pointer stays
      ifNew("gpu:" + gpu.name, gpu, function () { drawGpu(fig, gpu); delete drawn["gpu:use:" + gpu.name]; });
      ifNew("gpu:use:" + gpu.name, use, function () {
        fig.selectAll("p.use").remove();
        use.forEach(function (line) { fig.append("p").attr("class", "use").text(line); });
      });
    });
    showLegend(page);
  }

  // Once the GPU that the address names is on the page.
  function goToGpu(page) {
    page.gpus.forEach(function (gpu, i) {
      if (gpu.name !== wantedGpu) return;
      var figure = d3.selectAll("#fleet figure")[0][i];
      wantedGpu = null;
      figure.scrollIntoView({ block: "center" });
      figure.focus({ preventScroll: true });
    });
  }

  function showLegend(page) {
    var owners = d3.map(), has = {};
    page.gpus.forEach(function (gpu) {
      gpu.slices.forEach(function (slice) {
        has[slice.state] = true;
        slice.services.forEach(function (service) { owners.set(service.name, service.number); });
      });
    });
    var entries = owners.entries().sort(function (a, b) { return d3.ascending(a.key, b.key); });
    ifNew("legend", [entries, has], function () {
      var list = d3.select("#legend").html("");
      function entry(text, fill, overlay) {
        var item = list.append("li");
        draw.swatch(item, fill, overlay);
        if (typeof text === "string") item.append("span").text(text); else link(item, hrefOfService(text), fullName(text));
      }
      entries.slice(0, 24).forEach(function (e) { entry(serviceNamed(e.key), draw.fillOf(e.value), draw.patternOf(e.value)); });
      if (entries.length > 24) list.append("li").text("and " + (entries.length - 24) + " more services");
      if (has.retraining) entry("retraining", "var(--muted)", "url(#hatch)");
      if (has.starting) entry("starting", "color-mix(in srgb, var(--muted) 35%, var(--card))");
      if (has.creating || has.draining || has.lost) entry("creating, draining or lost", "var(--changing)");
      if (has.foreign) entry("made by others", "var(--changing)", "url(#hatch)");
      entry("free or idle", "var(--idle)");
    });
  }

  // A slice that starts has its owner's colour, pale; one that is created, drains or is lost is grey.
  function stateOf(slice) {
    if (slice.state === "starting") return "idle";
    return ["creating", "draining", "lost"].indexOf(slice.state) >= 0 ? "changing" : slice.state;
  }
  // Of "tenant/name"; neither has a slash.
  function serviceNamed(text) { return { tenant: text.slice(0, text.indexOf("/")), name: text.slice(text.indexOf("/") + 1) }; }
  function namesOf(slice) { return slice.services.map(function (s) { return s.name; }).join(", ") || "unowned"; }
  function sliceText(slice) { return slice.profile + " at " + slice.start + ": " + namesOf(slice) + ", " + slice.state; }

  // A GPU that must not be changed is cordoned for that reason.
  function schedulingOf(gpu) {
    return gpu.reason && gpu.reason.indexOf("observed: ") === 0 ? "observed" : gpu.scheduling === "open" ? "" : gpu.drained ? "drained" : gpu.scheduling;
  }
  // What the driver measures, and whose processes there are; nothing in a simulated world.
  function useLines(gpu) {
    var lines = gpu.unprofiled_reason ? [gpu.unprofiled_reason] : [], m = gpu.measured;
    function figure(value, of, unit) {
      return isAbsent(value) ? [] : [draw.whole(Math.round(value)) + (isAbsent(of) ? "" : " of " + draw.whole(Math.round(of))) + " " + unit];
    }
    if (m) {
      lines.push([].concat(figure(m.memory_used_mib, m.memory_total_mib, "MiB"), figure(m.utilization_percent, null, "% busy"),
        figure(m.temperature_celsius, null, "\u00b0C"), figure(m.power_watts, m.power_limit_watts, "W"),
        figure(m.sm_clock_mhz, null, "MHz")).join(" \u00b7 ") || "The driver measures nothing.");
    }
    var shown = (gpu.processes || []).map(function (p) {
      return "pid " + p.pid + (p.user ? " (" + p.user + ")" : "") + (p.profile ? " on " + p.profile + " at " + p.start : "");
    });
    if (gpu.process_count > shown.length) shown.push("and " + draw.whole(gpu.process_count - shown.length) + " more");
    return shown.length ? lines.concat(shown.join(", ")) : lines;
  }
  function drawGpu(fig, gpu) {
    var words = [gpu.health === "ok" ? "" : gpu.health, schedulingOf(gpu)].filter(Boolean).join(", ");
    draw.hideTip();
    fig.html("").classed("lost", gpu.health !== "ok").classed("held", gpu.health === "ok" && gpu.scheduling !== "open");
    var caption = fig.append("figcaption"), aside = caption.append("b").text(gpu.name);
    aside = caption.append("span");
    if (words) aside.append("span").attr("class", "health").text(words + " \u00b7 ");
    aside.append("small").attr("title", gpu.model).text(gpu.model);
    var box = draw.frame(fig, 40, { left: 0, right: 0, top: 0, bottom: 0 }, "");
    box.svg.attr("role", null).attr("aria-label", null).attr("aria-hidden", "true");
    var x = d3.scale.linear().domain([0, gpu.units]).range([0, box.width]);
    box.svg.append("rect").attr("class", "lane").attr("width", box.width).attr("height", 40);
    d3.range(1, gpu.units).forEach(function (u) {
      box.svg.append("line").attr("class", "axisline").attr("x1", x(u)).attr("x2", x(u)).attr("y1", 0).attr("y2", 40);
    });
    gpu.slices.forEach(function (slice) { drawSliceOf(box, x, slice); });
    fig.attr("aria-label", gpu.name + ", " + gpu.model + (words ? ", " + words : "") + ": " +
      (gpu.slices.map(sliceText).join("; ") || "no slices"));
    fig.on("focus", function () {
      var place = fig.node().getBoundingClientRect();
      draw.showTip(gpu.name + (words ? ", " + words + (gpu.reason ? ": " + gpu.reason : "") : ""), gpu.slices.map(function (s) {
        return [s.profile + " at " + s.start, namesOf(s) + ", " + s.state];
      }), { x: place.left, y: place.bottom - 8 });
    }).on("blur", draw.hideTip);
    caption.on("mousemove", function () {
      draw.showTip(gpu.name, [["model", gpu.model], ["health", gpu.health], ["scheduling", gpu.drained ? "drained" : gpu.scheduling]].concat(gpu.reason ? [["reason", gpu.reason]] : []));
    }).on("mouseleave", draw.hideTip);
  }
  function drawSliceOf(box, x, slice) {
    var left = x(slice.start), width = x(slice.start + slice.length) - left, state = stateOf(slice);
    var owners = slice.services.length && state !== "changing" ? slice.services : [null], lane = 40 / owners.length;
    owners.forEach(function (service, i) {
      var owner = service === null ? null : service.number;
      draw.drawSlice(box.svg, { left: left, top: i * lane, width: width, height: lane }, { owner: owner, state: state })
        .classed("owned", service !== null)
        .on("click", function () { if (service !== null) location.hash = hrefOfService(serviceNamed(service.name)); })
        .on("mousemove", function () {
          draw.showTip(namesOf(slice), [["slice", slice.profile + " at " + slice.start], ["state", slice.state]]);
        }).on("mouseleave", draw.hideTip);
      if (service !== null && lane >= 12) {
        draw.drawName(box.svg, { left: left + 4, middle: (i + 0.5) * lane + 4, width: width - 7 },
          { owner: owner, state: state, name: service.name.slice(service.name.indexOf("/") + 1), more: slice.profile });
      }
    });
  }

  // ---- Services -----------------------------------------------------------------------------------------------------

  function conditionCell(td, condition, text) {
    td.append("span").classed("bad", condition.status === "False").attr("title", condition.message).text(text);
  }
  function isMissed(s) { return s.conditions.InTime.status === "False"; }
  var COLUMNS = [
    ["Phase", "", function (td, s) { conditionCell(td, s.conditions.Serving.status === "True" ? s.conditions.Serving : s.conditions.Placed, s.phase); }],
    ["Slices", "serving of needed", function (td, s) {
      td.append("span").classed("bad", !isAbsent(s.needed) && s.serving < s.needed).attr("title", "holds " + s.slices)
        .text(s.serving + " of " + (isAbsent(s.needed) ? draw.ABSENT : draw.whole(s.needed)));
    }],
    ["Load", "requests per second", function (td, s) { draw.plainCell(draw.significant)(td, s.load); }],
    ["Load", "of capacity", function (td, s) { draw.barCell(draw.percent)(td, isAbsent(s.load) || s.capacity === 0 ? null : s.load / s.capacity); }],
    ["In time", "of requests", function (td, s) {
      draw.barCell(draw.percent)(td, s.in_time);
      td.classed("missed", isMissed(s)).attr("title", s.conditions.InTime.message);
    }],
    ["Goodput", "", function (td, s) { draw.plainCell(draw.ratio)(td, s.last_minute && s.last_minute.goodput); }],
    ["p99", "of target, ms", function (td, s) {
      draw.plainCell(function (v) { return draw.significant(v) + " of " + draw.significant(s.latency_target_ms); })(td, s.last_minute && s.last_minute.latency_p99_ms);
    }],
    ["Floor", "", function (td, s) {
      if (isAbsent(s.floor)) { td.append("span").attr("class", "absent").attr("title", "the service has no floor").text(draw.ABSENT); return; }
      var word = { True: "met", False: "not met", Unknown: "not known" }[s.conditions.FloorMet.status];
      conditionCell(td, s.conditions.FloorMet, draw.ratio(s.floor) + ", " + word);
    }]
  ];

  function showServices(page) {
    pager("#services-pager", "Services", first.services, page.services.length, page.service_count, SERVICES_AT_ONCE, mover("services"));
    if (page.services.length === 0 && first.services > 0) mover("services")(0);
    page.services.forEach(function (s) {
      var minute = s.last_minute;
      s.load = minute ? minute.requests / s.seconds : null;
      s.in_time = minute && minute.requests > 0 ? minute.in_time / minute.requests : null;
    });
    ifNew("services", page.services, function () {
      var table = d3.select("#services").html("");
      draw.headRow(table, "Service", COLUMNS);
      var body = table.append("tbody");
      if (page.services.length === 0) body.append("tr").append("td").attr("colspan", COLUMNS.length + 1).text("There are no services.");
      page.services.forEach(function (s) {
        var row = body.append("tr"), head = row.append("th").attr("scope", "row");
        draw.swatch(head, draw.fillOf(s.number), draw.patternOf(s.number));
        head.append("span").text(" ");
        link(head, hrefOfService(s), s.name).attr("title", "its hour, slices, plan and events");
        var why = isMissed(s) ? s.conditions.InTime.message : s.phase === "Waiting" ? s.conditions.Placed.message : "";
        head.append("small").classed("bad", isMissed(s)).text(s.tenant + (why ? ": " + why : ""))
          .style("white-space", "normal");
        draw.cells(row, COLUMNS.map(function (c) { return [c[0], c[1], c[2], function (x) { return x; }]; }), s);
      });
    });
  }

  // ---- Plan and events ----------------------------------------------------------------------------------------------

  function showPlan(plan) {
    var table = d3.select("#plan").html("");
    d3.select("#plan-lead").text(plan ? planText(plan) : "No plan was made yet.");
    if (plan) planTable(table, plan.spec.actions, true);
  }
  function planText(plan) {
    var spec = plan.spec, actions = spec.actions, text = plan.metadata.name + ", made at " + timeOfDay(spec.made_at) + ": " + plan.status.phase.replace(/_/g, " ");
    if (plan.status.message) text += " (" + plan.status.message + ")";
    if (!isAbsent(spec.objective)) text += ". Objective " + draw.significant(spec.objective);
    if (!isAbsent(spec.gap)) text += ", at most " + draw.percent(Math.max(0, spec.gap)) + " below what any plan can reach";
    if (spec.conflict) text += ". No plan keeps all of: " + spec.conflict.join(", ");
    if (plan.action_count > actions.length) text += ". The first " + actions.length + " of " + draw.whole(plan.action_count) + " actions are shown";
    if (plan.status.phase === "awaiting_approval") {
      text += isAbsent(plan.status.expires_at_wall) ? ". It waits for approval" : ". It waits for approval until " +
        timeOfDay(plan.status.expires_at_wall) + " of the wall clock (UTC)";
      text += ": berth plan approve " + plan.metadata.name;
    }
    return text + ".";
  }
  // One row per action. Neighbours on a GPU often have one reason: it is said once for all of them.
  function planTable(table, actions, hasOwner) {
    draw.headRow(table, "Action", [["GPU"], ["Slice"]].concat(hasOwner ? [["For"]] : [], [["Phase"], ["Why"]]));
    var body = table.append("tbody"), why = null, before = null;
    actions.forEach(function (a) {
      var row = body.append("tr");
      row.append("th").attr("scope", "row").text(a.type);
      function cell(label, value) { var td = row.append("td").attr("data-label", label); td.append("span").text(value || ""); return td; }
      link(cell("GPU"), hrefOfGpu(a.gpu), a.gpu);
      cell("Slice", a.profile + " at " + a.start);
      if (hasOwner) {
        var owner = cell("For", a.service ? "" : draw.ABSENT);
        if (a.service) link(owner, hrefOfService({ tenant: a.tenant, name: a.service }), a.tenant + "/" + a.service);
        if (a.role === "retraining") owner.append("span").text(" (retraining)");
      }
      var phase = cell("Phase", a.phase);
      phase.select("span").classed("bad", a.phase === "failed");
      if (a.message) phase.append("small").text(a.message);
      if (before && before.gpu === a.gpu && before.reason === a.reason) why.attr("rowspan", Number(why.attr("rowspan") || 1) + 1);
      else why = cell("Why", a.reason).classed("why", true);
      before = a;
    });
  }

  // ---- Predicted and measured ---------------------------------------------------------------------------------------

  // It changes slowly, and is read apart: every ten seconds, of the first services.
  function readCalibration() {
    if (Date.now() < calibrationDue) return;
    calibrationDue = Date.now() + CALIBRATION_MS;
    read("/v1/calibration?limit=" + SERVICES_AT_ONCE).then(showCalibration, function (problem) { if (problem.asks) fail(problem); });
  }
  function speedText(place) {
    var text = place.gpu_model + " " + place.profile + ": ", known = !isAbsent(place.recorded);
    text += isAbsent(place.measured) ? "no batches" : draw.ratio(place.measured) + " x by " + draw.whole(place.batches) + " batches";
    text += ", counted on " + draw.ratio(place.factor) + " x";
    return text + (known ? " for " + draw.whole(Math.round(place.age_seconds / 60)) + " min" + (place.used ? "" : ", reported only") : "");
  }
  // Within a percent of its table, which is counted on.
  function isAsItsTable(place) {
    return isAbsent(place.recorded) && place.factor === 1 && !isAbsent(place.measured) && Math.abs(place.measured - 1) < 0.01;
  }
  // One line for each place that differs, and one for all others.
  function speedLines(speeds) {
    var plain = speeds.filter(isAsItsTable), lines = speeds.filter(function (place) { return !isAsItsTable(place); }).map(speedText);
    if (plain.length === 0) return lines.length ? lines : [draw.ABSENT];
    var batches = plain.reduce(function (sum, place) { return sum + place.batches; }, 0);
    var names = plain.map(function (place) { return place.gpu_model + " " + place.profile; });
    return lines.concat("as its table by " + draw.whole(batches) + " batches: " + names.join(", "));
  }
  function showCalibration(list) {
    ifNew("calibration", list, function () {
      var sums = list.promises;
      d3.select("#calibration-lead").text("Time of batches, compared with the profile tables; forecasts a minute ahead, judged over 6 hours. " +
        (sums.changes === 0 ? "No promise of a plan was judged in the last day." : "In the last day " + draw.plural(sums.changes, "change") +
          " promised a gain of " + draw.significant(sums.promised) + " and achieved " + draw.significant(sums.achieved) + "."));
      var table = d3.select("#calibration").html("");
      draw.headRow(table, "Service", [["Forecasts", "judged"], ["In the band", "of 80 %"], ["In the band", "of 95 %"], ["Time / table", "by GPU model and profile"]]);
      var body = table.append("tbody");
      if (list.items.length === 0) body.append("tr").append("td").attr("colspan", 5).text("There are no services.");
      list.items.forEach(function (item) {
        var row = body.append("tr"), name = { tenant: item.metadata.namespace, name: item.metadata.name }, forecasts = item.status.forecasts;
        link(row.append("th").attr("scope", "row"), hrefOfService(name), name.tenant + "/" + name.name);
        function cell(label, text) { return row.append("td").attr("data-label", label).append("span").text(text); }
        cell("Forecasts", draw.whole(forecasts.judged));
        cell("80 %", isAbsent(forecasts.inside_80) ? draw.ABSENT : draw.percent(forecasts.inside_80)).classed("bad", forecasts.off);
        cell("95 %", isAbsent(forecasts.inside_95) ? draw.ABSENT : draw.percent(forecasts.inside_95));
        var speeds = row.append("td").attr("data-label", "Time / table");
        speedLines(item.status.speeds).forEach(function (line) { speeds.append("span").text(line); });
      });
    });
  }

  function showEvents(page) {
    if (page.last_event < lastEvent) events = [];
    lastEvent = page.last_event;
    if (page.events.length === 0 && drawn.events) return;
    events = page.events.reverse().concat(events).slice(0, EVENTS_MAX);
    drawn.events = true;
    eventTable(d3.select("#events"), events);
  }
  // Events, newest first, as rows: what happened to one action of a plan, and thereby to its slice, is one row.
  function rowsOf(newestFirst) {
    var rows = [], byAction = {}, bySlice = {}, WORDS = { SliceCreated: "create", SliceServing: "assign", SliceGone: "destroy" };
    newestFirst.slice().reverse().forEach(function (event) {
      var action = /^Action/.test(event.kind) && /^action (\d+): (\w+) ([^\s:]+)(?:: (.*))?$/.exec(event.message || "");
      var id = action ? event.object.name + " " + action[1] : null;
      var row = action ? byAction[id] : WORDS[event.kind] && bySlice[WORDS[event.kind] + " " + event.object.name];
      if (!row) {
        row = { event: event, action: action ? { plan: event.object.name, number: action[1], word: action[2], slice: action[3] } : null, steps: [] };
        rows.push(row);
      }
      row.latest = event;
      if (!row.action) return;
      if (action) {
        byAction[id] = bySlice[action[2] + " " + action[3]] = row;
        row.kind = event.kind;
        row.steps.push({ at: event.time, word: event.kind.slice("Action".length).toLowerCase(), note: action[4] });
      } else row.holder = event.message;
    });
    return rows.sort(function (a, b) { return b.latest.sequence - a.latest.sequence; });
  }
  function eventTable(table, newestFirst) {
    table.html("");
    draw.headRow(table, "Time", [["What"], ["Object"], ["Message"]]);
    var body = table.append("tbody"), rows = rowsOf(newestFirst);
    rows.slice(0, EVENT_ROWS_MAX).forEach(function (row) {
      var tr = body.append("tr"), event = row.latest, object = row.action ? { kind: "GpuSlice", name: row.action.slice } : event.object;
      tr.append("th").attr("scope", "row").text(timeOfDay(event.time));
      tr.append("td").attr("data-label", "What").append("span").classed("bad", row.kind === "ActionFailed").text(row.kind || event.kind);
      objectCell(tr.append("td").attr("data-label", "Object"), object);
      tr.append("td").attr("data-label", "Message").attr("class", "message").append("span").text(row.action ? actionText(row) : event.message || "");
    });
    if (rows.length === 0) body.append("tr").append("td").attr("colspan", 4).text("Nothing happened yet.");
  }
  function objectCell(td, object) {
    var text = (object.namespace ? object.namespace + "/" : "") + object.name, gpu = /^gpu-\d+(?=-|$)/.exec(object.name);
    if (object.kind === "GpuService") link(td, hrefOfService({ tenant: object.namespace, name: object.name }), text);
    else if (gpu && (object.kind === "Gpu" || object.kind === "GpuSlice")) link(td, hrefOfGpu(gpu[0]), text);
    else td.append("span").text(text);
  }
  function actionText(row) {
    var text = row.action.plan + ", action " + row.action.number + ": " + row.action.word + (row.holder ? " for " + row.holder : "");
    return text + "; " + row.steps.map(function (step) { return step.word + " " + timeOfDay(step.at) + (step.note ? " (" + step.note + ")" : ""); }).join(", ");
  }

  // ---- Beginning ----------------------------------------------------------------------------------------------------

  draw.definePatterns();
  d3.select("#ask").on("submit", function () {
    d3.event.preventDefault();
    var text = document.getElementById("key").value.trim();
    if (text) begin(text);
  });
  d3.select("#scope").on("change", function () { location.hash = this.value; });
  document.addEventListener("visibilitychange", function () { if (!document.hidden && key) refresh(); });
  window.addEventListener("resize", function () { hour.redraw(); });
  window.addEventListener("hashchange", function () {
    go();
    if (chosen) document.getElementById("h-hour").scrollIntoView();
  });
  go();
})();
