import { sessionStoreContract } from "@holdfast/testing";
import { test } from "vitest";
import { MemorySessionStore } from "./memory-session-store.ts";

for (const { name, run } of sessionStoreContract({ name: "memory", make })) test(name, run);

function make() {
	const store = new MemorySessionStore();
	return { store: () => store, end() {} };
}
