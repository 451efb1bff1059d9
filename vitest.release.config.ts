// The tests before a release: a release to a registry on this machine, the projects that are made from it, and applications that
// Next builds. They take about 15 minutes, and need access to the npm registry. A test is one of them when its file ends in
// `.published.test.ts`.
import { defineConfig } from "vitest/config";
import { settings, ssr } from "./vitest.config.ts";

const builtTimeout = 2_400_000;

export default defineConfig({
	ssr,
	test: {
		...settings,
		name: "published",
		// Without a release there is nothing to create projects from.
		bail: 1,
		include: ["test/{templates,bundlers}/**/*.published.test.ts"],
		testTimeout: builtTimeout,
		hookTimeout: builtTimeout,
		fileParallelism: false,
	},
});
