// Suites that need what is built, or fetched: `npm run templates` and `npm run docs`.
import { defineConfig } from "vitest/config";

export default defineConfig({
	ssr: { resolve: { conditions: ["holdfast-source", "node", "module", "default"] } },
	test: {
		include: ["test/templates/**/*.test.ts", "test/site/**/*.test.ts"],
		pool: "forks",
		globalSetup: ["test/temporary-folder.fixture.ts"],
		// What is waited for here is a registry and a compiler, on machines that are busy with other things.
		testTimeout: 1_200_000,
		hookTimeout: 1_200_000,
		reporters: ["default", "json"],
		outputFile: { json: process.env.LONGER_REPORT ?? "longer-results.json" },
	},
});
