/** Text from outside is shown as text: no link, no command, no icon, nothing invisible. */
import { expect, test } from "vitest";
import { toPlainLine, toPlainText, truncateText } from "../../../src/editor/shared/text.ts";

/** How the editor finds links in notifications, prompts and validation messages. */
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
const icon = /\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/;

test.each([
  [
    "[click me](command:workbench.action.terminal.new)",
    "[click me] (command:workbench.action.terminal.new)",
  ],
  ['[a](command:x "title")', '[a] (command:x "title")'],
  ["[a](https://example.com/?q=1)", "[a] (https://example.com/?q=1)"],
  ["[a](FILE:///etc/passwd)", "[a] (FILE:///etc/passwd)"],
  ["[[a]](command:x)", "[[a]] (command:x)"],
  ["[a]](command:x)](command:y)", "[a]] (command:x)] (command:y)"],
  ["[a]\u200b(command:x)", "[a]⟨U+200B⟩(command:x)"],
  ["[a]\u0000(command:x)", "[a]␀(command:x)"],
  ["$(gear~spin) costs $(5)", "$ (gear~spin) costs $ (5)"],
  ["\\$(gear)", "\\$ (gear)"],
  ["ok\u202egnp.exe", "ok⟨U+202E⟩gnp.exe"],
  ["\u001b]8;;https://example.com\u0007a", "␛]8;;https://example.com␇a"],
  ["a \ud800 b", "a ⟨U+D800⟩ b"],
  ["list[0] (a) $5 [b]: (c)", "list[0] (a) $5 [b]: (c)"],
])("%j is shown as text", (text, expected) => {
  for (const convert of [toPlainText, toPlainLine]) {
    expect(convert(text)).toBe(expected);
    // the result is safe to convert again
    expect(convert(convert(text))).toBe(expected);
    expect(convert(text)).not.toMatch(link);
    expect(convert(text)).not.toMatch(icon);
  }
});

test("line breaks are kept in messages and visible in labels", () => {
  expect(toPlainText("a\r\nb\nc")).toBe("a\nb\nc");
  expect(toPlainLine("a\nb")).toBe("a␊b");
});

test("a long text ends with an ellipsis and a whole character", () => {
  expect(truncateText("abc", 3)).toBe("abc");
  expect(truncateText("abcd", 3)).toBe("ab…");
  expect(truncateText("a😀bc", 3)).toBe("a…");
});
