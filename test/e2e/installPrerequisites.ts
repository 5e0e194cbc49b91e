/** Installs what the workbench tests need: the browser and the workbench host. */
import { findBrowser } from "./browser.ts";
import { installHost } from "./host.ts";

const say = (line: string) => process.stderr.write(`${line}\n`);
const browser = findBrowser(say);
const { entry } = await installHost(say);
say(`browser ${browser}\nworkbench host ${entry}`);
