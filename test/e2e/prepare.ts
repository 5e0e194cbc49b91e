/** Installs what the workbench tests need, once: the browser and the workbench host. */
import { browserProgram } from "./browser.ts";
import { workbenchHost } from "./host.ts";

const say = (line: string) => process.stderr.write(`${line}\n`);
const browser = browserProgram(say);
const { entry } = await workbenchHost(say);
say(`browser ${browser}\nworkbench host ${entry}`);
