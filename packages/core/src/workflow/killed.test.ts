// A real process that works on a workflow is killed with SIGKILL, and another one continues from the file.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { sqliteHost } from "../sqlite.ts";
import { runToEnd } from "./crashes.fixture.ts";
import { orderWorkflow } from "./order.fixture.ts";

test.for([
	["reserving desk", "charged"],
	["waiting", "charged"],
	["charging", "step_outcome_unknown"],
] as const)("a process that dies while %s: another one continues the run", async ([moment, charge]) => {
	const folder = temporaryFolder();
	const [path, effects] = [join(folder, "orders.db"), join(folder, "effects.txt")];
	const program = join(import.meta.dirname, "order-process.fixture.ts");
	const options = ["--conditions=holdfast-source", program, path, effects, moment];
	const child = spawn(process.execPath, options, { stdio: "inherit" });
	const [, signal] = await once(child, "exit");
	expect(signal).toBe("SIGKILL");
	const lines = (): readonly string[] => readFileSync(effects, "utf8").trim().split("\n");
	const before = lines();

	const host = sqliteHost(path);
	const order = orderWorkflow(host, (line) => void after.push(line));
	const after: string[] = [];
	const { outcome, output } = await runToEnd(order, "order-7");
	await order.close();
	await host.close();
	expect({ outcome, output }).toMatchObject({
		outcome: "completed",
		output: { reserved: ["lamp reserved", "desk reserved", "chair reserved"], charge },
	});
	// An interrupted step has the same key again, and the others have one of their own.
	const all = [...before, ...after];
	expect(new Set(all.filter((line) => line.startsWith("reserve"))).size).toBe(3);
	expect(all.filter((line) => line === "charge")).toHaveLength(1);
	expect(all.filter((line) => line === "tell")).toHaveLength(1);
});
