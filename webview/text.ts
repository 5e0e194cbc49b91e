/** Formats external text so that it is safe to read, and numbers so that columns line up. */

/**
 * Replaces control and bidirectional characters by visible signs, as in transcripts, so that no
 * text is disguised.
 */
export const escapeInvisible = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, it =>
    it === "\n"
      ? "⏎"
      : it === "\t"
        ? "⇥"
        : `⟨U+${it.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );

/** Formats a number with fixed decimals and a true minus sign; there is no negative zero. */
export function formatFixed(value: number, decimals = 3): string {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

let rewardDecimals = 3;

/** Sets the decimals of rewards to those that the editor is set to, if it says so. */
export function setRewardDecimals(decimals: string | undefined): void {
  rewardDecimals = decimals === undefined ? 3 : Number(decimals);
}

export const formatReward = (reward: number): string => formatFixed(reward, rewardDecimals);

/** Formats a difference with its sign, such as "+0.5000"; "±0" where no digit shows it. */
export function formatChange(change: number, decimals: number): string {
  const text = formatFixed(change, decimals);
  if (Number(text) === 0) return "±0";
  return change > 0 ? `+${text}` : text;
}

/** Formats a number with up to three significant digits and an exponent, such as "1.5e-4". */
export const formatScientific = (value: number): string =>
  Number(value.toPrecision(3)).toExponential();

export const formatPercent = (share: number): string => `${formatFixed(share * 100, 1)}%`;

/** Formats a duration, such as "45 s" and "3 min 05 s". */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60
    ? `${whole} s`
    : `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}

/** Formats a number of things, such as "1 call" and "1,204 calls". */
export const formatCount = (n: number, noun: string): string =>
  `${formatInteger(n)} ${noun}${n === 1 ? "" : "s"}`;

/** Formats a whole number, such as "13,517". */
export const formatInteger = (n: number): string => n.toLocaleString("en");

/** A name whose lines break after underscores, as the parts of a list of children. */
export const breakName = (name: string): readonly (string | HTMLElement)[] =>
  escapeInvisible(name)
    .split(/(?<=_)/)
    .flatMap((it, i) => (i === 0 ? [it] : [document.createElement("wbr"), it]));

/** Formats a time that is given in ISO 8601, such as "Mar 1, 2026, 12:00:00 PM". */
export const formatDateTime = (iso: string): string =>
  new Date(iso).toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" });

/** The last part of a path of any operating system. */
export const getFileName = (path: string): string => path.split(/[\\/]/).at(-1)!;
