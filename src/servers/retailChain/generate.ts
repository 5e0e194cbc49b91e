/**
 * Generates the stores of the cast's outdoor brand, in the home city and in others: stock, the
 * user's reservations, and shipments.
 */
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { RetailChainBuilder } from "./chainBuilder.ts";
import { server } from "./server.ts";
import { createAvailableCounter, computeReservationEnd, type RetailChainState } from "./state.ts";

function generate(context: GeneratorContext): RetailChainState {
  const builder = new RetailChainBuilder(context);
  builder.addStores();
  if (context.size === "small") addSmallFixture(builder);
  else addFullFixture(builder);
  return builder.state;
}

function addSmallFixture(builder: RetailChainBuilder): void {
  const [quay, market, station, hamburg, lyon] = builder.storeIds as [
    string,
    string,
    string,
    string,
    string,
  ];
  const amounts = [
    [6, 12, 0, 3, 9, 1, 20, 5],
    [2, 7, 4, 0, 38, 3, 11, 8],
    [4, 3, 5, 2, 6, 4],
    [9, 15, 8, 7, 12, 6, 14, 10],
    [3, 0, 6, 2, 5, 8, 4, 1],
    [5, 5, 5, 5, 5, 5, 5, 5],
  ];
  const items = Object.keys(builder.state.items);
  for (const [i, store] of builder.storeIds.entries())
    for (const [j, n] of amounts[i]!.entries()) builder.setStock(store, items[j]!, n);
  const [tent, shell, runners, , burner, pack, lantern, filter] = items as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  builder.addReservation(tent, quay, 2, 0, "held");
  builder.addReservation(runners, market, 1, 2, "held");
  builder.addReservation(lantern, station, 2, 9, "held");
  builder.addReservation(shell, hamburg, 1, 20, "collected");
  builder.addReservation(filter, market, 1, 5, "cancelled");
  builder.addShipment(quay, "Stoneway", 0, { [runners]: 8 });
  builder.addShipment(market, "Embra", -1, { [burner]: 6 });
  builder.addShipment(market, "Carria", 3, { [pack]: 5, [tent]: 2 });
  builder.addShipment(lyon, "Norrun", 0, { [tent]: 4 });
  builder.addShipment(quay, "Klarwell", -6, { [filter]: 5 }, true);
}

function addFullFixture(builder: RetailChainBuilder): void {
  const { context, state } = builder;
  const { random } = context;
  const items = Object.keys(state.items);
  for (const store of builder.storeIds)
    for (const item of items)
      if (random.boolean(0.88))
        builder.setStock(
          store,
          item,
          random.pickWeighted(
            [0, 1 + random.integer(4), 5 + random.integer(20), 25 + random.integer(20)],
            it => (it === 0 ? 1 : it < 5 ? 2 : it < 25 ? 5 : 1),
          ),
        );
  const isOpen = (store: string) =>
    state.stores[store]!.pickup && state.stores[store]!.reopens === undefined;
  const stores = builder.storeIds.filter(isOpen);
  const shuffledItems = random.shuffle(items);
  const listItemsInStock = (store: string, n: number) =>
    shuffledItems.filter(it => (state.stock[store]![it] ?? 0) >= n);
  const reservedItems = new Set<string>();
  const reserve = (i: number, daysAgo: number, status: "held" | "collected" | "cancelled") => {
    const store = stores[i % stores.length]!;
    const quantity = 1 + (i % 3);
    const item = listItemsInStock(store, quantity).find(it => !reservedItems.has(it))!;
    reservedItems.add(item);
    builder.addReservation(item, store, quantity, daysAgo, status);
  };
  for (let i = 0; i < 6; i++) reserve(i, i % 2, "held");
  for (let i = 6; i < 12; i++) reserve(i, 6 + i, "held");
  for (let i = 12; i < 17; i++) reserve(i, 3 + 2 * i, "collected");
  for (let i = 17; i < 21; i++) reserve(i, 2 + i, "cancelled");
  const ownStores = state.user.looks_after;
  for (let i = 0; i < 40; i++) {
    const store =
      i % 2 === 0 ? ownStores[(i / 2) % ownStores.length]! : random.pick(builder.storeIds);
    const item = random.pick(items);
    const sender =
      i % 7 === 3
        ? state.stores[random.pick(builder.storeIds.filter(it => it !== store))]!.name
        : state.items[item]!.brand;
    const others = items.filter(
      it => it !== item && state.items[it]!.brand === state.items[item]!.brand && i % 7 !== 3,
    );
    const lines = {
      [item]: 2 + random.integer(9),
      ...(others.length > 0 && random.boolean(0.5)
        ? { [random.pick(others)]: 1 + random.integer(6) }
        : {}),
    };
    const days = i < 12 ? -1 * (i % 2) : i < 22 ? 1 + random.integer(9) : -2 - random.integer(30);
    builder.addShipment(store, sender, days, lines, i >= 22);
  }
}

