/** The folder in which the program keeps what belongs to a user and to no workspace. */
import { homedir } from "node:os";
import { join } from "node:path";

export function getDataFolder(env: NodeJS.ProcessEnv = process.env): string {
  const data =
    process.platform === "win32"
      ? (env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local"))
      : process.platform === "darwin"
        ? join(homedir(), "Library", "Application Support")
        : (env["XDG_DATA_HOME"] ?? join(homedir(), ".local", "share"));
  return join(data, "prove-rl");
}
