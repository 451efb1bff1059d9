/** Where the holdfast command starts; bin/holdfast.js has made sure that this Node can run it. */
import { runCommandLine } from "./command/index.ts";
import { leaveProcess } from "./terminal/index.ts";

const code = await runCommandLine(process.argv.slice(2));
// Connections that a model's client keeps open must not hold the terminal.
process.stdout.write("", () => leaveProcess(code));
