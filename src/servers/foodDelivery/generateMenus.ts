/**
 * The restaurants of the generated fixtures by the role of their place, with hours and menu. Dish
 * names are unique.
 */
import type { Weekday } from "../../environment/time.ts";

export interface Kitchen {
  readonly cuisine: string;
  readonly opens: string;
  readonly closes: string;
  readonly closedOn?: Weekday;
  readonly minimum: number;
  readonly fee: number;
  readonly cooking: number;
  readonly ride: number;
  /** Name, section, price, letters of its diets, description, key of its option group. */
  readonly card: readonly (readonly [string, string, number, string, string, string?])[];
}

/**
 * Letters of diets: `v` vegan, `e` vegetarian, `g` without gluten, `l` without lactose, `n` without
 * nuts, `h` halal. A vegan dish is also vegetarian and without lactose.
 */
export const dietLetters = {
  v: "vegan",
  e: "vegetarian",
  g: "gluten_free",
  l: "lactose_free",
  n: "nut_free",
  h: "halal",
} as const;

/** Groups of choices by key. */
export const optionGroups: Readonly<
  Record<string, { name: string; required?: true; choices: Record<string, number> }>
> = {
  size: { name: "size", choices: { small: 0, large: 2.5 } },
  cup: { name: "cup", choices: { small: 0, large: 0.8 } },
  milk: { name: "milk", choices: { "whole milk": 0, "oat milk": 0.5 } },
  heat: { name: "heat", required: true, choices: { mild: 0, medium: 0, hot: 0 } },
  cheese: { name: "extra", choices: { "extra cheese": 1.5, "extra vegetables": 1.2 } },
  done: { name: "meat", required: true, choices: { medium: 0, "well done": 0 } },
  dip: { name: "dip", choices: { "garlic dip": 0.8, "chili dip": 0.8 } },
};