function* findContradictions(state: RetailChainState, cast: SharedCast): Generator<string> {
  const { stores, items, stock, reservations, shipments, user, terms } = state;
  if (user.name !== cast.user.name)
    yield `the user ${user.name} is not the user of the shared cast`;
  if (state.name !== cast.clients[1]!.legalName)
    yield `${state.name} is no firm of outdoor equipment`;
  for (const rows of [stores, items])
    for (const it of Object.values(rows))
      if (
        Object.values(rows).filter(other =>
          other.name.toLowerCase().includes(it.name.toLowerCase()),
        ).length > 1
      )
        yield `the name ${it.name} is part of another`;
  for (const it of user.looks_after)
    if (!Object.hasOwn(stores, it)) yield `${user.name} looks after ${it}, which is no store`;
  for (const [key, it] of Object.entries(stores)) {
    if (!cast.cities.some(city => city.name === it.city) || !it.address.endsWith(it.city))
      yield `store ${key} is at ${it.address}, which is in no city`;
    if (cast.places.some(place => place.address === it.address))
      yield `store ${key} is where another place is`;
    if (!Object.hasOwn(stock, key)) yield `store ${key} has no shelves`;
  }
  const available = createAvailableCounter(state, cast.now);
  for (const [store, shelf] of Object.entries(stock)) {
    if (!Object.hasOwn(stores, store)) yield `there is stock in ${store}, which is no store`;
    for (const [item, n] of Object.entries(shelf)) {
      if (!Object.hasOwn(items, item)) yield `store ${store} has ${item}, which is no item`;
      if (n > terms.shelf_space)
        yield `store ${store} has ${n} of ${item}, more than there is room for`;
      if (available(store, item) < 0) yield `store ${store} has fewer of ${item} than are reserved`;
    }
  }
  const heldReservations = Object.values(reservations).filter(
    it => it.status === "held" && it.until > cast.now,
  );
  if (heldReservations.length > terms.most_reservations)
    yield `${heldReservations.length} reservations are held`;
  for (const [key, it] of Object.entries(reservations)) {
    if (!Object.hasOwn(stores, it.store_id) || !Object.hasOwn(items, it.item_id))
      yield `reservation ${key} is of nothing`;
    else if (
      it.until !== computeReservationEnd(stores[it.store_id]!, it.made, terms.hold_days) ||
      it.made > cast.now
    )
      yield `reservation ${key} has the wrong times`;
  }
  const numbers = Object.values(shipments).map(it => it.number);
  if (new Set(numbers).size < numbers.length) yield "two shipments have one number";
  for (const [key, it] of Object.entries(shipments)) {
    if (!Object.hasOwn(stores, it.store_id))
      yield `shipment ${key} goes to ${it.store_id}, which is no store`;
    if ((it.received ?? "") > cast.now) yield `shipment ${key} was taken in before it came`;
    for (const item of Object.keys(it.lines))
      if (!Object.hasOwn(items, item)) yield `shipment ${key} brings ${item}, which is no item`;
  }
}

export const generator = defineGenerator<RetailChainState>({
  server,
  generate,
  findInconsistencies: (state, _states, cast) => [...findContradictions(state, cast)],
});
