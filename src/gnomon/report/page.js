// Draws the figures of the page in the reader's colours and keeps all time axes in step.
"use strict";

(function () {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const charts = [...document.querySelectorAll(".chart")];
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

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
  const shade = (text) => (dark.matches && text ? (BRIGHT[text.slice(0, 7)] || text.slice(0, 7)) + text.slice(7) : text);

  function layoutOf(figure) {
    const axis = { gridcolor: colour("--grid"), linecolor: colour("--line"), zeroline: false, automargin: true };
    const given = figure.layout;
    return {
      barmode: "overlay",
      bargap: 0.15,
      hovermode: figure.data.every((trace) => trace.type === "scatter") ? "x unified" : "closest",
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
      margin: { l: 64, r: 16, t: given.showlegend ? 36 : 12, b: 48 },
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
      // Little is pale on a pale page and dark on a dark one.
      if (trace.type === "heatmap") return { ...trace, reversescale: !dark.matches };
      if (!trace.marker.colorscale) return { ...trace, marker: { ...trace.marker, color: shade(trace.marker.color) } };
      const line = { ...trace.marker.line, color: colour("--soft") };
      return { ...trace, marker: { ...trace.marker, line, reversescale: !dark.matches } };
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

  async function start() {
    for (const chart of charts) {
      await draw(chart);
      if (timed.includes(chart)) chart.on("plotly_relayout", (change) => follow(chart, change));
    }
    dark.addEventListener("change", () => charts.forEach(draw));
    document.documentElement.dataset.drawn = "yes";
  }
  start();
})();
