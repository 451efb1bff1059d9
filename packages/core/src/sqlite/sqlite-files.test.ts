import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { append, begin, eventually, note } from "@holdfast/testing/cases";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { pieceSize } from "../host/files.ts";
import { type SqliteHost, type SqliteHostOptions, sqliteHost } from "../sqlite.ts";
import { loadSqlite } from "./load-sqlite.ts";

setFlagsFromString("--expose-gc");
/** Only reachable objects count. */
const collect = runInNewContext("gc") as () => void;

let path: string;
let hosts: SqliteHost[];

beforeEach(() => {
	path = join(temporaryFolder(), "host.db");
	hosts = [];
});

afterEach(async () => {
	for (const host of hosts) await host.close();
});

function open(options: Partial<SqliteHostOptions> = {}): SqliteHost {
	const host = sqliteHost({ path, ...options });
	hosts.push(host);
	return host;
}

/** Rows of files and of their pieces. */
function rows(): readonly [files: number, pieces: number] {
	const database = new (loadSqlite().DatabaseSync)(path, { readOnly: true });
	try {
		const count = (table: string): number =>
			(database.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count;
		return [count("files"), count("file_pieces")];
	} finally {
		database.close();
	}
}

function* sourceOf(pieces: number): Generator<Uint8Array> {
	for (let at = 0; at < pieces; at++) yield new Uint8Array(pieceSize).fill(at);
}

test("40 MB are written and read through bounded memory, while runs commit", async () => {
	const host = open();
	const files = host.files.of("s", "o");
	const lease = await begin(host.journal, "s");
	const before = process.memoryUsage().arrayBuffers;
	let most = 0;
	const look = (): void => {
		collect();
		most = Math.max(most, process.memoryUsage().arrayBuffers - before);
	};
	let commits = 0;
	function* watched(): Generator<Uint8Array> {
		let at = 0;
		for (const piece of sourceOf(160)) {
			if (at++ % 20 === 0) look();
			yield piece;
		}
	}
	const written = files.write("big", watched());
	for (let over = false; !over; commits++) {
		await append(lease, "run-1", note(commits));
		over = await Promise.race([
			written.then(() => true),
			new Promise<boolean>((next) => setImmediate(next, false)),
		]);
	}
	let bytes = 0;
	for await (const piece of files.read("big")) {
		if (bytes % (20 * pieceSize) === 0) look();
		bytes += piece.length;
	}
	expect([(await written).size, bytes]).toEqual([160 * pieceSize, 160 * pieceSize]);
	expect(commits).toBeGreaterThan(40);
	expect(most).toBeLessThan(20_000_000);
});

test("a small file is one transaction, and a removed one leaves nothing", async () => {
	const host = open();
	const journal = host.journal as SqliteHost["journal"] & { readonly transactions: number };
	const files = host.files.of("s", "o");
	const before = journal.transactions;
	await files.write("small", [new Uint8Array(10)]);
	expect(journal.transactions - before).toBe(1);
	await files.write("large", sourceOf(20));
	expect(rows()).toEqual([2, 21]);
	await files.delete("large");
	expect(rows()).toEqual([1, 1]);
	await files.write("large", sourceOf(20));
	await host.journal.delete("s");
	expect(rows()).toEqual([0, 0]);
});

test("a replaced file is removed a minute later, at the next sweep", async () => {
	let now = 1_000_000;
	const clock = { now: () => now };
	const files = open({ clock }).files.of("s", "o");
	await files.write("f", sourceOf(5));
	await files.write("f", sourceOf(3));
	expect(rows()).toEqual([2, 8]);
	now += 60_000;
	await files.write("g", sourceOf(1));
	await eventually("the old one is gone", () => rows().join() === "2,4");
	expect(rows()).toEqual([2, 4]);
});

test("leftovers of a killed writer are unreachable, and removed by the next process that opens the file", async () => {
	const door = fileURLToPath(new URL("../sqlite.ts", import.meta.url));
	const script = `
		const { sqliteHost } = await import(${JSON.stringify(door)});
		const host = sqliteHost(${JSON.stringify(path)});
		await host.files.of("s", "o").write("f", [new Uint8Array(7)]);
		async function* endless() {
			for (;;) {
				yield new Uint8Array(${pieceSize});
				await new Promise((next) => setTimeout(next, 5));
			}
		}
		console.log("begun");
		await host.files.of("s", "o").write("f", endless());
	`;
	const flags = ["--conditions=holdfast-source", "--no-warnings", "--input-type=module", "-e", script];
	const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
	const gone = new Promise((resolve) => child.once("exit", resolve));
	try {
		await new Promise((resolve) => child.stdout.once("data", resolve));
		await eventually("some of it is written", () => rows()[1] > 5);
		const other = open();
		await other.journal.delete("unknown");
		expect(rows()[0]).toBe(2); // its writer is alive
	} finally {
		child.kill("SIGKILL");
		await gone;
	}
	const files = open().files.of("s", "o");
	expect(await files.list()).toMatchObject([{ name: "f", size: 7 }]);
	await eventually("its pieces are gone", () => rows().join() === "1,1");
	expect(rows()).toEqual([1, 1]);
});
