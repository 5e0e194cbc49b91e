/** The judge of synthesized tasks: which solver shows that a task accepts too little or too much. */
import { expect, test } from "vitest";
import { createSolverJudge } from "../../src/evaluation/solverJudge.ts";
import { judges } from "../../src/evaluation/solvers/solvers.ts";
import type { Task } from "../../src/trajectory/task.ts";
import {
  abstain,
  call,
  calling,
  catalog,
  goal,
  moveFifty,
  saying,
  taskOf,
} from "../trajectory/sampleTasks.ts";

const findFlaw = createSolverJudge(catalog, judges);

/** `moveFifty` with a look-up that says what it is for. */
async function moveBySupply(): Promise<Task> {
  const task = await moveFifty();
  const [first, ...rest] = task.goals;
  const feeding = first!.calls.map(it => ({ ...it, for: "feeds" as const, values: ["acc_108"] }));
  return { ...task, goals: [{ ...first!, calls: feeding }, ...rest] };
}

test("a task that any right way meets, and no wrong one, has no flaw", async () => {
  expect(await findFlaw(await moveBySupply())).toBeUndefined();
  expect(await findFlaw(await abstain())).toBeUndefined();
});

test("a task that asks for the teacher's own look-up fails the lister", async () =>
  expect(await findFlaw(await moveFifty())).toEqual({
    solver: "lister",
    why: expect.stringMatching(/^lister fails: .*banking_list_accounts/),
    unmadeWrites: [],
  }));

test("a call that a later one undoes is missed by nobody", async () => {
  const card = { card_id: "card_211" };
  const freeze = call("freeze_card", card);
  const unfreeze = call("unfreeze_card", { ...card, last_digits: "4417" });
  const move = call("transfer", { from_account: "acc_101", to_account: "acc_108", amount: 50 });
  const task = await taskOf({
    id: "t-undone",
    users: [
      "Freeze card_211.",
      "Unfreeze card_211, which ends in 4417, and move 50 from acc_101 to acc_108.",
    ],
    goals: [goal([freeze]), goal([unfreeze], [], 1), goal([move], [], 1)],
    teacher: [calling(freeze), saying("Done."), calling(unfreeze), calling(move), saying("Done.")],
  });
  expect(await findFlaw(task)).toMatchObject({ solver: "skipper" });
});
