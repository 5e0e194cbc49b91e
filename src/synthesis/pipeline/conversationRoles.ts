/** Creates the roles of a conversation that need no language model: the user and the teacher. */
import type { Catalog } from "../../environment/catalog.ts";
import type { Event } from "../../trajectory/trajectory.ts";
import { GraphTeacher } from "../teachers/graphTeacher.ts";
import type { SimulatedUser } from "../teachers/simulatedUser.ts";
import type { Teacher } from "../teachers/teacher.ts";
import { containsToken } from "../../trajectory/containsToken.ts";
import type { AbstentionTurn } from "../user/abstentionTurn.ts";
import type { UserSimulator } from "../user/userSimulator.ts";
import type { RefusingTeacher } from "../teachers/refusingTeacher.ts";

export interface ConversationRoles {
  readonly user: SimulatedUser;
  readonly teacher: Teacher;
}

/**
 * Adapts the user simulator: returns its turns, and passes it the outcomes of the teacher's calls.
 */
export function createUser(
  simulator: UserSimulator,
  teacher: GraphTeacher | RefusingTeacher,
  catalog: Catalog,
  events: readonly Event[],
): SimulatedUser {
  return {
    nextTurn: kind => simulator.nextTurn(kind)?.text,
    findFlaw: text => findTextFlaw(text, catalog),
    get addedTools() {
      return simulator.turn.addedTools;
    },
    get stuckReason() {
      return simulator.stuckReason;
    },
    get owesAnswer() {
      return simulator.owesAnswer;
    },
    get hasMore() {
      return simulator.hasMore;
    },
    receiveResult() {
      if (!(teacher instanceof GraphTeacher)) {
        simulator.recordRefusal();
        return undefined;
      }
      const last = events.at(-1);
      simulator.recordOutcomes(
        teacher.results.map(({ intent, call }) => ({ intent, outcome: call.outcome })),
        last?.kind === "assistant" ? last.text : "",
      );
      return undefined;
    },
  };
}

/** The roles of a conversation of one turn in which nothing is called. */
export const createAbstentionRoles = (
  { user, reply }: AbstentionTurn,
  catalog: Catalog,
): ConversationRoles => ({
  user: {
    nextTurn: () => user,
    stuckReason: undefined,
    findFlaw: text => findTextFlaw(text, catalog),
    owesAnswer: false,
    hasMore: false,
    receiveResult: () => undefined,
  },
  teacher: {
    name: "graph",
    next: async () => ({ text: reply, calls: [] }),
    listRecoveries: () => ["give-up"],
  },
});

/** Why a text cannot be a user's, or undefined. */
function findTextFlaw(text: string, catalog: Catalog): string | undefined {
  if ([...catalog.tools.keys()].some(it => containsToken(text, it))) return "names a tool";
  return /[{}|\u0000-\u0008]/.test(text) ? "has a slot left open" : undefined;
}
