/** Registers runs: the Runs view, the run pages and training. */
import { join } from "node:path";
import { commands, workspace, type ExtensionContext, type Uri } from "vscode";
import type { RunState } from "../../protocol/runPage.ts";
import { registerCommands } from "../shared/commands.ts";
import { reportRejection } from "../shared/report.ts";
import { onDidChangeSetting } from "../shared/settings.ts";
import { createTree } from "../shared/treeView.ts";
import { registerPageRestorer } from "../shared/page.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import type { ReadOnlyFiles } from "../shared/readOnlyFiles.ts";
import { getSharedFolder } from "../shared/sharedFile.ts";
import { EndpointKeys } from "../synthesis/endpointKeys.ts";
import type { Synthesis } from "../synthesis/synthesis.ts";
import type { TasksNode, TasksTree } from "../tasks/tasksTree.ts";
import type { AttemptNode } from "../attempts/attemptLocation.ts";
import type { RewardPages } from "../attempts/reward/rewardPages.ts";
import type { LinePlace, TrajectoryDebugger } from "../attempts/debug/trajectoryDebugger.ts";
import type { Transcripts } from "../attempts/transcripts.ts";
import { AttemptForks, StudentAttempts } from "./studentAttempts.ts";
import { EngineTraining } from "./engineTraining.ts";
import { Evaluations } from "./evaluations.ts";
import { FailingAttempts } from "./failingAttempts.ts";
import { ModelPrompts } from "./modelPrompts.ts";
import { PlanDocuments } from "./planPrompt.ts";
import { deleteRun, exportMetrics, renameRun } from "./runFiles.ts";
import { RunPages } from "./runPages.ts";
import { installBackend, removeBackend } from "./nativeBackends.ts";
import { Runs } from "./runs.ts";
import { type RunsNode, RunsTree } from "./runsTree.ts";
import { Training } from "./training.ts";
import { TrainingQueue } from "./trainingQueue.ts";
import { TrainingStatus } from "./trainingStatus.ts";

/** What the menu of the Call Stack view passes. */
interface StackFrame {
  readonly sessionId: string;
}

interface RunDependencies {
  readonly folder: ProveFolder;
  readonly files: ReadOnlyFiles;
  readonly tasks: TasksTree;
  readonly transcripts: Transcripts;
  readonly trajectoryDebugger: TrajectoryDebugger;
  readonly rewardPages: RewardPages;
  readonly synthesis: Synthesis;
}

