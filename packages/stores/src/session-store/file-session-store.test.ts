import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sessionStoreContract } from "@holdfast/testing";
import { oddKeys } from "@holdfast/testing/cases";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { FileSessionStore } from "./file-session-store.ts";

for (const { name, run } of sessionStoreContract({ name: "files", make })) test(name, run);

let dir: string;
beforeEach(() => {
	dir = temporaryFolder();
});

function make() {
	const folder = temporaryFolder();
	return {
		store: () => new FileSessionStore(folder),
		end() {},
	};
}

const fixture = join(import.meta.dirname, "store-process.fixture.ts");
const execArgv = ["--conditions=holdfast-source", "--no-warnings"];

async function startRacer(): Promise<ChildProcess> {
	const child = fork(fixture, ["race", dir], { execArgv });
	await once(child, "message");
	return child;
}

test("of twenty commits by two processes at once, exactly one succeeds [SES-078]", async () => {
	const children = await Promise.all([startRacer(), startRacer()]);
	const store = new FileSessionStore(dir);
	let version: string | null = null;
	for (let round = 0; round < 10; round++) {
		const answers = children.map((child) => once(child, "message"));
		for (const child of children) child.send({ expectedVersion: version });
		const won = (await Promise.all(answers)).flatMap(([results]) => results as { version: string }[]);
		expect(won).toHaveLength(1);
		version = won[0]?.version ?? null;
		expect((await store.load("k"))?.version).toBe(version);
	}
	await Promise.all(
		children.map((child) => {
			const gone = once(child, "exit");
			child.disconnect();
			return gone;
		}),
	);
});

/** Runs the fixture until it has killed itself at a place, or survived. */
function interruptedAt(place: number): Promise<string> {
	return new Promise((resolve) => {
		const parameters = [...execArgv, fixture, "interrupted", dir, String(place)];
		execFile(process.execPath, parameters, (error, output) => resolve(error?.signal ?? output));
	});
}

test.each([["old"], [undefined]])(
	"a process killed at any file operation leaves the old state (%s) or the new one, and blocks no one [SES-084]",
	async (old) => {
		const store = new FileSessionStore(dir);
		const fresh = "new".repeat(10_000);
		const restore = async (expectedVersion: string | null): Promise<void> => {
			if (old === undefined) await store.delete("k");
			else expect((await store.commit("k", { state: old }, { expectedVersion })).ok).toBe(true);
		};
		await restore(null);
		const seen: unknown[] = [];
		for (let place = 1; ; place++) {
			const end = await interruptedAt(place);
			const found = await store.load("k");
			expect([old, fresh]).toContain(found?.state);
			seen.push(found?.state === fresh ? "new" : "old");
			if (end === "survived") break;
			expect(end).toBe("SIGKILL");
			await restore(found?.version ?? null);
		}
		expect(seen.length).toBeGreaterThan(8);
		expect(new Set(seen)).toEqual(new Set(["old", "new"]));
	},
);

test("every key has its own file in the folder, with a unique name [SES-085]", async () => {
	const store = new FileSessionStore(dir);
	for (const key of oddKeys) await store.commit(key, { state: key }, { expectedVersion: null });
	const names = readdirSync(dir, { recursive: true }).map(String);
	const found = names.filter((name) => name !== ".work");
	expect(found).toHaveLength(oddKeys.length);
	for (const name of found) {
		expect(name).toMatch(/^[kh]-[a-z0-9_%-]*\.json$/);
		expect(statSync(join(dir, name)).isFile()).toBe(true);
	}
	expect(new Set(found.map((name) => name.normalize("NFKD").toLowerCase())).size).toBe(oddKeys.length);
});

test.skipIf(process.platform === "win32")("sessions can be read by their user only", async () => {
	const directory = join(dir, "made");
	const store = new FileSessionStore(directory);
	await store.commit("s", { state: 1 }, { expectedVersion: null });
	const [file] = readdirSync(directory).filter((name) => name.endsWith(".json"));
	const modes = ["", file as string].map((path) => statSync(join(directory, path)).mode & 0o777);
	expect(modes).toEqual([0o700, 0o600]);
});

test("a file that is damaged, or of another key, is rejected and unchanged [SES-088]", async () => {
	const store = new FileSessionStore(dir);
	const created = await store.commit("k", { state: { n: 1 } }, { expectedVersion: null });
	if (!created.ok) throw new Error("not created");
	const [name] = readdirSync(dir).filter((each) => each.endsWith(".json")) as [string];
	const path = join(dir, name);
	const whole = readFileSync(path, "utf8");
	for (const [text, code] of [
		["", "journal_corrupt"],
		[whole.slice(0, -3), "journal_corrupt"],
		["null", "journal_corrupt"],
		[whole.replace('"k"', '"other"'), "journal_corrupt"],
		[whole.replace('"format":1', '"format":2'), "journal_newer"],
	] as const) {
		writeFileSync(path, text);
		await expect(store.load("k")).rejects.toMatchObject({ code });
		for (const expectedVersion of [null, created.version]) {
			await expect(store.commit("k", { state: 2 }, { expectedVersion })).rejects.toMatchObject({ code });
		}
		expect(readFileSync(path, "utf8")).toBe(text);
	}
	expect(readdirSync(join(dir, ".work"))).toEqual([]);
});
