// A process that is interrupted at a chosen file operation, for tests: `{dir} {how} {from} {to}` saves step 2 to a
// separate session for each point in the range. At that point it reports it on its output, and either kills itself
// (`kill`) or waits until it receives a byte (`wait`). A file that is being written is half written at that point.
import { readSync, writeSync } from "node:fs";
import files, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const [dir = "", how = "kill", from = "1", to = "1"] = process.argv.slice(2);
let place = 0;
let count = 0;

/** Interrupts the process if this is the place. */
function pass(): void {
	if (++count !== place) return;
	writeSync(1, `at ${place}\n`);
	if (how === "kill") process.kill(process.pid, "SIGKILL");
	else readSync(0, new Uint8Array(1));
}

for (const name of ["mkdir", "open", "readdir", "rename", "rm", "stat"] as const) {
	const original = files[name] as (...parameters: unknown[]) => Promise<unknown>;
	const interrupted = async (...parameters: unknown[]): Promise<unknown> => {
		pass();
		const result = await original(...parameters);
		return name === "open" ? interruptWriting(result as FileHandle) : result;
	};
	Object.assign(files, { [name]: interrupted });
}
syncBuiltinESMExports();

function interruptWriting(file: FileHandle): FileHandle {
	const { writeFile, datasync } = file;
	file.writeFile = async (content) => {
		const text = content as string;
		const half = text.length / 2;
		await writeFile.call(file, text.slice(0, half));
		pass();
		await writeFile.call(file, text.slice(half));
	};
	file.datasync = async () => {
		pass();
		await datasync.call(file);
	};
	return file;
}

const { fileCheckpoints } = await import("./file-checkpoints.ts");
const { stateOf } = await import("@holdfast/testing/cases");
const store = fileCheckpoints({ dir });
for (place = Number(from); place <= Number(to); place++) {
	count = 0;
	await store.save(`s${place}`, stateOf(2, 50_000));
}
writeSync(1, `operations ${count}\n`);
