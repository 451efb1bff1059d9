// Writes every example into .examples/ and compiles them there.
import { join } from "node:path";
import { runCommand } from "../run-command.ts";
import { writeExamples } from "./extract.ts";

const root = join(import.meta.dirname, "../..");
writeExamples(root);
const { code, output } = await runCommand([join(root, "node_modules/.bin/tsc"), "-p", ".examples"], {
	folder: root,
});
process.stdout.write(output.replaceAll("~", "/"));
process.exitCode = code;
