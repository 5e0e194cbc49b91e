/** The form in which free texts are compared. */

/** The text in lower case, with single spaces for punctuation and without articles. */
export const normalizeText = (text: string): string =>
  text
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .replaceAll(/\b(?:a|an|the)\b/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
