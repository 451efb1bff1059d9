// How much slower this machine is at the moment than an idle one: a time that is promised is measured against it.
import { spawnSync } from "node:child_process";

/** Milliseconds in which an idle machine starts and ends an empty process of Node. */
const idle = 60;

/** 1 on an idle machine, more on a busy one. Blocks this process while it is measured. */
export function slowness(): number {
	const began = performance.now();
	spawnSync(process.execPath, ["-e", "0"]);
	return Math.max(1, (performance.now() - began) / idle);
}
