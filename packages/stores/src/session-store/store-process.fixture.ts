// A process that works on a FileSessionStore, for tests. `race {dir}` makes ten commits at once a round, each
// time its parent sends the version to expect, and answers with its results. `interrupted {dir} {place}` commits a
// state of key "k" and kills itself at that file operation; a file that is written is half written then.
import files, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const [task = "", dir = "", place = "0"] = process.argv.slice(2);

if (task === "interrupted") interrupt(Number(place));
const { FileSessionStore } = await import("./file-session-store.ts");
const store = new FileSessionStore(dir);

if (task === "interrupted") {
	const expectedVersion = (await store.load("k"))?.version ?? null;
	const result = await store.commit("k", { state: "new".repeat(10_000) }, { expectedVersion });
	process.stdout.write(result.ok ? "survived" : "conflict");
} else {
	process.on("message", async ({ expectedVersion }: { expectedVersion: string | null }) => {
		const results = await Promise.all(
			Array.from({ length: 10 }, (_, index) =>
				store.commit("k", { state: `${process.pid}.${index}` }, { expectedVersion }),
			),
		);
		process.send?.(results.filter(({ ok }) => ok));
	});
	process.on("disconnect", () => process.exit());
	process.send?.("ready");
}

/** Kills this process at the file operation of that number, counted from the first that writes. */
function interrupt(at: number): void {
	let count = 0;
	const pass = (): void => {
		if (++count === at) process.kill(process.pid, "SIGKILL");
	};
	for (const name of ["mkdir", "open", "writeFile", "link", "rename", "rm"] as const) {
		const original = files[name] as (...parameters: unknown[]) => Promise<unknown>;
		const interrupted = async (...parameters: unknown[]): Promise<unknown> => {
			pass();
			const result = await original(...parameters);
			if (name === "open") interruptWriting(result as FileHandle, pass);
			return result;
		};
		Object.assign(files, { [name]: interrupted });
	}
	syncBuiltinESMExports();
}

function interruptWriting(file: FileHandle, pass: () => void): void {
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
}
