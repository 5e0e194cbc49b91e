/** What a test inside the extension host came to, as it travels to the test runner outside. */
export interface Result {
  readonly title: string;
  readonly error?: string;
}
