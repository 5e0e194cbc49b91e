/** Finds a value in a text as a whole token, so that `12` is not found in `120`. */

/** Whether a text contains a value that is neither preceded nor followed by a letter or digit. */
export function containsToken(text: string, value: string): boolean {
  if (value === "") return false;
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1))
    if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + value.length])) return true;
  return false;
}

const isWordCharacter = (char: string | undefined): boolean =>
  char !== undefined && /[\p{L}\p{N}_]/u.test(char);
