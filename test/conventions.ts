/**
 * The conventions of the code base as functions from a source file to problems: names, size,
 * opening comments, randomness and time. They read text, not syntax trees, because what they look
 * for is spelled in one way here. Imports are checked by dependency-cruiser (architecture.test.ts).
 */

export interface Source {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Convention {
  readonly name: string;
  /** What is wrong with a file; empty where the convention is kept or does not apply. */
  readonly findProblems: (source: Source) => readonly string[];
  /** Files that break the convention, to prove that the check notices. */
  readonly violations: readonly Source[];
}

const banned = ["manager", "helper", "util", "wrapper", "impl"];
const bannedFiles = /(^|\/)(utils?|common|helpers?|lib|types|index)(\.ts$|\/)/;

const wordsOf = (name: string) =>
  name.split(/(?<=[a-z0-9])(?=[A-Z])|[_\W]+/).map(it => it.toLowerCase());
const isBanned = (word: string) => banned.includes(word.replace(/s$/, "")) || banned.includes(word);

function findNameProblems({ path, text }: Source): readonly string[] {
  const file = path.replace(/^(src|webview)\//, "");
  const inPath = wordsOf(file).filter(isBanned);
  const declared = [
    ...text.matchAll(
      /^(?:export\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|interface|type)\s+(\w+)/gm,
    ),
  ].map(it => it[1]!);
  return [
    ...(bannedFiles.test(path) ? ["has a file name that says nothing about its content"] : []),
    ...inPath.map(it => `has ${it} in its name`),
    ...declared.filter(it => wordsOf(it).some(isBanned)).map(it => `declares ${it}`),
  ];
}

const withoutComments = (text: string) =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(?<=^|\s)\/\/.*$/gm, "");

/** Forbids a spelling in the files that `where` matches. */
const forbid = (name: string, where: RegExp, spelling: RegExp, violation: Source): Convention => ({
  name,
  findProblems: ({ path, text }) =>
    where.test(path)
      ? [...withoutComments(text).matchAll(spelling)].map(it => `says ${it[0].trim()}`)
      : [],
  violations: [violation],
});

const code = /^(src|webview)\/.*\.ts$/;

/** Editor functions that render links, commands or icons, and the file that alone calls them. */
const renderingFunctions: readonly (readonly [spelling: RegExp, file: string])[] = [
  [
    /\b(show(Information|Warning|Error)Message|withProgress|show(QuickPick|InputBox)|create(QuickPick|InputBox)|setStatusBarMessage|createStatusBarItem|new MarkdownString)\b|\.(items|prompt|placeholder|validationMessage) = /g,
    "src/editor/shared/notifications.ts",
  ],
  [
    /\bnew TreeItem\b|\.createTestItem\b|\bcreateTreeView\b|\bregisterTreeDataProvider\b|\bitem\.(label|description|tooltip) = /g,
    "src/editor/shared/treeView.ts",
  ],
  [/\.webview\.html = |\bonDidReceiveMessage\b/g, "src/editor/shared/page.ts"],
];

/** Calls of rendering functions outside their files: text from outside could become a command. */
function findRenderedTexts({ path, text }: Source): readonly string[] {
  if (!/^src\/(editor\/.*|extension)\.ts$/.test(path)) return [];
  return renderingFunctions.flatMap(([spelling, file]) =>
    path === file
      ? []
      : [...withoutComments(text).matchAll(spelling)].map(
          it => `says ${it[0].trim()}; use ${file}`,
        ),
  );
}

/** Relative paths that lead above the repository's root, and absolute paths of a machine. */
function findOutsidePaths({ path, text }: Source): readonly string[] {
  const depth = path.split("/").length - 1;
  const relative = [...text.matchAll(/(?<![\w./])((?:\.\.\/)+)shared\b/g)].filter(
    it => it[1]!.length / "../".length > depth,
  );
  const absolute = [...text.matchAll(/(?<![\w.])\/work\//g)];
  return [...relative, ...absolute].map(it => `mentions ${it[0]}`);
}

export const conventions: readonly Convention[] = [
  {
    name: "names say what a thing is",
    findProblems: source => (code.test(source.path) ? findNameProblems(source) : []),
    violations: [
      { path: "src/run/folder.ts", text: "export class FolderManager {}" },
      { path: "src/run/utils/folder.ts", text: "" },
      { path: "src/run/index.ts", text: "" },
      { path: "src/editor/tasks/treeHelpers.ts", text: "" },
    ],
  },
  {
    name: "comments are at most 100 columns wide",
    findProblems: ({ path, text }) =>
      /\.(ts|mjs)$/.test(path)
        ? text
            .split("\n")
            // examples and tables with aligned columns do not wrap
            .filter(it => it.length > 100 && /^\s*(\/?\*|\/\/) /.test(it) && !/\S {3,}\S/.test(it))
            .filter(it => !/^\s*\* {4,}/.test(it))
            .map(it => `has a comment of ${it.length} columns: ${it.trim()}`)
        : [],
    violations: [
      { path: "src/run/folder.ts", text: ` * ${"word ".repeat(30)}` },
      { path: "test/run/folder.test.ts", text: `  // ${"word ".repeat(30)}` },
    ],
  },
  {
    name: "at most 600 lines",
    findProblems: ({ path, text }) => {
      const lines = text.trimEnd().split("\n").length;
      return code.test(path) && lines > 600 ? [`has ${lines} lines`] : [];
    },
    violations: [
      { path: "src/run/folder.ts", text: `/** A run's folder. */${"\n".repeat(600)}export {};` },
    ],
  },
  {
    name: "an opening comment in each file",
    findProblems: ({ path, text }) =>
      code.test(path) && !/^(#!.*\n)?\/(\*\*|\/) ?\S?/.test(text) ? ["has no opening comment"] : [],
    violations: [{ path: "src/run/folder.ts", text: `import { join } from "node:path";` }],
  },
  forbid(
    "no clock, random numbers or locale from outside a session",
    /^src\/(environment|servers|synthesis|reward|trajectory)\//,
    /\b(Date\.now|Math\.random|performance\.now|randomUUID|localeCompare|toLocale\w*|Intl\.\w+|new Date\(\))/g,
    { path: "src/servers/banking/server.ts", text: "const now = Date.now();" },
  ),
  forbid(
    "external text is shown as text",
    code,
    /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|supportHtml)\b/g,
    {
      path: "webview/run/main.ts",
      text: "element.innerHTML = reply;",
    },
  ),
  forbid(
    "files are written by functions that follow no link",
    // the last two write to a new folder and to one of this user only
    /^src\/(?!storage\/|app\/backends\.ts|service\/sessions\/journal\.ts)/,
    /\b(?:(?:write|append|copy)FileSync|createWriteStream|appendFile|copyFile|await writeFile)\(/g,
    { path: "src/app/score.ts", text: "writeFileSync(file, page);" },
  ),
  {
    name: "text from outside cannot become a link or a command in the editor",
    findProblems: findRenderedTexts,
    violations: [
      "void window.showErrorMessage(error.message);",
      "void window.showWarningMessage(error.message);",
      "const { showInformationMessage } = window;",
      "await window.withProgress(options, run);",
      "await vscode.window.showQuickPick(items);",
      "await window.showInputBox({ prompt: field.description });",
      "const box = window.createQuickPick();",
      "const box = window.createInputBox();",
      "box.items = tasks;",
      "box.prompt = field.description;",
      "box.placeholder = field.description;",
      "box.validationMessage = problem;",
      "window.setStatusBarMessage(run.name);",
      "const status = window.createStatusBarItem();",
      "return new Hover(new MarkdownString(tool.summary));",
      "const item = new TreeItem(task.request);",
      "item.tooltip = new Tooltip(task.request);",
      'window.createTreeView("prove.tasks", { treeDataProvider: tree });',
      "panel.webview.html = reply;",
      "panel.webview.onDidReceiveMessage(it => commands.executeCommand(it.command));",
      'window.registerTreeDataProvider("prove.tasks", tree);',
    ].map(text => ({ path: "src/editor/runs/training.ts", text })),
  },
  forbid(
    "no code is evaluated",
    // only Node.js can end a function, and only one that a script calls; servers of a workspace
    // are code
    /^(src|webview)\/(?!storage\/runLimited\.ts|servers\/own\/moduleRunner\.ts).*\.ts$/,
    /(?<![.\w])eval\(|\bnew Function\(|["']node:vm["']/g,
    { path: "src/editor/attempts/debug/watch.ts", text: "const value = eval(expression);" },
  ),
  forbid(
    "no folder, variable or signal that Windows lacks",
    // these four ask Linux where it can tell, and do without it elsewhere
    /^(src|webview)\/(?!compute\/wasm\/wasm|storage\/(processes|temporaryFolders)|mcp\/processTree).*\.ts$/,
    /["'`]\/(tmp|dev|usr|proc|etc)\/|env\.HOME\b|SIG(HUP|USR[12]|QUIT|PIPE|STOP|CONT)\b/g,
    { path: "src/run/folder.ts", text: 'child.kill("SIGUSR1");' },
  ),
  forbid(
    "no default exports",
    /^(src|webview|test)\/(?!.*vitest\.config).*\.ts$/,
    /^export default\b/gm,
    { path: "src/run/folder.ts", text: "export default 1;" },
  ),
  {
    name: "no path outside the repository",
    findProblems: findOutsidePaths,
    violations: [{ path: "README.md", text: ["..", "shared", "paper.md"].join("/") }],
  },
];
