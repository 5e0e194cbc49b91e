/** How many of some tasks fit a student, and why the others do not. */
export interface FitCounts {
  readonly total: number;
  readonly fitting: number;
  /** Tasks with servers that the student was not trained on. */
  readonly unknownServers: number;
  /** Tasks on servers that it knows, but beyond its limits. */
  readonly tooLong: number;
}

/** The reasons for people, with the number of tasks of each, such as "23 too long for it". */
export const listMisfitReasons = ({ unknownServers, tooLong }: FitCounts): string[] => [
  ...(unknownServers ? [`${unknownServers} on servers that it does not know`] : []),
  ...(tooLong ? [`${tooLong} too long for it`] : []),
];
