/** Starts the holdfast command; bin/holdfast.js has checked the version of Node. */
import { runCommandLine } from "./command/index.ts";
import { leaveProcess } from "./terminal/index.ts";

const code = await runCommandLine(process.argv.slice(2));
// Connections that a model's client keeps open must not keep the process alive.
process.stdout.write("", () => leaveProcess(code));
