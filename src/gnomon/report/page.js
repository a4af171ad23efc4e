// Unpacks Plotly, draws the figures of the page in the reader's colours and keeps all time axes in step.
// #light and #dark at the end of the address choose the colours; paper is light.
"use strict";

(function () {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const charts = [...document.querySelectorAll(".chart")];
  const root = document.documentElement;
  const wanted = location.hash.slice(1);
  if (wanted === "light" || wanted === "dark") root.dataset.theme = wanted;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const isDark = () => !printing && (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

  const probe = document.body.appendChild(document.createElement("i"));
  const colour = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };

  // The colours of lines and bars, and what they are on a dark page.
  const BRIGHT = {
    "#0072B2": "#4FA9E2",
    "#D55E00": "#FF8B3D",
    "#009E73": "#2CC79B",
    "#CC79A7": "#E39BC2",
    "#E69F00": "#F3B73C",
    "#56B4E9": "#8ACDF5",
    "#7F7F7F": "#A8A8A8",
    "#B8A800": "#D9CB3A",
  };
  // From little to much, in light and in dark: of a node, nothing is nearly the colour of the page; of a task, no wait
  // still stands out from it. Both are read alike with any kind of colour vision.
  const SCALES = {
    heatmap: [["#eef4f8", "#4fa3cf", "#08306b"], ["#1f2730", "#3f8fa8", "#fdf3a6"]],
    bar: [["#b9dcec", "#4fa3cf", "#08306b"], ["#2f5f8c", "#4fb3a9", "#fdf3a6"]],
  };
  const scale = (type) => SCALES[type][isDark() ? 1 : 0].map((at, i) => [i / 2, at]);
  const shade = (text) => (isDark() && text ? (BRIGHT[text.slice(0, 7)] || text.slice(0, 7)) + text.slice(7) : text);

  function layoutOf(figure) {
    const axis = { gridcolor: colour("--grid"), linecolor: colour("--line"), zeroline: false, automargin: true };
    const given = figure.layout;
    return {
      barmode: "overlay",
      bargap: 0.15,
      hovermode: figure.data.every((trace) => trace.type === "scatter") ? "x unified" : "closest",
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
      margin: { l: 56, r: 12, t: given.showlegend ? 36 : 12, b: 44 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("--text"), family: "system-ui, sans-serif", size: 13 },
      hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--text") } },
      dragmode: figure.time ? "zoom" : false,
      ...given,
      xaxis: { ...axis, ...given.xaxis },
      yaxis: { ...axis, fixedrange: true, ...given.yaxis },
    };
  }

  function dataOf(figure) {
    return figure.data.map((trace) => {
      if (trace.line) {
        const line = { ...trace.line, color: shade(trace.line.color) };
        return { ...trace, line, ...(trace.fillcolor && { fillcolor: shade(trace.fillcolor) }) };
      }
      if (trace.type === "heatmap") return { ...trace, colorscale: scale("heatmap") };
      if (trace.marker.cmax === undefined) return { ...trace, marker: { ...trace.marker, color: shade(trace.marker.color) } };
      const line = { ...trace.marker.line, color: colour("--soft") };
      return { ...trace, marker: { ...trace.marker, line, colorscale: scale("bar") } };
    });
  }

  const config = { responsive: true, displayModeBar: false, doubleClick: "autosize" };
  const draw = (chart) => {
    const figure = figures[chart.dataset.figure];
    return Plotly.react(chart, dataOf(figure), layoutOf(figure), config);
  };

  const timed = charts.filter((chart) => figures[chart.dataset.figure].time);
  let following = false;
  async function follow(source, change) {
    if (following) return;
    const moved = "xaxis.range[0]" in change || "xaxis.range" in change || "xaxis.autorange" in change;
    if (!moved) return;
    following = true;
    const whole = figures[source.dataset.figure].layout.xaxis.range;
    const range = change["xaxis.autorange"] ? whole : source.layout.xaxis.range.slice();
    try {
      await Promise.all(timed.map((chart) => Plotly.relayout(chart, { "xaxis.range": range.slice() })));
    } finally {
      following = false;
    }
  }

  async function unpack() {
    const bytes = Uint8Array.from(atob(document.getElementById("plotly").textContent), (c) => c.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(unpacked).text();
    document.head.append(script);
  }

  async function start() {
    await unpack();
    for (const chart of charts) {
      await draw(chart);
      if (timed.includes(chart)) chart.on("plotly_relayout", (change) => follow(chart, change));
    }
    const again = () => charts.forEach(draw);
    system.addEventListener("change", again);
    for (const [event, now] of [["beforeprint", true], ["afterprint", false]]) {
      window.addEventListener(event, () => {
        printing = now;
        if (system.matches || root.dataset.theme === "dark") again();
      });
    }
    root.dataset.drawn = "yes";
  }
  start();
})();
