/** Joins the plots of a page into one document in SVG, with the colors of the page. */
import { svgElement } from "../element.ts";
import type { DrawnPlot } from "./plot.ts";

/** The properties that the page's style sheet sets. */
const properties = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-linejoin",
  "stroke-dasharray",
  "opacity",
  "font-family",
  "font-size",
];

const pageMargin = 16;
/** From the top of a plot to the base line of its title. */
const titleHeight = 14;

/** The text of a document with the plots in their places on the page, in its colors. */
export function formatPlots(heading: string, plots: readonly DrawnPlot[]): string {
  const left = Math.min(...plots.map(it => it.place.left)) - pageMargin;
  const top = Math.min(...plots.map(it => it.place.top)) - pageMargin;
  const size = {
    width: String(Math.max(...plots.map(it => it.place.right)) + pageMargin - left),
    height: String(Math.max(...plots.map(it => it.place.bottom)) + pageMargin - top),
  };
  const page = getComputedStyle(document.body);
  const picture = svgElement(
    "svg",
    { ...size, viewBox: `0 0 ${size.width} ${size.height}` },
    svgElement("title", {}, heading),
    svgElement("rect", { ...size, fill: page.backgroundColor }),
    ...plots.flatMap(it => drawPlot(it, page, { left, top })),
  );
  return `${new XMLSerializer().serializeToString(picture)}\n`;
}

function drawPlot(
  { title, svg, place, keys }: DrawnPlot,
  page: CSSStyleDeclaration,
  origin: { readonly left: number; readonly top: number },
): SVGElement[] {
  const caption = svgElement(
    "text",
    {
      x: String(place.left - origin.left),
      y: String(place.top - origin.top + titleHeight),
      fill: page.color,
      "font-family": page.fontFamily,
      "font-size": page.fontSize,
    },
    svgElement("tspan", { "font-weight": "600" }, title),
    ...keys.map(it =>
      svgElement("tspan", { dx: "12", fill: getComputedStyle(it).color }, it.textContent.trim()),
    ),
  );
  const { left, top, width, height } = svg.getBoundingClientRect();
  const copy = copyWithStyles(svg);
  copy.setAttribute("x", String(left - origin.left));
  copy.setAttribute("y", String(top - origin.top));
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  return [caption, copy];
}

function copyWithStyles(element: SVGElement): SVGElement {
  const copy = element.cloneNode(true) as SVGElement;
  const originals = [element, ...element.querySelectorAll<SVGElement>("*")];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  originals.forEach((it, i) => {
    const style = getComputedStyle(it);
    for (const name of properties) copies[i]!.setAttribute(name, style.getPropertyValue(name));
    copies[i]!.removeAttribute("class");
  });
  return copy;
}
