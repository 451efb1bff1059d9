// Applications that bundle Holdfast: every entry of every package builds and loads, and the programs that packages start
// are found or missed with an error that explains what to do.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundlers, makeApplication, run, specifiers, writeSources } from "./bundlers.fixture.ts";

/** An application that queries SQLite, as it is deployed: it would notice being started twice. */
const sqliteApp = `
import { appendFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { sqliteDriver } from "@holdfast/runner/connectors";
appendFileSync("started.log", "started\\n");
const seed = new DatabaseSync("orders.db");
seed.exec("CREATE TABLE IF NOT EXISTS orders (id INTEGER); INSERT INTO orders VALUES (1)");
seed.close();
async function main() {
	const driver = sqliteDriver({ path: "orders.db" });
	const statement = { sql: "SELECT count(*) AS n FROM orders", placeholders: [], params: [], readOnly: true, maxRows: 10, maxCharacters: 10000 };
	console.log(JSON.stringify(await driver.query(statement, AbortSignal.timeout(20000))));
	await driver.close();
}
main().catch((error) => console.log(error.code, error.message));
`;

const sandboxApp = `
import { createSandbox } from "@holdfast/sandbox";
async function main() {
	const sandbox = createSandbox(process.env.WORKER === undefined ? {} : { worker: process.env.WORKER });
	console.log(JSON.stringify(await sandbox.runCode("export default 1 + 1")));
	await sandbox.close();
}
main().catch((error) => console.log(error.code, error.message));
`;

let app: string;
beforeAll(async () => {
	app = await makeApplication();
});
afterAll(() => rmSync(app, { recursive: true, force: true }));

describe.each(bundlers)("$name", ({ name, ending, build }) => {
	const into = (): string => join(app, "out", name.replaceAll(" ", "-"));

	test("builds and loads every entry of every package", async () => {
		const entries = Object.fromEntries(
			specifiers.map((specifier) => [
				specifier.replaceAll(/[@/]/g, "_"),
				`import * as entry from ${JSON.stringify(specifier)};\nif (Object.keys(entry).length === 0) console.log("no exports");\n`,
			]),
		);
		await build(app, writeSources(app, entries), into());
		const files = Object.keys(entries).map((each) => join(into(), `${each}.${ending}`));
		const script = `for (const file of ${JSON.stringify(files)}) await import(file).catch((error) => console.log(file, error));`;
		const { output } = await run(
			[process.execPath, "--no-warnings", "--input-type=module", "-e", script],
			app,
		);
		expect(output.replaceAll("no exports\n", "")).toBe("");
	});

	test("builds applications that start a database process and a sandbox, each once", async () => {
		await build(app, writeSources(app, { sqlite: sqliteApp, sandbox: sandboxApp }), into());
		const folder = mkdtempSync(join(app, "run-"));
		const start = (file: string): ReturnType<typeof run> =>
			run([process.execPath, "--no-warnings", join(into(), `${file}.${ending}`)], folder);
		expect((await start("sqlite")).output).toContain('"n":1');
		expect(readFileSync(join(folder, "started.log"), "utf8")).toBe("started\n");
		expect(JSON.parse((await start("sandbox")).stdout)).toMatchObject({ result: 2, status: "success" });
	});
});

test("without node_modules, a missing program is an error that explains what to configure; a configured one is used", async () => {
	const [esm] = bundlers;
	if (esm === undefined) throw new Error("No bundler.");
	const programs = {
		"sandbox-worker": `import "@holdfast/sandbox/worker";`,
		"sqlite-process": `import "@holdfast/runner/sqlite-process";`,
	};
	const built = join(app, "out/alone");
	await esm.build(app, writeSources(app, { sqlite: sqliteApp, sandbox: sandboxApp, ...programs }), built);
	const folder = mkdtempSync(join(process.env.HOLDFAST_DISK ?? tmpdir(), "holdfast-deployed-"));
	cpSync(built, folder, { recursive: true });
	const start = (file: string, ...variables: string[]): ReturnType<typeof run> =>
		run(["env", ...variables, process.execPath, "--no-warnings", `${file}.mjs`], folder);
	expect((await start("sqlite")).output).toContain("SQL_PROGRAM_MISSING");
	expect(readFileSync(join(folder, "started.log"), "utf8")).toBe("started\n");
	expect((await start("sandbox")).output).toContain("sandbox_worker_missing");
	cpSync(join(app, "node_modules/quickjs-wasi/quickjs.wasm"), join(folder, "quickjs.wasm"));
	const named = await start("sandbox", "WORKER=sandbox-worker.mjs");
	expect(JSON.parse(named.stdout)).toMatchObject({ result: 2 });
	rmSync(folder, { recursive: true, force: true });
});
