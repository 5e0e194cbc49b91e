/** Makes elements. Text only ever becomes a text node, so nothing that is shown can be markup. */

type Child = Node | string | undefined | false;

export interface Attributes {
  readonly class?: string | undefined;
  readonly [name: string]: string | boolean | undefined;
}

/**
 * An HTML element with attributes and children; an attribute that is true is empty, one that is
 * false or undefined is left out.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes?: Attributes,
  ...children: Child[]
): HTMLElementTagNameMap[Tag];
export function element(tag: string, attributes?: Attributes, ...children: Child[]): HTMLElement;
export function element(
  tag: string,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElement {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export const svgElement = (
  tag: string,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElement =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function fill<Made extends Element>(
  made: Made,
  attributes: Attributes,
  children: readonly Child[],
): Made {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  for (const it of children) if (it !== undefined && it !== false) made.append(it);
  return made;
}
