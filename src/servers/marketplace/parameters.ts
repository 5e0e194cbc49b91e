/** Parameters that several tools of the marketplace take. */
import { rowLimit } from "../../environment/fieldSchemas.ts";

export const limit = rowLimit(10);

export const prices = [
  15, 20, 25, 30, 40, 45, 50, 60, 75, 80, 90, 100, 120, 140, 160, 180, 200, 240, 280, 320, 380, 450,
];
