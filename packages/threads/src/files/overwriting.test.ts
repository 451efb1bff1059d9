import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { sqliteHost } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { filesOf } from "./file-methods.ts";
import { temporaryFolder } from "./files.fixture.ts";

const old = new Uint8Array(3_000_000).map((_, at) => at % 251);

async function isOld(bytes: ArrayBuffer | null): Promise<boolean> {
	return bytes !== null && Buffer.compare(new Uint8Array(bytes), old) === 0;
}

test("a process that is killed while it overwrites a file leaves the old one complete [SA-108]", async () => {
	const path = join(temporaryFolder(), "files.db");
	const before = sqliteHost(path);
	await filesOf(before, "thread").writeFile("large.bin", old, "application/x-old");
	await before.close();
	const script = join(import.meta.dirname, "overwriting-process.fixture.ts");
	const child = spawn(process.execPath, ["--conditions=holdfast-source", "--no-warnings", script, path], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	const gone = once(child, "exit");
	await once(child.stdout, "data");
	child.kill("SIGKILL");
	await gone;
	const after = sqliteHost(path);
	onTestFinished(() => after.close());
	const files = filesOf(after, "thread");
	expect(await isOld(await files.readFile("large.bin"))).toBe(true);
	expect(await files.statFile("large.bin")).toMatchObject({ size: 3_000_000, mimeType: "application/x-old" });
	await files.writeFile("large.bin", "new", "text/plain");
	expect(await files.statFile("large.bin")).toMatchObject({ size: 3, mimeType: "text/plain" });
});

test("a source that fails leaves the old file, and a concurrent reader sees one version [SA-108]", async () => {
	const host = sqliteHost(join(temporaryFolder(), "files.db"));
	onTestFinished(() => host.close());
	const files = filesOf(host, "thread");
	await files.writeFile("a.bin", old);
	await expect(
		files.writeFile(
			"a.bin",
			(async function* () {
				yield new Uint8Array(2_000_000);
				throw new Error("the source failed");
			})(),
		),
	).rejects.toThrow("the source failed");
	expect(await isOld(await files.readFile("a.bin"))).toBe(true);
	const stream = (await files.readFileStream("a.bin")) ?? [];
	const pieces: Uint8Array[] = [];
	for await (const { data } of stream) {
		if (pieces.length === 0) await files.writeFile("a.bin", new Uint8Array(5_000_000));
		pieces.push(data.slice());
	}
	expect(await isOld(new Uint8Array(Buffer.concat(pieces)).buffer)).toBe(true);
});
