/** Starts the workbench host with packaged extensions, in its own home folder. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Host } from "./host.ts";

export interface CodeServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Returns what the server has printed so far. */
  readonly readOutput: () => string;
  readonly stop: () => Promise<void>;
}

export interface ServerOptions {
  readonly host: Host;
  /** The packages to install. */
  readonly extensions: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  /** Those that only the machine of the extension host has, such as paths of programs. */
  readonly machineSettings?: Readonly<Record<string, unknown>>;
  /** The password for the browser; without one, everyone on this machine has access. */
  readonly password?: string;
  /** Whether folders must be trusted before anything in them runs. */
  readonly requiresTrust: boolean;
  readonly port?: number;
  /** How long the extension host of a closed page is kept, in seconds. */
  readonly graceSeconds: number;
  readonly flags?: readonly string[];
  /** Added to the environment of the server, and so of extension hosts. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a server on a free port of this machine and waits until it listens. */
export async function startCodeServer(options: ServerOptions): Promise<CodeServer> {
  const home = mkdtempSync(join(tmpdir(), "prove-workbench-"));
  mkdirSync(join(home, "data/User"), { recursive: true });
  writeFileSync(
    join(home, "data/User/settings.json"),
    JSON.stringify(options.settings, undefined, 2),
  );
  mkdirSync(join(home, "data/Machine"));
  writeFileSync(
    join(home, "data/Machine/settings.json"),
    JSON.stringify(options.machineSettings ?? {}, undefined, 2),
  );
  const env = { ...createEnvironment(home, options.password), ...options.env };
  const folders = [
    options.host.entry,
    "--config",
    join(home, "config.yaml"),
    "--user-data-dir",
    join(home, "data"),
    "--extensions-dir",
    join(home, "extensions"),
  ];
  execFileSync(
    options.host.node,
    [...folders, ...options.extensions.map(it => `--install-extension=${it}`)],
    { env, stdio: "pipe" },
  );
  const child = spawn(options.host.node, [...folders, ...createFlags(options)], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const kill = (signal: NodeJS.Signals) => killGroup(child, signal);
  const killNow = () => kill("SIGKILL");
  process.once("exit", killNow);
  let printed = "";
  const stop = async () => {
    process.off("exit", killNow);
    await endProcess(child, kill);
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  const url = await new Promise<string>((resolve, reject) => {
    const read = (bytes: Buffer) => {
      printed += bytes.toString();
      const found = /HTTP server listening on (http:\/\/[\d.:]+)/.exec(printed)?.[1];
      if (found) resolve(found);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", code =>
      reject(new Error(`the workbench server exited with ${code} before it listened\n${printed}`)),
    );
  });
  return { url, readOutput: () => printed + readExtensionHostLog(home), stop };
}

const createFlags = ({
  password,
  port = 0,
  graceSeconds: grace,
  requiresTrust: trust,
  flags: options = [],
}: ServerOptions): readonly string[] => [
  `--auth=${password === undefined ? "none" : "password"}`,
  `--bind-addr=127.0.0.1:${port}`,
  `--reconnection-grace-time=${grace}`,
  "--disable-telemetry",
  "--disable-update-check",
  "--disable-getting-started-override",
  "--ignore-last-opened",
  "--disable-proxy",
  ...(trust ? [] : ["--disable-workspace-trust"]),
  ...options,
];

/** Creates the environment without the variables of npm, the test runner and any outer editor. */
function createEnvironment(home: string, password: string | undefined): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = Object.fromEntries(
    Object.entries(process.env).filter(
      ([key]) =>
        !/^(npm_|vscode_|vitest|node_env$|node_options$|node_path$|password$|port$|test$|dev$|prod$|mode$|ssr$|base_url$)/i.test(
          key,
        ),
    ),
  );
  const path = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter(it => !it.endsWith(join("node_modules", ".bin")) && !it.includes("node-gyp-bin"));
  return {
    ...env,
    PATH: path.join(delimiter),
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local/share"),
    XDG_CACHE_HOME: join(home, ".cache"),
    // an empty gallery keeps the workbench from contacting a marketplace
    EXTENSIONS_GALLERY: "{}",
    ...(password === undefined ? {} : { PASSWORD: password }),
  };
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function endProcess(
  child: ChildProcess,
  kill: (signal: NodeJS.Signals) => void,
): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise(resolve => child.once("exit", resolve));
    kill("SIGTERM");
    const forceTimer = setTimeout(kill, 1500, "SIGKILL");
    await gone;
    clearTimeout(forceTimer);
  }
  // extension hosts are in the same group and may outlive their parent
  kill("SIGKILL");
}

/** Reads the logs of the extension hosts, for the report of a failed test. */
function readExtensionHostLog(home: string): string {
  const logs = join(home, "data/logs");
  const files = readdirSync(logs, { recursive: true, encoding: "utf8" }).filter(it =>
    it.endsWith("remoteexthost.log"),
  );
  return files
    .map(it => `\n== ${it}\n${readFileSync(join(logs, it), "utf8").slice(-4000)}`)
    .join("");
}
