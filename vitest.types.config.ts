import { defineConfig } from "vitest/config";

/** The tests of types alone: nothing is run. */
export default defineConfig({
	ssr: { resolve: { conditions: ["holdfast-source", "node", "module", "default"] } },
	test: {
		include: [],
		typecheck: { enabled: true, only: true, tsconfig: "tsconfig.test.json" },
	},
});
