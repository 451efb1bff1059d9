import { defineConfig } from "vitest/config";

export default defineConfig({
	ssr: { resolve: { conditions: ["holdfast-source", "node", "import", "module", "default"] } },
	test: {
		include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
		reporters: ["default", "json"],
		outputFile: { json: "test-results.json" },
		pool: "forks",
		// On a busy build machine a test that kills processes may miss its moment once. The report names what was retried.
		retry: process.env["CI"] === undefined ? 0 : 1,
	},
});
