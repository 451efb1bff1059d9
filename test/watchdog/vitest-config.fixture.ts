// The tests that hang, each in a file; the test of the watchdog runs them.
import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		root: import.meta.dirname,
		include: ["*-hangs.fixture.ts"],
		pool: "forks",
		setupFiles: ["watchdog.fixture.ts"],
		provide: { unansweredMs: 1_000 },
		testTimeout: 1_000,
		reporters: ["default", "json"],
		outputFile: { json: process.env.HOLDFAST_HANGING_REPORT ?? "" },
	},
});
