/** The version that programs name themselves with; a test holds it against the manifest. */
export const version = "0.8.0";
