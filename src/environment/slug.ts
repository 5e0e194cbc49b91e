/** The name in lower case, with letters and digits only, as in the domain of a company. */
export const toSlug = (name: string): string =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");
