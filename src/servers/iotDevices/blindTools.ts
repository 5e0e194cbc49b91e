/** Tools that move blinds. */
import { z } from "zod";
import { id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { Home, isOrAre, formatDevice, findReadyDevice, type OfKind } from "./state.ts";
import { blindsId } from "./parameters.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Home);

/** The charge, in percent, below which a motor does not move. */
export const minCharge = { blinds: 10, lock: 5 };

/** The blinds, or a refusal if their motor cannot move them to that position. */
export function requireMovableBlinds(
  home: Home,
  device_id: string,
  position: number,
): OfKind<"blinds"> {
  const blinds = findReadyDevice(home, device_id, "blinds");
  const deviceText = formatDevice(home, device_id, blinds);
  if (blinds.battery < minCharge.blinds)
    refuse(
      "precondition_failed",
      `the battery of ${deviceText} is at ${blinds.battery} percent, and its motor needs ${minCharge.blinds}`,
      "it has to be charged by hand",
    );
  if (blinds.position === position)
    refuse(
      "conflict",
      `${deviceText} ${isOrAre(blinds)} already ${position === 0 ? "closed" : position === 100 ? "open" : `${position} percent open`}`,
    );
  return blinds;
}

/** The blinds, or a refusal if they cannot be opened to that position now. */
export function requireOpenableBlinds(
  home: Home,
  device_id: string,
  position: number,
): OfKind<"blinds"> {
  const blinds = requireMovableBlinds(home, device_id, position);
  if (home.mode === "away")
    refuse(
      "precondition_failed",
      `${formatDevice(home, device_id, blinds)} ${isOrAre(blinds)} not opened in away mode`,
      "activate a scene that sets home mode first",
    );
  return blinds;
}

const returns = {
  name: label("blinds"),
  device_id: id("blinds"),
  position: z.int(),
  was: z.int(),
};

/** Moves the blinds to a position and describes that. */
function move(blinds: OfKind<"blinds">, device_id: string, position: number) {
  const was = blinds.position;
  blinds.position = position;
  return { name: blinds.name, device_id, position, was };
}

export const blindTools = {
  open_blinds: tool({
    effect: "write",
    summary: "Open blinds, all the way or to some percent. In away mode they stay as they are.",
    input: {
      device_id: blindsId,
      position: z
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe("Percent open, 100 if not given")
        .meta({ examples: vocabulary.positions }),
    },
    returns,
    run(home, { device_id, position = 100 }) {
      return move(requireOpenableBlinds(home, device_id, position), device_id, position);
    },
  }),
  close_blinds: tool({
    effect: "write",
    summary: "Close blinds all the way.",
    input: { device_id: blindsId },
    returns,
    run(home, { device_id }) {
      return move(requireMovableBlinds(home, device_id, 0), device_id, 0);
    },
  }),
};
