// The longer suite `npm run templates`: every template of create-holdfast, installed from packed packages.
import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/templates/**/*.test.ts"],
		pool: "forks",
		globalSetup: ["test/temporary-folder.fixture.ts"],
		// What is waited for here is a registry and a compiler, on machines that are busy with other things.
		testTimeout: 600_000,
		hookTimeout: 600_000,
		reporters: ["default", "json"],
		outputFile: { json: process.env.TEMPLATES_REPORT ?? "templates-results.json" },
	},
});
