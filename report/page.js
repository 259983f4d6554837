// Draws each chart of the page with Chart.js from the data beside it, in place of the SVG picture that stands
// there when the library could not be had or scripts are off.
"use strict";
(() => {
  if (typeof Chart === "undefined") return;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const figures = [...document.querySelectorAll("figure[data-chart]")].map((figure) => {
    const canvas = document.createElement("canvas");
    const data = JSON.parse(figure.querySelector("script").textContent);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${data.title}: ${data.series.map((s) => s.name).join(", ")}`);
    const holder = document.createElement("div");
    holder.className = "canvas";
    holder.append(canvas);
    figure.append(holder);
    figure.classList.add("drawn");
    return { canvas, data, chart: null };
  });

  const label = (v) => {
    const size = Math.abs(v);
    return v !== 0 && (size >= 1e5 || size < 1e-3) ? v.toExponential(0) : String(+v.toPrecision(6));
  };
  const isDecade = (v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;

  function axis(title, log, grid) {
    const ticks = { callback: (v) => (log && !isDecade(v) ? null : label(v)), maxRotation: 0 };
    return {
      type: log ? "logarithmic" : "linear", title: { display: title !== "", text: title }, grid: { color: grid }, ticks,
    };
  }

  function draw({ canvas, data }) {
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--text"), grid = style.getPropertyValue("--line");
    Chart.defaults.color = text;
    Chart.defaults.font.family = "sans-serif";  // family and sizes as in the SVG pictures
    Chart.defaults.font.size = 12;
    const bar = data.kind === "bar";
    const datasets = data.series.map((s) => ({
      label: s.name,
      data: bar ? s.y : s.x.map((x, i) => ({ x, y: s.y[i] })).filter((p) => p.x !== null),
      borderColor: s.colour,
      backgroundColor: s.colour,
      borderWidth: bar ? 0 : 2,
      pointRadius: data.markers ? 2.5 : 0,
      pointHitRadius: 8,
    }));
    const x = bar
      ? { type: "category", grid: { display: false }, ticks: { autoSkip: false } }
      : axis(data.x_label, data.log_x, grid);
    return new Chart(canvas, {
      type: data.kind,
      data: { labels: data.categories, datasets },
      options: {
        animation: false,
        maintainAspectRatio: false,
        interaction: { mode: "nearest", intersect: false },
        plugins: {
          title: { display: true, text: data.title, font: { size: 14 } },
          legend: { display: data.legend, labels: { boxWidth: 12, boxHeight: 4 } },
          tooltip: { callbacks: { label: (c) => `${c.dataset.label}: ${+c.parsed.y.toPrecision(4)}` } },
        },
        scales: { x, y: { ...axis(data.y_label, data.log_y, grid), beginAtZero: true } },
      },
    });
  }

  const drawAll = () => figures.forEach((f) => { f.chart?.destroy(); f.chart = draw(f); });
  dark.addEventListener("change", drawAll);
  drawAll();
})();
