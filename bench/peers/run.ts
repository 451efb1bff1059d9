// `npm run bench:peers`: installs the peers, packs our packages, measures all in turn, and writes RESULTS.md and the
// tables of docs/guide/comparison.md. `-- --quick` measures less and writes nothing; `-- --only langgraph,pi` selects
// peers, `-- --workflows` measures only the workflow engines.
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installPacked } from "../pack.ts";
import { installed, layOut } from "./install.ts";
import { measureImports, measureRow, measureTakeover, type Subject, sizeOf } from "./measure-peers.ts";
import { type Peer, peers, versionOf } from "./peers.ts";
import { type Results, tablesOf, write } from "./results.ts";

const ours: Omit<Subject, "folder" | "storeFolder"> = {
	name: "holdfast",
	title: "Holdfast",
	version: "0.1.0",
	entry: "holdfast",
	rows: ["loop-10", "loop-200", "stream", "conversations", "durable", "takeover"],
};

async function subjectOf(peer: Peer): Promise<Subject> {
	const folder = await installed(peer.name, peer.packages);
	const { name, title, entry, rows, store, packages } = peer;
	const storeFolder =
		store === undefined ? folder : await installed(`${name}-store`, [...packages, ...store]);
	return { name, title, version: versionOf(peer), folder, entry, rows, storeFolder };
}

/** It uses built packages, which exist only after the packing. */
async function workflowTables(folder: string, quick: boolean): Promise<string> {
	const { measureWorkflows } = await import("./measure-workflows.ts");
	return measureWorkflows(folder, { quick });
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			quick: { type: "boolean", default: false },
			only: { type: "string" },
			workflows: { type: "boolean", default: false },
		},
	});
	const { quick, only } = values;
	const chosen = only?.split(",") ?? peers.map(({ name }) => name);
	const unknown = chosen.filter((name) => !peers.some((peer) => peer.name === name));
	if (unknown.length > 0) {
		console.error(
			`There is no peer ${unknown.join(", ")}. Peers: ${peers.map(({ name }) => name).join(", ")}.`,
		);
		process.exitCode = 2;
		return;
	}
	const folder = mkdtempSync(join(tmpdir(), "holdfast-peers-"));
	try {
		if (values.workflows) {
			await installPacked(folder);
			const tables = await workflowTables(folder, quick);
			console.log(tables);
			if (!quick) write(tables, "workflows");
			return;
		}
		const others: Subject[] = [];
		for (const peer of peers) if (chosen.includes(peer.name)) others.push(await subjectOf(peer));
		await installPacked(folder);
		layOut(folder);
		const subjects = [{ ...ours, folder, storeFolder: folder }, ...others];
		const loadBefore = loadavg()[0] as number;
		const effort = { turns: quick ? 1 : 3, quick };
		const figures: Results["figures"] = new Map(
			(["loop-10", "loop-200", "stream", "conversations", "durable"] as const).map((row) => {
				console.log(`Measuring ${row} …`);
				return [row, measureRow(row, subjects, effort)];
			}),
		);
		const killed = subjects.filter(({ rows }) => rows.includes("takeover"));
		const takeovers = new Map(
			killed.map((subject) => [subject.name, measureTakeover(subject, effort.turns)]),
		);
		const imports = measureImports(subjects, quick ? 2 : 5);
		const sizes = new Map(
			subjects.map(({ name, folder: place }) => [
				name,
				sizeOf(place, name === "holdfast" ? ["holdfast", "@holdfast/upp"] : undefined),
			]),
		);
		const results: Results = {
			subjects,
			figures,
			takeovers,
			imports,
			sizes,
			loadBefore,
			loadAfter: loadavg()[0] as number,
		};
		console.log(tablesOf(results));
		if (only !== undefined) return;
		if (!quick) write(tablesOf(results), "measured");
		const workflows = await workflowTables(folder, quick);
		console.log(workflows);
		if (!quick) write(workflows, "workflows");
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

await main();
