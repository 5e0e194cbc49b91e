/**
 * The focus of a page that is drawn again. A page does not take the focus from another editor or
 * the palette: its control gets the focus when the page has it again.
 */

type Control = HTMLElement | SVGElement;

/** The control that gets the focus when the page has it again. */
let due: Control | undefined;

window.addEventListener("focus", () => {
  const control = due;
  due = undefined;
  if (control?.isConnected) control.focus({ preventScroll: true });
});

/** The control that has the focus, or gets it when the page has it again. */
export const findFocused = (): Element | null => (due?.isConnected ? due : document.activeElement);

/** Whether a part of the page contains the control that has the focus. */
export const hasFocused = (part: Element): boolean => part.contains(findFocused());

/** Gives a control the focus. */
export function giveFocus(control: Control | null | undefined, options?: FocusOptions): void {
  if (!control) return;
  if (!document.hasFocus()) due = control;
  else if (control !== document.activeElement) control.focus(options);
}
