/**
 * Makes invisible characters in text from outside visible, so that it can neither control a
 * terminal nor hide anything from a reader.
 */

/**
 * Control characters with line breaks and tabs, bidirectional marks, invisible spaces, Unicode line
 * separators, tags and lone surrogates.
 */
const invisible =
  /[\p{Cc}\u061c\u00ad\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** The text on one line, with invisible characters escaped. */
export const escapeInvisible = (text: string): string => text.replace(invisible, escapeCharacter);

/**
 * The text on one line, with invisible characters escaped as in JSON: JSON keeps its value, and
 * other text is readable.
 */
export const escapeInvisibleAsJson = (text: string): string =>
  text.replace(invisible, character =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`,
    ).join(""),
  );

/** The lines of the text, with invisible characters escaped. */
export const splitVisibleLines = (text: string): readonly string[] =>
  text.split(/\r\n|\r|\n/).map(escapeInvisible);

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
