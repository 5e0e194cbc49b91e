/** What servers declare about recovering from refusals is checked, and works on live sessions. */
import { describe, expect, test } from "vitest";
import { server as banking } from "../../../src/servers/banking/server.ts";
import { parseRecoveries, readRecoveries } from "../../../src/synthesis/text/recoveries.ts";
import { catalog } from "../../contracts/transports.ts";
import { drawRecoveries, serversFolder, type DrawnRecovery } from "./drawRecoveries.ts";

const servers = [...catalog.servers.values()].map(server => {
  const recoveries = readRecoveries(serversFolder, server);
  const { repairs = [], hints = [] } = recoveries;
  return { server, recoveries, repairs, hints };
});

/** Draws for each tool and fixture, which is enough for the rarest state. */
const draws = 60;

/** The items of a generator, which are drawn once, however often they are read. */
function keep<T>(generator: Generator<T>): () => Generator<T> {
  const drawn: T[] = [];
  return function* () {
    for (let i = 0; ; i++) {
      if (i === drawn.length) {
        const { done, value } = generator.next();
        if (done) return;
        drawn.push(value);
      }
      yield drawn[i]!;
    }
  };
}

describe("every declared repair", () => {
  // a repair of what another repair needs is found by the tool that needs both
  const draw = new Map<string, () => Generator<DrawnRecovery>>(
    servers.map(({ server, recoveries, repairs }) => {
      const tools = [...new Set(repairs.flatMap(it => it.of))];
      const options = { tools, draws, recoveries };
      return [server.name, keep(drawRecoveries(server, "repair", options))];
    }),
  );
  const cases = servers.flatMap(({ repairs, ...it }) =>
    repairs.map(repair => ({ ...it, repair, text: `${repair.by} after "${repair.refused}"` })),
  );
  test.each(cases)("works: $text", ({ server, repair }) => {
    for (const { result, session: drawn } of draw.get(server.name)!()) {
      const session = drawn.fork();
      const { intent } = result;
      const { refused, steps, told } = intent.recovery!;
      if (!told.includes(repair.told)) continue;
      expect(refused).toEqual(intent.arguments);
      expect(session.call(intent.tool.name, refused!).outcome.kind).toBe("refused");
      for (const it of steps) expect(session.call(it.name, it.arguments).outcome.kind).toBe("ok");
      expect(session.call(intent.tool.name, intent.arguments).outcome.kind).toBe("ok");
      return;
    }
    expect.unreachable("no state needs this repair");
  });
});

describe("every declared hint", () => {
  const cases = servers.flatMap(({ hints, ...it }) =>
    hints.map(hint => ({ ...it, hint, text: `${hint.of.join()} after "${hint.refused}"` })),
  );
  test.each(cases)("works: $text", ({ server, recoveries, hint }) => {
    const options = { tools: hint.of, draws, recoveries };
    for (const { result, session } of drawRecoveries(server, "hint", options)) {
      const { intent } = result;
      const { refused, told } = intent.recovery!;
      if (!told.includes(hint.told)) continue;
      const { outcome } = session.call(intent.tool.name, refused!);
      expect(outcome.kind).toBe("refused");
      expect(session.call(intent.tool.name, intent.arguments).outcome.kind).toBe("ok");
      return;
    }
    expect.unreachable("no refusal gives this hint");
  });
});

describe("a recoveries file is refused", () => {
  const parse = (changes: object) =>
    parseRecoveries(
      banking,
      JSON.stringify({
        format: "prove/recoveries@1",
        server: "banking",
        repairs: [
          {
            of: ["banking_withdraw"],
            refused: "is frozen",
            by: "banking_unfreeze_card",
            arguments: { card_id: { argument: "card_id" } },
            told: ["I unfroze it."],
            ...changes,
          },
        ],
      }),
      "recoveries.json",
    );
  test.each([
    [{ by: "banking_thaw_card" }, "banking has no tool banking_thaw_card"],
    [{ of: ["banking_pay"] }, "banking has no tool banking_pay"],
    [{ arguments: { card: { value: 1 } } }, "banking_unfreeze_card has no argument card"],
    [{ arguments: { card_id: { argument: "x" } } }, "banking_withdraw has no argument x"],
    [{ arguments: { card_id: { hint: "card" } } }, `"is frozen" has no group card`],
    [{ refused: "(" }, "is no regular expression"],
  ])("with %j", (changes, message) => {
    expect(() => parse(changes)).toThrow(message);
  });
});
