// The longer tests: sweeps over every write and kill point, further schedules, chaos, other runtimes, and what is made from
// built packages. A test is one of them when its file ends in `.long.test.ts`.
import { defineConfig } from "vitest/config";
import LongestFirst from "./test/longest-first.ts";
import { projectsOf, settings, ssr } from "./vitest.config.ts";

/** Tests of what is built or fetched. */
const built = "test/{templates,site,bundlers}/**/*.long.test.ts";
/** They wait for a registry and a compiler, on machines that are busy with other things. */
const builtTimeout = 1_200_000;

export default defineConfig({
	test: {
		reporters: ["default", "json"],
		outputFile: { json: "test-results.long.json" },
		sequence: { sequencer: LongestFirst },
		projects: [
			{
				ssr,
				test: {
					...settings,
					name: "built",
					include: [built],
					testTimeout: builtTimeout,
					hookTimeout: builtTimeout,
				},
			},
			...projectsOf(".long.test.ts", [built]).map(({ test, ...project }) => ({
				...project,
				test: { ...test, provide: { ...settings.provide, propertyShare: 1 } },
			})),
		],
	},
});
