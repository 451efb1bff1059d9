import { defineConfig } from "vitest/config";

export default defineConfig({
	ssr: { resolve: { conditions: ["holdfast-source", "node", "import", "module", "default"] } },
	test: {
		include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
		reporters: ["default", "json"],
		outputFile: { json: "test-results.json" },
		pool: "forks",
	},
});
