/** Creates HTML and SVG elements. Text only ever becomes a text node, never markup. */

type Child = Node | string | undefined | false;

interface Attributes {
  readonly class?: string | undefined;
  readonly [name: string]: string | boolean | undefined;
}

/**
 * Creates an HTML element with attributes and children. An attribute that is `true` becomes empty;
 * one that is `false` or undefined is omitted.
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

/** Creates an SVG element. */
export const svgElement = (
  tag: string,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElement =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function fill<Target extends Element>(
  target: Target,
  attributes: Attributes,
  children: readonly Child[],
): Target {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false)
      target.setAttribute(name, value === true ? "" : value);
  for (const it of children) if (it !== undefined && it !== false) target.append(it);
  return target;
}

export const createSection = (title: string, ...content: HTMLElement[]): HTMLElement =>
  element("section", {}, element("h2", {}, title), ...content);

/** Creates a button that looks like a link. */
export const createLink = (
  onClick: () => void,
  attributes: Attributes,
  ...children: Child[]
): HTMLElement =>
  listen(element("button", { class: "link", type: "button", ...attributes }, ...children), onClick);

/** Creates a button of the toolkit, which a page has to register. */
export const createButton = (
  label: string,
  onClick: () => void,
  attributes: Attributes = { appearance: "secondary" },
): HTMLElement => listen(element("vscode-button", attributes, label), onClick);

function listen(button: HTMLElement, onClick: () => void): HTMLElement {
  button.addEventListener("click", onClick);
  return button;
}
