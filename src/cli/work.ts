/**
 * `work`: the long work that the editor hands over when it forks this program. Asks come and facts
 * go over the fork's channel; it does what the commands of the same names do, and knows no editor.
 */
import { dirname } from "node:path";
import { openCatalog } from "../environment/catalog.ts";
import { UserError } from "../userError.ts";
import type { Work, WorkAsk, WorkSays } from "../protocol/work.ts";
import type { Command, Terminal } from "./command.ts";
import { EditorModel } from "./editorModel.ts";
import { synthesizeBy } from "./synthesize.ts";
import { editorTeacher, endpointTeacher, type ModelTeacher } from "./teachers.ts";

export const work: Command = {
  usage: "work",
  summary:
    "Long work for the editor, which forks this program and speaks to it over the fork's channel.",
  options: {},
  async run(terminal) {
    if (!process.send)
      throw new UserError(
        "work has no channel to speak over",
        "it is started by the editor; run the command itself instead",
      );
    const say = (said: WorkSays) => void process.send!(said);
    const stop = new AbortController();
    let model: EditorModel | undefined;
    const ask = await new Promise<Work>(resolve => {
      process.on("message", (message: WorkAsk) => {
        switch (message.kind) {
          case "cancel":
            return stop.abort();
          case "model-answer":
          case "model-failed":
            return model?.take(message);
          case "synthesize":
            return resolve(message);
          default:
            throw new Error(`the editor asked for ${JSON.stringify(message satisfies never)}`);
        }
      });
    });
    if (ask.teacher?.kind === "editor") model = new EditorModel(ask.teacher.model, say);
    // whoever asked has gone: nobody waits for the rest
    process.once("disconnect", () => process.exit(1));
    try {
      say({
        kind: "done",
        report: await answer(ask, { ...terminal, signal: stop.signal }, say, model),
      });
      return 0;
    } catch (error) {
      if (stop.signal.aborted) say({ kind: "cancelled" });
      else if (error instanceof UserError)
        say({ kind: "failed", what: error.what, remedy: error.remedy });
      else throw error;
      return 1;
    } finally {
      process.removeAllListeners("disconnect");
      process.disconnect();
    }
  },
};

/** Does what the command of that name does, its printed lines being the report. */
async function answer(
  ask: Work,
  terminal: Terminal,
  say: (said: WorkSays) => void,
  model: EditorModel | undefined,
): Promise<readonly string[]> {
  const report: string[] = [];
  const progress = (line: string) => {
    const [, done, total, doing] = /^(\d+) of (\d+) (.*)$/.exec(line) ?? [];
    if (done && total && doing)
      say({ kind: "progress", done: Number(done), total: Number(total), doing });
  };
  const catalog = openCatalog([...terminal.catalog.servers.values()], ask.fixtures);
  const { out, count, seed, servers, preset } = ask;
  // the tasks lie in the workspace's own folder, as its verdicts on edges do
  const own = {
    ...terminal,
    prove: dirname(dirname(out)),
    catalog,
    progress: spaced(progress),
    print: (line: string) => void report.push(line.trim()),
  };
  await synthesizeBy(() => teacherFor(ask.teacher, model, own), own, {
    out,
    count: String(count),
    seed: String(seed),
    servers: servers.join(","),
    ...(preset ? { preset } : {}),
    ...(ask.resume ? { resume: true } : {}),
  });
  return report;
}

function teacherFor(
  teacher: Work["teacher"],
  model: EditorModel | undefined,
  terminal: Terminal,
): ModelTeacher | undefined {
  if (model) return editorTeacher(model);
  // a key of the environment was not given for this address
  return teacher?.kind === "endpoint" ? endpointTeacher(teacher, terminal, {}) : undefined;
}

/** At most ten a second: a notification shows no more. */
function spaced(progress: (line: string) => void): (line: string) => void {
  let last = -Infinity;
  return line => {
    const now = performance.now();
    if (now - last < 100) return;
    last = now;
    progress(line);
  };
}