export const kitchens: Readonly<Record<string, Kitchen>> = {
  bakery: {
    cuisine: "bakery",
    opens: "06:30",
    closes: "14:00",
    minimum: 8,
    fee: 1.9,
    cooking: 8,
    ride: 10,
    card: [
      ["Butter croissant", "sweet", 1.9, "en", "Laminated by hand, baked at five"],
      ["Almond croissant", "sweet", 2.6, "e", "Filled with almond cream"],
      ["Cinnamon knot", "sweet", 2.4, "en", "With cardamom sugar"],
      ["Sourdough loaf", "bread", 4.8, "vn", "Wheat and rye, 800 grams"],
      ["Seeded rye bread", "bread", 5.2, "vn", "Sunflower and pumpkin seeds"],
      ["Cheese and leek pasty", "savoury", 3.9, "en", "Warm, in puff pastry"],
      ["Ham and egg roll", "savoury", 4.2, "n", "With mustard butter"],
      ["Apple tart", "sweet", 3.4, "en", "Thin apples on custard"],
      ["Fresh orange juice", "drinks", 3.2, "vgn", "Pressed to order", "cup"],
    ],
  },
  cafe: {
    cuisine: "coffee and breakfast",
    opens: "07:30",
    closes: "18:00",
    minimum: 10,
    fee: 2.2,
    cooking: 12,
    ride: 12,
    card: [
      ["Granola bowl", "breakfast", 6.5, "e", "Yoghurt, honey, roasted hazelnuts"],
      ["Avocado toast", "breakfast", 7.8, "vn", "Sourdough, lemon, chili flakes"],
      ["Eggs with spinach", "breakfast", 8.2, "eg", "Two eggs, spinach, feta", "cheese"],
      ["Porridge with pears", "breakfast", 5.9, "vn", "Oats in oat milk, cinnamon"],
      ["Chicken club sandwich", "mains", 9.4, "lnh", "Three slices, crisp lettuce", "dip"],
      ["Flat white", "drinks", 3.4, "egn", "Double shot", "milk"],
      ["Pot of mint tea", "drinks", 3.1, "vgn", "Fresh leaves"],
      ["Carrot cake", "desserts", 4.3, "e", "With walnuts and lime icing"],
      ["Lemon polenta cake", "desserts", 4.5, "eg", "Without wheat, with almonds"],
    ],
  },
  pasta: {
    cuisine: "italian pasta",
    opens: "11:30",
    closes: "22:00",
    minimum: 15,
    fee: 2.5,
    cooking: 20,
    ride: 14,
    card: [
      ["Tagliatelle al ragù", "mains", 12.5, "n", "Six hours on the stove", "size"],
      ["Spaghetti with clams", "mains", 14.9, "ln", "White wine, parsley", "size"],
      ["Spinach ravioli", "mains", 12.9, "en", "Sage butter"],
      ["Rigatoni alla norma", "mains", 11.8, "en", "Aubergine, ricotta salata", "size"],
      ["Penne all'arrabbiata", "mains", 10.4, "vn", "Tomatoes, garlic, chili", "size"],
      ["Minestrone", "starters", 6.2, "vgn", "Beans and seven vegetables"],
      ["Focaccia with rosemary", "sides", 4.1, "vn", "Sea salt, olive oil"],
      ["Panna cotta", "desserts", 5.6, "gn", "With berries"],
      ["Sparkling lemonade", "drinks", 3.4, "vgn", "Home-made"],
    ],
  },
  trattoria: {
    cuisine: "italian",
    opens: "12:00",
    closes: "22:30",
    closedOn: "Tuesday",
    minimum: 20,
    fee: 3,
    cooking: 25,
    ride: 12,
    card: [
      ["Vitello tonnato", "starters", 11.5, "gn", "Cold veal, tuna sauce, capers"],
      ["Burrata with tomatoes", "starters", 10.2, "egn", "From Apulia"],
      ["Lasagne della casa", "mains", 13.4, "n", "Baked in the pan"],
      ["Saltimbocca", "mains", 17.8, "gn", "Veal, ham, sage"],
      ["Gnocchi with gorgonzola", "mains", 13.2, "e", "Walnuts, pear"],
      ["Mushroom risotto", "mains", 13.9, "egn", "Porcini and parsley", "cheese"],
      ["Grilled sea bream", "mains", 18.6, "gln", "Lemon potatoes"],
      ["Rocket salad with pear", "sides", 6.8, "eg", "Pine nuts, parmesan"],
      ["Tiramisu", "desserts", 6.4, "en", "Made each morning"],
    ],
  },
  sushi: {
    cuisine: "japanese",
    opens: "12:00",
    closes: "22:00",
    closedOn: "Monday",
    minimum: 18,
    fee: 3.2,
    cooking: 18,
    ride: 18,
    card: [
      ["Salmon nigiri", "small plates", 7.6, "lgn", "Four pieces"],
      ["Tuna maki", "small plates", 6.9, "lgn", "Eight pieces"],
      ["Cucumber maki", "small plates", 4.8, "vgn", "Eight pieces"],
      ["Rainbow roll", "mains", 13.8, "ln", "Salmon, tuna, avocado"],
      ["Vegetable tempura", "mains", 11.2, "vn", "Sweet potato, lotus, beans"],
      ["Chirashi bowl", "mains", 17.5, "lgn", "The day's fish on rice", "size"],
      ["Miso soup", "starters", 3.9, "vn", "Tofu, wakame"],
      ["Edamame with salt", "starters", 4.4, "vgn", "Steamed"],
      ["Matcha cheesecake", "desserts", 6.1, "en", "A tall slice"],
    ],
  },
  curry: {
    cuisine: "indian",
    opens: "12:00",
    closes: "22:30",
    minimum: 18,
    fee: 2.9,
    cooking: 22,
    ride: 18,
    card: [
      ["Butter chicken", "mains", 13.6, "ghn", "Tomato, cream, fenugreek", "heat"],
      ["Lamb rogan josh", "mains", 15.4, "glhn", "Slow cooked, Kashmiri chili", "heat"],
      ["Chana masala", "mains", 10.9, "vgnh", "Chickpeas, ginger", "heat"],
      ["Palak paneer", "mains", 11.7, "egnh", "Spinach and fresh cheese"],
      ["Prawn biryani", "mains", 16.2, "glhn", "Basmati, saffron", "size"],
      ["Vegetable samosas", "starters", 5.6, "vnh", "Two, with tamarind"],
      ["Red lentil dal", "sides", 6.4, "vgnh", "With cumin"],
      ["Garlic naan", "sides", 3.3, "enh", "From the tandoor"],
      ["Mango lassi", "drinks", 3.9, "egnh", "Thick and cold"],
    ],
  },
  tacos: {
    cuisine: "mexican",
    opens: "08:30",
    closes: "22:00",
    closedOn: "Sunday",
    minimum: 14,
    fee: 2.4,
    cooking: 15,
    ride: 16,
    card: [
      ["Huevos rancheros", "breakfast", 8.4, "egn", "Corn tortillas, beans", "dip"],
      ["Breakfast burrito", "breakfast", 8.9, "n", "Egg, potato, chorizo"],
      ["Tacos al pastor", "mains", 10.8, "gln", "Pork, pineapple, three pieces", "dip"],
      ["Mushroom tacos", "mains", 9.9, "vgn", "Epazote, three pieces", "dip"],
      ["Chicken quesadilla", "mains", 10.2, "n", "With peppers", "cheese"],
      ["Black bean burrito", "mains", 9.6, "vn", "Rice, corn, salsa", "size"],
      ["Guacamole with chips", "starters", 6.7, "vgn", "Mashed to order"],
      ["Tortilla soup", "starters", 6.1, "gn", "Avocado, lime"],
      ["Churros with chocolate", "desserts", 5.2, "e", "Five"],
    ],
  },
  burger: {
    cuisine: "burgers",
    opens: "11:00",
    closes: "23:00",
    minimum: 15,
    fee: 2.6,
    cooking: 16,
    ride: 14,
    card: [
      ["Dock burger", "mains", 12.2, "n", "Beef, pickles, onion jam", "done"],
      ["Double smash burger", "mains", 14.6, "n", "Two patties, cheddar"],
      ["Halloumi burger", "mains", 11.9, "en", "Grilled peppers"],
      ["Black bean burger", "mains", 11.4, "vn", "Smoked paprika"],
      ["Fish in a bun", "mains", 12.8, "ln", "Cod, dill, cabbage"],
      ["Crispy chicken wings", "starters", 8.8, "gh", "Eight", "dip"],
      ["Sweet potato fries", "sides", 4.9, "vgn", "Rosemary salt", "dip"],
      ["Coleslaw", "sides", 3.6, "egn", "White cabbage, apple"],
      ["Vanilla milkshake", "drinks", 5.3, "egn", "With real vanilla", "cup"],
    ],
  },
  thai: {
    cuisine: "thai",
    opens: "12:00",
    closes: "21:30",
    closedOn: "Wednesday",
    minimum: 16,
    fee: 2.8,
    cooking: 18,
    ride: 20,
    card: [
      ["Pad thai with prawns", "mains", 13.2, "gl", "Peanuts, tamarind, lime", "heat"],
      ["Green curry with tofu", "mains", 11.9, "vgn", "Thai basil, aubergine", "heat"],
      ["Massaman beef", "mains", 14.4, "gl", "Potatoes, peanuts"],
      ["Pineapple fried rice", "mains", 11.2, "egl", "Cashews, egg", "size"],
      ["Basil chicken", "mains", 12.6, "lnh", "Holy basil, fried egg", "heat"],
      ["Papaya salad", "starters", 7.4, "gl", "Pounded to order", "heat"],
      ["Summer rolls", "starters", 6.6, "vgn", "Rice paper, herbs, two"],
      ["Tom kha soup", "starters", 6.9, "gln", "Coconut, galangal"],
      ["Sticky rice with mango", "desserts", 6.3, "vgn", "In season"],
    ],
  },
  vegan: {
    cuisine: "vegan",
    opens: "08:00",
    closes: "21:00",
    minimum: 12,
    fee: 2.1,
    cooking: 14,
    ride: 16,
    card: [
      ["Tofu scramble", "breakfast", 7.9, "vgn", "Turmeric, herbs"],
      ["Banana pancakes", "breakfast", 7.2, "v", "With pecans"],
      ["Green smoothie", "drinks", 5.1, "vgn", "Spinach, apple, ginger", "cup"],
      ["Buddha bowl", "mains", 11.6, "vg", "Quinoa, beets, cashew cream", "size"],
      ["Seitan gyros", "mains", 11.9, "vn", "With soy tzatziki", "dip"],
      ["Beetroot tartare", "starters", 8.3, "vgn", "Capers, mustard"],
      ["Lentil shepherd's pie", "mains", 12.3, "vgn", "Mashed celeriac"],
      ["Kale salad", "sides", 6.6, "vg", "Almonds, lemon"],
      ["Chocolate avocado mousse", "desserts", 5.7, "vgn", "No sugar added"],
    ],
  },
  falafel: {
    cuisine: "lebanese",
    opens: "08:30",
    closes: "22:00",
    minimum: 12,
    fee: 2,
    cooking: 12,
    ride: 18,
    card: [
      ["Falafel plate", "mains", 10.4, "vnh", "Six, tahini, pickles"],
      ["Falafel wrap", "mains", 7.6, "vnh", "In flat bread", "dip"],
      ["Chicken shawarma", "mains", 10.9, "lnh", "Garlic, pickled turnip", "size"],
      ["Lamb kofta", "mains", 12.9, "glnh", "Two skewers, sumac onions"],
      ["Hummus with pine nuts", "starters", 6.3, "vgh", "Warm flat bread beside"],
      ["Tabbouleh", "starters", 6.1, "vnh", "Parsley and lemon"],
      ["Shakshuka", "breakfast", 8.6, "egnh", "Two eggs in tomato", "heat"],
      ["Red lentil soup", "starters", 5.4, "vgnh", "With cumin and lemon"],
      ["Pistachio baklava", "desserts", 4.4, "eh", "Three pieces"],
    ],
  },
  pizza: {
    cuisine: "pizza",
    opens: "17:00",
    closes: "23:30",
    minimum: 16,
    fee: 2.3,
    cooking: 17,
    ride: 13,
    card: [
      ["Margherita", "mains", 9.2, "en", "Tomato, mozzarella, basil", "size"],
      ["Diavola", "mains", 11.4, "n", "Spicy salami", "size"],
      ["Quattro formaggi", "mains", 11.9, "en", "Four cheeses", "size"],
      ["Ortolana", "mains", 10.8, "en", "Courgette, aubergine, peppers", "cheese"],
      ["Marinara", "mains", 8.1, "vn", "Tomato, garlic, oregano", "size"],
      ["Calzone with ham", "mains", 11.7, "n", "Folded, ricotta"],
      ["Tuna and onion pizza", "mains", 11.2, "n", "Red onions", "size"],
      ["Caprese salad", "starters", 7.3, "egn", "Buffalo mozzarella"],
      ["Nutella pizza", "desserts", 6.9, "e", "To share"],
    ],
  },
};
