import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { contractTests, storedTests } from "../persistent.fixture.ts";
import { sqliteClients } from "../sqlite.ts";
import { sqliteWorld } from "../worlds.fixture.ts";

contractTests("SQLite", sqliteWorld);
storedTests("SQLite", sqliteWorld);

function temporaryFile(): string {
	const folder = mkdtempSync(join(tmpdir(), "memory-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
	return join(folder, "deeper", "memory.db");
}

test("SQLite: the file is only for this user, and has the same content after closing and opening [RUN-101]", async () => {
	const file = temporaryFile();
	const before = process.umask(0);
	const first = sqliteClients({ file, unencrypted: true });
	await first.memory.append("s", { at: 1 });
	await first.database.write("c", "k", [1, 2]);
	process.umask(before);
	for (const end of ["", "-wal", "-shm"]) expect(statSync(file + end).mode & 0o777).toBe(0o600);
	await first.close();
	const second = sqliteClients({ file, unencrypted: true });
	expect(await second.memory.read("s")).toEqual([{ at: 1 }]);
	expect(await second.database.read("c", "k")).toEqual([1, 2]);
	expect(await second.memory.search("1")).toHaveLength(1);
	await second.close();
});

test("SQLite: its sources import only Node and this repository [RUN-101]", () => {
	const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));
	expect(Object.keys(manifest.dependencies)).toEqual(["@holdfast/upp"]);
	for (const name of Object.keys(manifest.peerDependencies))
		expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true });
	const folder = join(import.meta.dirname, "..");
	const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
		(path) => /\.ts$/.test(path) && !/\.(?:test|fixture)\.ts$|^(?:redis|postgres)\b/.test(path),
	);
	expect(sources).toContain(join("sqlite", "open-file.ts"));
	const imported = sources.flatMap((path) => [
		...readFileSync(join(folder, path), "utf8").matchAll(/(?:from|import\(?) ?"(?<name>[^"]+)"/g),
	]);
	const names = new Set(imported.map(({ groups }) => groups?.name ?? ""));
	expect([...names].filter((name) => !/^(?:\.|node:)/.test(name))).toEqual(["@holdfast/upp"]);
});

test("SQLite: two processes append to one file at once, and nothing is lost [RUN-093]", async () => {
	const file = temporaryFile();
	const program = `
		import { sqliteClients } from "@holdfast/memory/sqlite";
		const { memory, close } = sqliteClients({ file: process.argv[1], unencrypted: true });
		await Promise.all(Array.from({ length: 100 }, (_, at) => memory.append("s", process.argv[2] + at)));
		await close();`;
	const run = (name: string): Promise<number | null> =>
		new Promise((resolve) => {
			const flags = ["--conditions=holdfast-source", "--no-warnings", "--input-type=module", "-e", program];
			const child = spawn(process.execPath, [...flags, file, name], {
				cwd: import.meta.dirname,
				stdio: "inherit",
			});
			child.once("exit", resolve);
		});
	expect(await Promise.all([run("a"), run("b")])).toEqual([0, 0]);
	const { memory, close } = sqliteClients({ file, unencrypted: true });
	expect(new Set(await memory.read("s")).size).toBe(200);
	await close();
});

test("SQLite: another program's file, or one that cannot be opened, is rejected and unchanged", async () => {
	const file = join(temporaryFile(), "../..", "other.db");
	const other = new DatabaseSync(file);
	other.exec("CREATE TABLE theirs (x); PRAGMA user_version = 3");
	other.close();
	const before = readFileSync(file);
	const refused = sqliteClients({ file, unencrypted: true });
	await expect(refused.start()).rejects.toEqual(expect.objectContaining({ code: "DB_FAILED" }));
	expect(readFileSync(file)).toEqual(before);
	writeFileSync(file, "no database at all, and longer than the header of one ".repeat(20));
	await expect(refused.start()).rejects.toEqual(expect.objectContaining({ code: "DB_FAILED" }));
	const impossible = sqliteClients({ file: join(file, "below-a-file.db"), unencrypted: true });
	await expect(impossible.start()).rejects.toEqual(expect.objectContaining({ code: "DB_UNAVAILABLE" }));
	for (const name of ["", ":memory:"])
		expect(() => sqliteClients({ file: name, unencrypted: true })).toThrow(
			expect.objectContaining({ code: "OPTION_INVALID" }),
		);
	chmodSync(file, 0o600);
});

test("SQLite: while another connection locks the file, calls wait, and reject in the end", async () => {
	const file = temporaryFile();
	const clients = sqliteClients({ file, unencrypted: true, busyTimeoutMs: 200 });
	await clients.memory.append("s", 1);
	const other = new DatabaseSync(file);
	other.exec("BEGIN IMMEDIATE");
	await expect(clients.memory.append("s", 2)).rejects.toEqual(
		expect.objectContaining({ code: "DB_UNAVAILABLE", retryable: true }),
	);
	const patient = sqliteClients({ file, unencrypted: true });
	const waiting = patient.memory.append("s", 3);
	other.exec("COMMIT");
	await waiting;
	expect(await clients.memory.read("s")).toEqual([1, 3]);
	other.close();
	await Promise.all([clients.close(), patient.close()]);
});

test("SQLite: a word in most entries finds them all, and has little weight next to others [RUN-094]", async () => {
	const { memory, close } = sqliteClients({ file: temporaryFile(), unencrypted: true });
	const count = 5_200;
	for (let at = 0; at < count; at++)
		await memory.append("s", `the ${at === 7 ? "needle" : `hay${at}`}${at % 2 === 0 ? "" : " the the"}`);
	const found = await memory.search("the needle", { topK: 3 });
	expect(found.map(({ value }) => value)).toEqual([
		"the needle the the",
		"the hay5199 the the",
		"the hay5198",
	]);
	expect((found[0]?.score ?? 0) > (found[1]?.score ?? 0)).toBe(true);
	expect(await memory.search("the", { topK: 2, streamKey: "s" })).toHaveLength(2);
	expect(await memory.search("the needle", { topK: 10_000 })).toHaveLength(count);
	expect(new Set((await memory.search("the needle", { topK: 6_000 })).map(({ value }) => value)).size).toBe(
		count,
	);
	await close();
});
