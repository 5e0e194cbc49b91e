/** Finds inconsistencies in a generated smart home, and with the shared cast. */
import type { SharedCast } from "../shared/cast.ts";
import { computeRoomDraw } from "./houseModel.ts";
import type { Home, OfKind } from "./state.ts";

export function findInconsistencies(home: Home, cast: SharedCast): string[] {
  return [
    ...(home.owner === cast.user.name ? [] : [`the owner ${home.owner} is not ${cast.user.name}`]),
    ...(home.address === cast.getPlace("home").address
      ? []
      : [`the flat is at ${home.address}, not at ${cast.getPlace("home").address}`]),
    ...findDanglingReferences(home),
    ...findDuplicateNames(home),
    ...Object.entries(home.rooms).flatMap(([key, it]) =>
      computeRoomDraw(home, key, cast.now) <= it.circuit
        ? []
        : [`the ${it.name} draws more than its circuit carries`],
    ),
    ...Object.entries(home.devices).flatMap(([key, it]) =>
      it.kind === "lock" && !isLogConsistent(home, key, it)
        ? [`the log leaves the ${it.name} otherwise than it is`]
        : [],
    ),
  ];
}

/** Whether the last turn in the log matches the lock's state. */
function isLogConsistent(home: Home, lockId: string, { is_locked }: OfKind<"lock">): boolean {
  const turns = Object.values(home.log)
    .filter(it => it.lock_id === lockId && it.action !== "wrong code")
    .sort((a, b) => (a.at < b.at ? -1 : 1));
  const last = turns.at(-1);
  return last === undefined || (last.action === "locked") === is_locked;
}

function findDanglingReferences({
  rooms,
  devices,
  removed,
  sensors,
  scenes,
  automations,
  log,
}: Home): string[] {
  const problems: string[] = [];
  const requireKey = (table: object, key: string, whose: string) =>
    void (Object.hasOwn(table, key) || problems.push(`${whose} names ${key}, which is not there`));
  for (const it of [
    ...Object.values(devices),
    ...Object.values(sensors),
    ...Object.values(removed),
  ])
    requireKey(rooms, it.room_id, it.name);
  for (const it of Object.values(devices))
    if (it.kind === "vacuum") for (const room of it.rooms) requireKey(rooms, room, it.name);
  for (const it of Object.values(scenes))
    for (const { device_id } of it.actions)
      requireKey({ ...devices, ...removed }, device_id, `scene ${it.name}`);
  for (const it of Object.values(automations)) {
    requireKey(scenes, it.scene_id, `automation ${it.name}`);
    if (it.when.kind === "sensor") requireKey(sensors, it.when.sensor_id, `automation ${it.name}`);
  }
  for (const [key, it] of Object.entries(log)) requireKey(devices, it.lock_id, key);
  return problems;
}

/** Names that occur twice. */
function findDuplicateNames({ rooms, devices, sensors, scenes, automations }: Home): string[] {
  const names = [rooms, sensors, scenes, automations].flatMap((table, i) =>
    Object.values(table).map(it => `${i} ${it.name}`),
  );
  const all = [
    ...names,
    ...Object.values(devices).map(it => `${it.name} in the ${rooms[it.room_id]!.name}`),
  ];
  const thermostats = Object.values(devices).flatMap(it =>
    it.kind === "thermostat" ? [`heating of ${it.room_id}`] : [],
  );
  return [...all, ...thermostats]
    .filter((it, i, list) => list.indexOf(it) !== i)
    .map(it => `${it} is there twice`);
}