export function registerRuns(
  context: ExtensionContext,
  {
    folder,
    files,
    tasks,
    transcripts,
    trajectoryDebugger,
    rewardPages,
    synthesis,
  }: RunDependencies,
): Runs {
  const { extensionUri, subscriptions, workspaceState } = context;
  const runs = new Runs(folder);
  const tree = new RunsTree(runs);
  const getPages = () => pages;
  const evaluations = new Evaluations({ extensionUri, folder, tasks, runs, getPages });
  const attemptDependencies = { extensionUri, folder, runs, transcripts, workspaceState };
  const attempts = new StudentAttempts(attemptDependencies);
  const prompts = new ModelPrompts({ extensionUri, folder, files, runs, transcripts });
  const keys = new EndpointKeys(context.secrets, context.globalState);
  const forks = new AttemptForks({ ...attemptDependencies, trajectoryDebugger, keys });
  const failingAttempts = new FailingAttempts({
    folder,
    runs,
    transcripts,
    rewardPages,
    synthesis,
  });
  const engines = new EngineTraining({
    extensionUri,
    folder,
    tasks,
    runs,
    workspaceState,
    getPages,
  });
  const plans = new PlanDocuments(files);
  const training = new Training({
    extensionUri,
    folder,
    tasks,
    synthesis,
    runs,
    evaluations,
    engines,
    plans,
    workspaceState,
    getQueue: () => queue,
    getPages,
  });
  const queue = new TrainingQueue({
    runs,
    file: join(getSharedFolder(context), "queue.json"),
    train: folder => training.train(folder),
  });
  const pages = new RunPages({
    extensionUri,
    runs,
    sendRequest: (request, monitor) => training.request(request, monitor),
    showLog: monitor => engines.showLog(monitor),
  });
  const showPossibleCommands = createPaletteUpdate(runs);
  const goOn = () => {
    reportRejection(training.followEarlier());
    reportRejection(queue.resume());
  };
  subscriptions.push(
    runs,
    tree,
    prompts,
    pages,
    queue,
    engines,
    plans,
    new TrainingStatus(runs, queue),
    createTree("prove.runs", tree),
    folder.onDidChange(part => {
      if (part === "runs") runs.refresh();
    }),
    onDidChangeSetting("rewardDecimals", () => runs.refresh()),
    workspace.onDidGrantWorkspaceTrust(goOn),
    runs.onDidChange(showPossibleCommands),
    registerPageRestorer("run", (panel, state) => pages.restore(panel, state["folder"])),
  );
  registerCommands(context, {
    startTraining: (node?: TasksNode | Uri) => training.start(node),
    startTrainingFromFile: () => training.startFromFile(),
    createTrainingFile: () => training.createFile(),
    trainOnEngine: (node?: TasksNode | Uri) => engines.prepare(node),
    copyEngineCommand: (node?: RunsNode) => engines.copyCommand(node),
    showTrainingLog: (node?: RunsNode) => engines.showLog(node?.monitor),
    showFailingAttempt: () => failingAttempts.show(),
    tryStudent: (attempt?: AttemptNode | Uri) => attempts.start(attempt),
    // the menu of the call stack passes a frame
    showPrompt: (attempt?: AttemptNode | Uri | StackFrame) =>
      prompts.show(
        attempt && "sessionId" in attempt ? trajectoryDebugger.getForkPoint().uri : attempt,
      ),
    forkAttempt: () => forks.start(trajectoryDebugger.getForkPoint()),
    // the context menu of the text gives the address only, that of the call stack a frame
    continueFrom: async (place?: LinePlace | Uri | StackFrame) =>
      forks.start(
        await trajectoryDebugger.getPointBefore(place && "sessionId" in place ? undefined : place),
        "Continue From Here With…",
      ),
    evaluate: (node?: RunsNode) => evaluations.start(node),
    showRun: (node?: RunsNode) => pages.open(node),
    pauseTraining: (node?: RunsNode) => training.requestFor("pause", node),
    resumeTraining: (node?: RunsNode) => training.requestFor("resume", node),
    extendTraining: (node?: RunsNode) => training.extend(node),
    trainAgain: (node?: RunsNode) => training.trainAgain(node),
    stopTraining: (node?: RunsNode) => training.requestFor("stop", node),
    startQueued: (node?: RunsNode) => training.startQueued(node),
    removeFromQueue: (node?: RunsNode) => training.removeFromQueue(node),
    exportMetrics: (node?: RunsNode) => exportMetrics(runs, node),
    renameRun: (node?: RunsNode) => renameRun(runs, node),
    deleteRun: (node?: RunsNode) => deleteRun(runs, node),
    installBackend: () => installBackend(extensionUri),
    removeBackend: () => removeBackend(extensionUri),
  });
  goOn();
  showPossibleCommands();
  return runs;
}

/** Creates a function that hides commands from the palette for which there is no run. */
function createPaletteUpdate(runs: Runs): () => void {
  const shown = new Map<string, boolean>();
  return () => {
    const list = runs.list();
    const hasState = (...states: readonly RunState[]) =>
      list.some(it => states.includes(it.status.state));
    const contexts = {
      hasRuns: list.length > 0,
      hasEngineRuns: list.some(it => it.config.engine !== undefined),
      isTraining: hasState("starting", "training", "paused", "stopping"),
      hasQueue: hasState("queued"),
    };
    for (const [name, value] of Object.entries(contexts)) {
      if (shown.get(name) === value) continue;
      shown.set(name, value);
      void commands.executeCommand("setContext", `prove.${name}`, value);
    }
  };
}
