/** The result of a test inside the extension host, as the outer test runner reads it. */
export interface TestResult {
  readonly title: string;
  readonly error?: string;
}
