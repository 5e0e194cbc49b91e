/** Assigns both roles of a planned conversation to a chat model: the user and the assistant. */
import type { ChatModel } from "../../policy/chatModel.ts";
import type { Conversation } from "../../policy/policy.ts";
import { ChatModelTeacher } from "./chatModelTeacher.ts";
import { ChatModelUser, type ChatModelUserOptions } from "./chatModelUser.ts";
import type { SimulatedUser } from "./simulatedUser.ts";
import type { Teacher } from "./teacher.ts";

export interface LlmRoles {
  /** The teacher's name in tasks. */
  readonly name: string;
  assign(setup: RoleSetup): { readonly user: SimulatedUser; readonly teacher: Teacher };
}

/** A planned conversation. */
export interface RoleSetup extends Omit<ChatModelUserOptions, "model"> {
  readonly conversation: Conversation;
}

/** Creates the roles for one chat model. `name`: for example `endpoint:gemma` or `editor:gpt`. */
export const createLlmRoles = (model: ChatModel, name: string): LlmRoles => ({
  name,
  assign(setup) {
    const { conversation, signal } = setup;
    const user = new ChatModelUser({ ...setup, model });
    const getPlan = () => user.plan;
    return {
      user,
      teacher: new ChatModelTeacher({ model, name, getPlan, conversation, signal }),
    };
  },
});
