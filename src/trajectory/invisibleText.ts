/**
 * Text from outside as text to be looked at: what a terminal would obey or an editor would hide is
 * shown as a sign.
 */

/**
 * Controls, bidirectional marks, invisible spaces, line separators of other kinds, tags and lone
 * surrogates. Line breaks and tabs too.
 */
const hidden =
  /[\p{Cc}\u061c\u00ad\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** The text in one line, nothing in it hidden. */
export const escapeInvisible = (text: string): string => text.replace(hidden, formatSign);

/** The text's lines, nothing in them hidden. */
export const splitVisibleLines = (text: string): readonly string[] =>
  text.split(/\r\n|\r|\n/).map(escapeInvisible);

function formatSign(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
