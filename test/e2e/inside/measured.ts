/** Says a measured number where a person reads the test's output; nothing is asserted by it. */
export const measured = (name: string, value: number, unit: string): void => {
  // oxlint-disable-next-line no-console -- the extension host's console is the way out
  console.log(`measured ${name}: ${value.toFixed(1)} ${unit}`);
};
