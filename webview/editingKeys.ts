/**
 * The keys that select all, undo and redo work at once in the text boxes of a page. The editor
 * would answer them with a command that arrives after the next keys, and applies to what these
 * typed.
 */

/** Answers these keys, for all controls of the page. */
export const handleEditingKeys = (): void =>
  document.addEventListener("keydown", event => {
    const command = findCommand(event);
    if (command === undefined) return;
    // the editor listens on the window
    event.stopPropagation();
    event.preventDefault();
    document.execCommand(command);
  });

function findCommand(event: KeyboardEvent): "selectAll" | "undo" | "redo" | undefined {
  const { altKey, ctrlKey, metaKey, shiftKey, keyCode } = event;
  const isMac = navigator.userAgent.includes("Macintosh");
  if (altKey || ctrlKey === isMac || metaKey !== isMac) return undefined;
  // by its code, a key is the same in all keyboard layouts, as it is for the editor
  const letter = String.fromCharCode(keyCode);
  if (letter === "A" && !shiftKey) return "selectAll";
  // outside of text boxes, they undo and redo the last change of the file
  if (!isTextBox(event.target)) return undefined;
  if (letter === "Z") return shiftKey ? "redo" : "undo";
  return letter === "Y" && !shiftKey && !isMac ? "redo" : undefined;
}

const isTextBox = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && ["text", "search"].includes(target.type);
