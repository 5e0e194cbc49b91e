/** The categories, cash payments and savings goals of the generated budgets. */

export interface CategoryPlan {
  readonly key: string;
  readonly name: string;
  readonly kind: "need" | "want";
  /** Per month in the full fixture. `raised` applies from the month before last on. */
  readonly limit?: number;
  readonly raised?: number;
  /**
   * Per month in the small fixture, which has only the categories with this field; 0 is no limit.
   */
  readonly small?: number;
  readonly isFixed?: true;
  readonly isArchived?: true;
}

export const categoryPlans: readonly CategoryPlan[] = [
  { key: "housing", name: "Rent", kind: "need", limit: 870, small: 900 },
  { key: "utilities", name: "Water and power", kind: "need", limit: 160, small: 90 },
  { key: "groceries", name: "Groceries", kind: "need", limit: 180, raised: 200, small: 250 },
  { key: "eating", name: "Eating out", kind: "want", limit: 130, small: 80, isFixed: true },
  { key: "culture", name: "Books and films", kind: "want", limit: 110, small: 60 },
  { key: "health", name: "Health", kind: "need", limit: 70 },
  { key: "outdoors", name: "Outdoor gear", kind: "want", limit: 240, raised: 150 },
  { key: "beauty", name: "Hair and care", kind: "want", limit: 80 },
  { key: "transport", name: "Bus and bicycle", kind: "need", limit: 60, raised: 75 },
  { key: "gifts", name: "Flowers and gifts", kind: "want", limit: 60 },
  { key: "studio", name: "Studio supplies", kind: "need", limit: 320 },
  { key: "market", name: "Farmers' market", kind: "need", limit: 45 },
  { key: "snacks", name: "Ice cream and snacks", kind: "want", limit: 25, isFixed: true },
  { key: "clubs", name: "Courses and clubs", kind: "want", limit: 50 },
  { key: "household", name: "Household things", kind: "need", limit: 40 },
  { key: "tips", name: "Tips and small change", kind: "want" },
  { key: "family", name: "Family visits", kind: "want", limit: 60 },
  { key: "swim", name: "Swimming", kind: "want", limit: 20, isFixed: true },
  { key: "laundry", name: "Laundry and tailor", kind: "need", limit: 25 },
  { key: "clothes", name: "Clothes", kind: "want", limit: 70 },
  { key: "charity", name: "Good causes", kind: "want", limit: 30 },
  { key: "travel", name: "Travel", kind: "want" },
  { key: "gym", name: "Old gym", kind: "want", limit: 30, small: 0, isArchived: true },
  { key: "pottery", name: "Pottery class", kind: "want", limit: 40, isArchived: true },
];

/** Cash payments by category: text, lowest and highest amount. */
export const cashPools: Readonly<
  Record<string, readonly (readonly [text: string, least: number, most: number])[]>
> = {
  market: [
    ["Vegetable stall", 8, 16],
    ["Cheese stall", 7, 14],
    ["Honey and jam", 6, 11],
    ["Farm eggs", 3, 5],
    ["Olive stall", 5, 9],
  ],
  snacks: [
    ["Ice cream", 2.5, 6],
    ["Roasted almonds", 3, 5],
    ["Churros on the pier", 3, 6],
    ["Lemonade stand", 2, 4],
  ],
  clubs: [
    ["Choir fee", 10, 10],
    ["Chess evening", 4, 6],
    ["Drawing class", 12, 15],
    ["Dance night", 8, 12],
  ],
  household: [
    ["Light bulbs", 6, 12],
    ["Key copy", 5, 8],
    ["Paint and brushes", 9, 18],
    ["Candles", 4, 8],
  ],
  tips: [
    ["Cloakroom", 1, 2],
    ["Street musicians", 1, 3],
    ["Tip for the driver", 2, 4],
  ],
  family: [
    ["Cake for the aunt", 9, 16],
    ["Toys for the nephew", 8, 20],
    ["Ferry to the island", 12, 18],
  ],
  swim: [
    ["Public pool", 4, 5],
    ["Sauna evening", 9, 12],
  ],
  laundry: [
    ["Dry cleaning", 8, 14],
    ["New zip", 6, 9],
    ["Laundry tokens", 3, 5],
  ],
  clothes: [
    ["Flea market coat", 15, 30],
    ["Wool socks", 6, 10],
    ["Second-hand shoes", 14, 26],
  ],
  charity: [
    ["Lifeboat collection", 5, 10],
    ["School fair", 4, 9],
    ["Animal shelter", 5, 12],
  ],
  eating: [
    ["Fish rolls", 7, 11],
    ["Pancakes at the fair", 5, 8],
    ["Soup kitchen van", 6, 9],
  ],
  culture: [
    ["Second-hand novels", 4, 9],
    ["Film club", 5, 6],
    ["Poster at the flea market", 6, 12],
  ],
  travel: [
    ["Luggage locker", 4, 6],
    ["City map", 3, 5],
  ],
};

export interface GoalPlan {
  readonly name: string;
  readonly target: number;
  /** Days after the start time. */
  readonly by?: number;
  /** By month, the current one last. */
  readonly saved: readonly number[];
  readonly small?: true;
}

export const goalPlans: readonly GoalPlan[] = [
  { name: "Sailing trip", target: 1200, by: 150, saved: [100, 100, 120, 120], small: true },
  { name: "New bicycle", target: 640, by: 60, saved: [80, 80, 100, 90], small: true },
  { name: "Birthday party", target: 150, saved: [0, 50, 60, 40], small: true },
  { name: "Laptop", target: 1600, by: 260, saved: [120, 100, 100] },
  { name: "Emergency cushion", target: 3000, saved: [150, 100, 100, 50] },
  { name: "Film camera", target: 420, by: 95, saved: [60, 60, 40] },
  { name: "Kitchen table", target: 380, saved: [0, 40, 40, 30] },
  { name: "Guitar lessons", target: 240, by: 40, saved: [40, 40, 40] },
  { name: "Wedding present", target: 120, by: 75, saved: [30, 30, 30, 30] },
  { name: "Hiking boots", target: 170, saved: [60, 60, 50] },
  { name: "Garden bench", target: 210, by: 110, saved: [0, 20, 20] },
  { name: "Concert weekend", target: 300, by: 33, saved: [50, 50, 50, 30] },
  { name: "Sewing machine", target: 260, saved: [0, 30, 30] },
  { name: "Language exam", target: 190, by: 88, saved: [0, 0, 45, 20] },
  { name: "Printer for the studio", target: 520, by: 180, saved: [0, 70, 60] },
  { name: "Christmas presents", target: 350, by: 280, saved: [] },
  { name: "Kayak course", target: 180, by: 120, saved: [0, 0, 30, 20] },
  { name: "Reading chair", target: 450, saved: [] },
];
