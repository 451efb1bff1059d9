// The tests that run per commit: all but the longer ones, which vitest.long.config.ts runs.
import { availableParallelism } from "node:os";
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import LongestFirst from "./test/longest-first.ts";

/** Crash tests whose processes die at moments and not after times, so that it does not matter who else is busy. */
const atMoments =
	"accepted-inputs|busy-model|every-write|full-disk|graceful-suspend|kill-points|parking|reconcile|runner|threads";

/** Tests that replace modules, that count all timers of a process, or whose fixtures end what they share with the last test of a file: a process for each file. */
const apart = [
	`test/crash/@(${atMoments})`,
	"packages/{memory,postgres}/**/*",
	"packages/core/src/agent/foreign-host",
	"packages/cli/src/command/{postgres-worker,project,project-init,serve}",
	"packages/cli/src/upkeep/{move,server-upkeep}",
	"packages/runner/src/prompts/prompt-stores",
	"packages/core/src/engine/limits",
	"packages/upp/src/providers/factories",
	"packages/upp/src/{retry/{retry,silence-watch},time/time}",
];

/** Tests that end processes, cut connections or drive a browser within a promised time: they run last, with a processor each. */
const alone = [
	`test/crash/!(${atMoments})`,
	"test/browser/**/*",
	"packages/**/*browser",
	"packages/inspector/src/page",
	"packages/**/*chaos",
	"packages/cli/src/command/{signals,worker}",
	"packages/cli/src/chat/chat",
];

/** How long until a test counts as hung. A busy machine is no fault of what is tested; where a time is promised, the test measures it. */
const timeout = 120_000;

/** With HOLDFAST_STRICT_PROVIDERS=1, strict providers judge the conversations of every test. */
const strictProviders =
	process.env.HOLDFAST_STRICT_PROVIDERS === "1"
		? ["packages/testing/src/strict-providers/every-conversation.fixture.ts"]
		: [];

/** What all tests have in common. */
export const settings = {
	pool: "forks",
	globalSetup: ["test/temporary-folder.fixture.ts", "test/first-seed/set-first-seed.fixture.ts"],
	setupFiles: [
		"test/watchdog/watchdog.fixture.ts",
		"test/leftovers/leftovers.fixture.ts",
		"test/first-seed/seed-properties.fixture.ts",
		...strictProviders,
	],
	provide: { unansweredMs: timeout, propertyShare: 0.4 },
	testTimeout: timeout,
	hookTimeout: timeout,
	expect: { poll: { timeout: 20_000 } },
	// One more than there are processors: half of the time of tests goes by while they wait for timers and other processes.
	maxWorkers: availableParallelism() + 1,
	sequence: { groupOrder: 0 },
} as const satisfies TestProjectInlineConfiguration["test"];

/** How sources of packages are found: without a build. */
export const ssr = { resolve: { conditions: ["holdfast-source", "node", "module", "default"] } };

/** The tests whose files end in `ending`, without those that another ending belongs to, as projects by what they share. */
export function projectsOf(ending: string, others: readonly string[] = []): TestProjectInlineConfiguration[] {
	const named = (patterns: readonly string[]) => patterns.map((pattern) => `${pattern}${ending}`);
	const exclude = [...configDefaults.exclude, ...others];
	return [
		{
			ssr,
			test: {
				...settings,
				name: "together",
				include: named(["packages/*/src/**/*", "test/**/*"]),
				exclude: [...exclude, ...named(apart), ...named(alone)],
				// A process for each file would load the same sources again and again, which takes longer than many tests.
				isolate: false,
			},
		},
		{
			ssr,
			test: {
				...settings,
				name: "apart",
				include: named(apart),
				exclude: [...exclude, ...named(alone)],
			},
		},
		{
			ssr,
			test: {
				...settings,
				name: "alone",
				include: named(alone),
				exclude,
				maxWorkers: availableParallelism(),
				sequence: { groupOrder: 1 },
			},
		},
	];
}

export default defineConfig({
	test: {
		reporters: ["default", "json"],
		outputFile: { json: "test-results.json" },
		sequence: { sequencer: LongestFirst },
		projects: projectsOf(".test.ts", ["**/*.long.test.ts", "**/*.published.test.ts"]),
	},
});
