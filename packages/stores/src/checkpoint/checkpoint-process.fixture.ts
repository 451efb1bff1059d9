// A process that saves checkpoints for tests, until it is killed or done: `save {dir} {session} {from} {count} {length}`.
import { stateOf } from "@holdfast/testing/cases";
import { fileCheckpoints } from "./file-checkpoints.ts";

const [dir = "", session = "", from = "0", count = "0", length = "0"] = process.argv.slice(2);
const store = fileCheckpoints({ dir });
const first = Number(from);
for (let step = first; step < first + Number(count); step++) {
	await store.save(session, stateOf(step, Number(length)));
	if (process.connected) process.send?.(step);
}
process.disconnect?.();
