/** The promo codes of the generated fixtures. */
import type { Promo } from "./state.ts";

export interface PromoPlan extends Omit<Promo, "restaurant_id"> {
  readonly code: string;
  /** The role of the only restaurant that accepts it. */
  readonly restaurant?: string;
  /** Whether the small fixture has it too. */
  readonly isInSmall?: true;
}

/** In the order in which a fixture lists them. */
export const promoPlans: readonly PromoPlan[] = [
  {
    code: "BREAKFAST20",
    title: "20 % off breakfast",
    kind: "percent",
    value: 20,
    minimum: 12,
    until: "2026-03-31",
    isInSmall: true,
  },
  {
    code: "MARCH15",
    title: "15 % off in March",
    kind: "percent",
    value: 15,
    minimum: 20,
    until: "2026-03-31",
  },
  {
    code: "WINTER5",
    title: "5 off in winter",
    kind: "amount",
    value: 5,
    minimum: 15,
    until: "2026-02-28",
    isInSmall: true,
  },
  {
    code: "HELLO10",
    title: "10 % off the first order from a restaurant",
    kind: "percent",
    value: 10,
    minimum: 0,
    until: "2026-06-30",
    first_only: true,
    isInSmall: true,
  },
  {
    code: "SPRING2",
    title: "2 off in spring",
    kind: "amount",
    value: 2,
    minimum: 5,
    until: "2026-05-31",
    isInSmall: true,
  },
  {
    code: "FREERIDE",
    title: "Free delivery over 25",
    kind: "free delivery",
    value: 0,
    minimum: 25,
    until: "2026-04-30",
    isInSmall: true,
  },
  {
    code: "GREENWEEK",
    title: "3 off vegan food",
    kind: "amount",
    value: 3,
    minimum: 10,
    until: "2026-03-15",
    restaurant: "vegan",
  },
  {
    code: "TACODAY",
    title: "4 off tacos",
    kind: "amount",
    value: 4,
    minimum: 18,
    until: "2026-05-31",
    restaurant: "tacos",
  },
  {
    code: "TEAMLUNCH",
    title: "10 off a big order",
    kind: "amount",
    value: 10,
    minimum: 60,
    until: "2026-12-31",
  },
  {
    code: "VALENTINE",
    title: "14 % off for two",
    kind: "percent",
    value: 14,
    minimum: 28,
    until: "2026-02-15",
  },
];
