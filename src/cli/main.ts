#!/usr/bin/env node
/** The terminal program. */
import { fileURLToPath } from "node:url";
import { commands } from "./commands.ts";
import { runProgram } from "./program.ts";

process.exitCode = await runProgram(commands, fileURLToPath(import.meta.url));
