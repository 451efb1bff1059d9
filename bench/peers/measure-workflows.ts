// Measures workflow engines side by side: the time and CPU of a step, the bytes that it leaves in the store, and the recovery of
// a run whose process was killed. `npm run bench:peers -- --workflows` measures only these.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { median } from "../measure.ts";
import { installed } from "./install.ts";

type Store = "SQLite" | "Postgres" | "files";

interface Engine {
	readonly name: "holdfast" | "openworkflow" | "workflow" | "dbos";
	readonly title: string;
	readonly packages: readonly string[];
	readonly stores: readonly Store[];
}

const engines: readonly Engine[] = [
	{ name: "holdfast", title: "Holdfast 0.1.0", packages: [], stores: ["SQLite", "Postgres"] },
	{
		name: "openworkflow",
		title: "OpenWorkflow 0.10.1",
		packages: ["openworkflow@0.10.1", "postgres@3.4.9"],
		stores: ["SQLite", "Postgres"],
	},
	{ name: "dbos", title: "DBOS 5.3.0", packages: ["@dbos-inc/dbos-sdk@5.3.0"], stores: ["Postgres"] },
	{
		name: "workflow",
		title: "Workflow DevKit 4.8.9, local world",
		packages: ["workflow@4.8.9"],
		stores: ["files"],
	},
];

interface Steps {
	/** Microseconds, medians. */
	readonly wall: number;
	readonly cpu: number;
	readonly steps: number;
}

interface Resumed {
	readonly milliseconds: number;
	/** Calls of the step's function by both processes; 40 would be each once. */
	readonly calls: number;
}

interface Row {
	readonly engine: string;
	readonly store: Store;
	readonly steps: readonly (Steps & { readonly bytes: number })[];
	readonly resumed: readonly Resumed[];
	readonly failure?: string;
}

/** Returns the tables of all engines. `folder` is an installation of Holdfast. */
export async function measureWorkflows(
	folder: string,
	{ quick }: { readonly quick: boolean },
): Promise<string> {
	const loadBefore = loadavg()[0] as number;
	const server = await startPostgresServer({ fsync: "yes" });
	const rows: Row[] = [];
	try {
		for (const engine of engines) {
			const place = engine.name === "holdfast" ? folder : await installed(engine.name, engine.packages);
			cpSync(join(import.meta.dirname, "workflows"), place, { recursive: true });
			if (engine.name === "workflow") compile(place);
			for (const store of engine.stores)
				rows.push(await measureEngine(engine, { store, place, server, quick }));
		}
	} finally {
		await server.stop();
	}
	return tableOf(rows, loadBefore);
}

/** Its compiler turns the directives of a workflow's source into two bundles. */
function compile(place: string): void {
	mkdirSync(join(place, "workflows"), { recursive: true });
	cpSync(join(place, "compiled-work.js"), join(place, "workflows/work.js"));
	const program = join(place, "node_modules/workflow/bin/run.js");
	const { status, stderr } = spawnSync(process.execPath, [program, "build", "--target", "standalone"], {
		cwd: place,
		encoding: "utf8",
	});
	if (status !== 0) throw new Error(`The workflow cannot be compiled: ${stderr}`);
}

type Server = Awaited<ReturnType<typeof startPostgresServer>>;

interface Measuring {
	readonly store: Store;
	readonly place: string;
	readonly server: Server;
	readonly quick: boolean;
}

async function measureEngine(
	{ name, title }: Engine,
	{ store, place, server, quick }: Measuring,
): Promise<Row> {
	console.log(`Measuring ${title} on ${store} …`);
	const steps: (Steps & { readonly bytes: number })[] = [];
	const resumed: Resumed[] = [];
	const run = (row: string, given: object): unknown => {
		const parameters = ["--no-warnings", join(place, "harness.js"), row, name, JSON.stringify(given)];
		const child = spawnSync(process.execPath, [...parameters, ...(quick ? ["--quick"] : [])], {
			cwd: place,
			encoding: "utf8",
			timeout: 300_000,
		});
		if (row === "die" && child.signal === "SIGKILL") return undefined;
		if (child.status !== 0)
			throw new Error(child.stderr.trim().split("\n").slice(-4).join(" ") || String(child.signal));
		return JSON.parse(child.stdout.trim().split("\n").at(-1) ?? "");
	};
	try {
		for (let turn = 0; turn < (quick ? 1 : 3); turn++) {
			const first = await newStore(store, server);
			const found = run("steps", first.given) as Steps;
			steps.push({ ...found, bytes: (await first.size()) / found.steps });
			await first.remove();
			const second = await newStore(store, server);
			run("die", second.given);
			resumed.push(run("resume", second.given) as Resumed);
			await second.remove();
		}
		return { engine: title, store, steps, resumed };
	} catch (error) {
		return { engine: title, store, steps, resumed, failure: String(error) };
	}
}

let stores = 0;

async function newStore(store: Store, server: Server) {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-workflows-"));
	const path = join(folder, store === "files" ? "data" : "store.db");
	const calls = join(folder, "calls");
	if (store !== "Postgres")
		return {
			given: { path, calls },
			size: async () => bytesOf(folder),
			remove: async () => rmSync(folder, { recursive: true, force: true }),
		};
	const database = `workflows_${++stores}`;
	await server.query(`CREATE DATABASE ${database}`);
	const size = async (): Promise<number> => {
		const [row] = await server.query<{ size: string }>("SELECT pg_database_size($1) AS size", [database]);
		return Number(row?.size);
	};
	const before = await size();
	return {
		given: { url: server.url.replace(/\/[^/]*$/, `/${database}`), calls },
		size: async () => (await size()) - before,
		remove: async () => {
			await server.query(`DROP DATABASE ${database} WITH (FORCE)`);
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

function bytesOf(folder: string): number {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function tableOf(rows: readonly Row[], loadBefore: number): string {
	const shown = (value: number): string => value.toLocaleString("en", { maximumSignificantDigits: 3 });
	const lines = rows.map(({ engine, store, steps, resumed, failure }) => {
		if (failure !== undefined)
			return `| ${engine} | ${store} | failed: ${failure.replaceAll("|", "/")} | | | | |`;
		const of = (values: readonly number[]): string => shown(median(values));
		return `| ${[
			engine,
			store,
			of(steps.map(({ wall }) => wall)),
			of(steps.map(({ cpu }) => cpu)),
			of(steps.map(({ bytes }) => bytes)),
			of(resumed.map(({ milliseconds }) => milliseconds)),
			of(resumed.map(({ calls }) => calls)),
		].join(" | ")} |`;
	});
	const machine = `${availableParallelism()} cores (${cpus()[0]?.model ?? "unknown"})`;
	return [
		`${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${process.platform} ${process.arch}, ${machine}, load ${loadBefore.toFixed(1)} before and ${(loadavg()[0] as number).toFixed(1)} after.`,
		[
			"| | store | a step, µs | CPU, µs | bytes per step | recovery, ms | calls of 40 steps |",
			"| --- | --- | ---: | ---: | ---: | ---: | ---: |",
			...lines,
		].join("\n"),
	].join("\n\n");
}
