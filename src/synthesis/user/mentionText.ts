/** The words for an entity in a clause, and what they leave open. */

/** The words for an entity. */
export interface MentionText {
  readonly text: string;
  readonly isIdSpoken: boolean;
  /** The words, where they are only a part of the label or id. */
  readonly partialName?: string;
  /** The partial name fits several, which the text tells apart by something else. */
  readonly isAmbiguous?: boolean;
}
