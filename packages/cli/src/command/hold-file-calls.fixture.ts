/**
 * Loaded before the command by a test: blocks forever in one call of node:fs/promises, named by HOLD_FILE_CALL as
 * "rename:before" or "rename:after", and reports it, so that the process can be killed at exactly that point.
 * "open:after:.tmp" means the first call whose path contains ".tmp".
 */
import { promises, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const [name = "", moment, part = ""] = (process.env.HOLD_FILE_CALL ?? "").split(":");
const functions = promises as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
const original = functions[name];
if (original !== undefined) {
	functions[name] = async (...given) => {
		if (!String(given[0]).includes(part)) return original(...given);
		if (moment === "after") await original(...given);
		writeSync(1, `held ${moment} ${name}\n`);
		setInterval(() => {}, 60_000);
		return new Promise(() => {});
	};
	syncBuiltinESMExports();
}
