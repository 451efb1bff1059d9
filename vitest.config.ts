import { defineConfig } from "vitest/config";

export default defineConfig({
	ssr: { resolve: { conditions: ["holdfast-source", "node", "module", "default"] } },
	test: {
		include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
		reporters: ["default", "json"],
		outputFile: { json: "test-results.json" },
		pool: "forks",
		// The runner would leave one processor free, which on a machine with two is half of it.
		maxWorkers: "100%",
		globalSetup: ["test/temporary-folder.fixture.ts"],
		// How long until a test counts as hung. A machine that is busy with other things is no fault of what is tested;
		// where a time is promised, the test measures it.
		testTimeout: 120_000,
		hookTimeout: 120_000,
		expect: { poll: { timeout: 20_000 } },
	},
});
