import { executionHostContract } from "@holdfast/testing";
import { test } from "vitest";
import { memoryHost } from "../../host/memory-host.ts";
import { journalExecution } from "./journal-execution.ts";

const make = () => {
	let time = 1_000_000;
	const clock = { now: () => time };
	const host = memoryHost({ clock });
	const { journal, records, runs, capabilities } = host;
	const execution = journalExecution({ journal, records, runs, capabilities, clock });
	return {
		host: () => ({ ...host, ...execution, execution }),
		advance(milliseconds: number) {
			time += milliseconds;
		},
		end: () => host.close(),
	};
};

for (const { name, run } of executionHostContract({ name: "memory", make })) test(name, run);
