/**
 * Names of fixtures that are made from a fixture file. `full@17` is world 17 of `full`: the same
 * roles, with other people, places and dates. `full~3` is variant 3 of `full`, with other ids;
 * `full@17~3` is variant 3 of that world.
 */

export interface FixtureName {
  /** The name of the fixture file. */
  readonly base: string;
  readonly world?: number;
  readonly variant?: number;
}

/** The parts of a fixture's name. A name without `@` and `~` is a base. */
export function parseFixtureName(name: string): FixtureName {
  const match = /^([^@~]+)(?:@([1-9]\d{0,5}))?(?:~([1-9]\d{0,5}))?$/.exec(name);
  if (!match) return { base: name };
  const [, base, world, variant] = match;
  return {
    base: base!,
    ...(world === undefined ? {} : { world: Number(world) }),
    ...(variant === undefined ? {} : { variant: Number(variant) }),
  };
}

export const formatFixtureName = ({ base, world, variant }: FixtureName): string =>
  base + (world === undefined ? "" : `@${world}`) + (variant === undefined ? "" : `~${variant}`);

/** Every how many worlds one is held out of training. */
const heldOutStep = 10;

/**
 * Whether a fixture is of a world that is held out of training: every tenth one, by its number.
 */
export function isHeldOutWorld(fixtureName: string): boolean {
  const { world } = parseFixtureName(fixtureName);
  return world !== undefined && world % heldOutStep === 0;
}
