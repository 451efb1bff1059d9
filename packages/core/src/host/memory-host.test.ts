import { hostContract } from "@holdfast/testing";
import { test } from "vitest";
import { memoryHost } from "./memory-host.ts";

function make() {
	const host = memoryHost({ files: { maxFileBytes: 1_000_000, maxSessionBytes: 1_500_000 } });
	return { host: () => host, end: () => host.close() };
}

for (const { name, run } of hostContract({ name: "memory", make, limitsFiles: true })) test(name, run);
