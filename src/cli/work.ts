/**
 * `work`: runs long work for the editor, which forks this program and sends it one request over a
 * typed channel. Help does not list this command.
 */
import { dirname } from "node:path";
import { createForkChannel, type Channel } from "../channel/channel.ts";
import type {
  EditorMessages,
  EngineWork,
  ProgramMessages,
  SynthesisWork,
  WorkProgress,
} from "../protocol/work.ts";
import {
  runSynthesis,
  type ModelTeacher,
  type SynthesisResult,
} from "../synthesis/pipeline/run/runSynthesis.ts";
import { UserError } from "../userError.ts";
import { defineCommand, type CliContext } from "./command.ts";
import { openShippedCatalog } from "../app/context.ts";
import { EditorModel } from "../app/teachers.ts";
import { prepareEngineFolder } from "../app/engineFolder.ts";
import { limitHeapGrowth, createShardStarter } from "../app/shardThread.ts";
import { createEditorTeacher, createEndpointTeacher } from "../app/teachers.ts";
import { scoreForTable } from "../app/scoringThreads.ts";

type EditorChannel = Channel<ProgramMessages, EditorMessages>;

export const work = defineCommand({
  name: "work",
  description:
    "Run long work for the editor, which starts this program and sends it one request over its channel. Cannot be used in a terminal.",
  arguments: [],
  options: {},
  examples: ["work"],
  async run(context) {
    if (!process.send)
      throw new UserError(
        "work needs the editor that starts it",
        "run the command itself instead, such as prove-rl synthesize",
      );
    context.endWithParent();
    const channel: EditorChannel = createForkChannel(process);
    let code = 1;
    const finish = <T>(result: T): T => {
      code = 0;
      return result;
    };
    const report = limitRate((it: WorkProgress) => channel.notify("advanced", it));
    // the servers of the workspace that the fixtures belong to, wherever the program was started
    const createContext = async (
      { fixtures }: { fixtures: readonly string[] },
      signal: AbortSignal,
    ) => ({
      ...context,
      catalog: await openShippedCatalog(fixtures, context.thread),
      signal,
    });
    channel.handle("synthesize", async (request, signal) =>
      finish(await synthesizeFor(request, await createContext(request, signal), channel)),
    );
    channel.handle("checkFit", async (request, signal) => {
      // loads the numerics
      const { checkFit } = await import("../app/work.ts");
      return finish(await checkFit(request, await createContext(request, signal), report));
    });
    channel.handle("plan", async (request, signal) => {
      const { makePlan } = await import("../app/makePlan.ts");
      const { config, model } = request;
      return finish(await makePlan(config, model, await createContext(request, signal)));
    });
    channel.handle("evaluate", async (request, signal) => {
      const { evaluateStudents } = await import("../app/work.ts");
      return finish(await evaluateStudents(request, await createContext(request, signal), report));
    });
    channel.handle("scoreAttempts", async (request, signal) => {
      limitHeapGrowth();
      return finish(
        await scoreForTable(
          request,
          { ...(await createContext(request, signal)), program: context.thread },
          it => channel.notify("scored", it),
        ),
      );
    });
    channel.handle("attempt", async (request, signal) => {
      const { attemptTask } = await import("../app/work.ts");
      return finish(await attemptTask(request, await createContext(request, signal)));
    });
    channel.handle("createConversations", async (request, signal) => {
      const { createConversations } = await import("../app/export/conversations.ts");
      const { catalog } = await createContext(request, signal);
      return finish(createConversations(request, catalog));
    });
    channel.handle("readAttempt", async (request, signal) => {
      const { readAsModel } = await import("../app/reading.ts");
      return finish(await readAsModel(request, await createContext(request, signal)));
    });
    channel.handle("prepareEngine", async (request, signal) => {
      await prepareEngineFor(request, await createContext(request, signal));
      return finish({});
    });
    channel.open();
    // the editor disconnects once it has read the answer
    await new Promise<void>(resolve => channel.onClose(resolve));
    process.exit(code);
  },
});

function prepareEngineFor(
  { fixtures, ...request }: EngineWork,
  context: CliContext,
): Promise<void> {
  return prepareEngineFolder(context, { ...request, fixtures: fixtures[0]! });
}

function synthesizeFor(
  { fixtures, teacher, ...request }: SynthesisWork,
  { catalog, resources, thread: program, printNote, signal }: CliContext,
  channel: EditorChannel,
): Promise<SynthesisResult> {
  limitHeapGrowth();
  // the tasks are in the workspace's own folder, and so are its verdicts on edges
  const prove = dirname(dirname(request.file));
  return runSynthesis(request, {
    catalog,
    resources,
    prove,
    createTeacher: () => chooseTeacher(teacher, channel, printNote),
    startShard: createShardStarter({
      program,
      request,
      resources,
      prove,
      fixtureFolders: fixtures,
      signal,
    }),
    onProgress: limitRate(progress => channel.notify("progress", progress)),
    onRemark: printNote,
    readClock: () => performance.now(),
    signal,
  });
}

function chooseTeacher(
  teacher: SynthesisWork["teacher"],
  channel: EditorChannel,
  printNote: CliContext["printNote"],
): ModelTeacher | undefined {
  switch (teacher.kind) {
    case "graph":
      return undefined;
    case "editor":
      return createEditorTeacher(new EditorModel(teacher.model, channel));
    case "endpoint":
      // keys in the environment were not meant for this address
      return createEndpointTeacher(teacher, { printNote }, {});
    default:
      throw new Error(`unknown teacher ${JSON.stringify(teacher satisfies never)}`);
  }
}

/** Reports at most ten values a second, which is enough for a notification. */
function limitRate<T>(report: (value: T) => void): (value: T) => void {
  let last = -Infinity;
  return value => {
    const now = performance.now();
    if (now - last < 100) return;
    last = now;
    report(value);
  };
}
