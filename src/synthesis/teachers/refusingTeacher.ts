/** A teacher that makes no calls and says that none of its tools can help. */
import type { Random } from "../../environment/random.ts";
import type { AssistantMessage, Conversation } from "../../policy/policy.ts";
import type { StyleGuide } from "../text/personas.ts";
import type { Recovery, Teacher } from "./teacher.ts";

export class RefusingTeacher implements Teacher {
  readonly name = "graph";
  readonly #texts: readonly string[];
  readonly #first: number;

  constructor({ cannot }: StyleGuide, random: Random) {
    this.#texts = cannot;
    this.#first = cannot.indexOf(random.pick(cannot));
  }

  /** Uses another sentence in each turn. */
  async next({ events }: Conversation): Promise<AssistantMessage> {
    const turn = events.filter(it => it.kind === "user").length - 1;
    return { text: this.#texts[(this.#first + turn) % this.#texts.length]!, calls: [] };
  }

  listRecoveries(): readonly Recovery[] {
    return ["give-up"];
  }
}
