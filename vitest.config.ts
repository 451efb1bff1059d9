import { defineConfig } from "vitest/config";

/** Suites of their own: what they need is built, or fetched. */
const longer = ["test/templates/**/*.test.ts", "test/site/**/*.test.ts"];

/** Crash tests whose processes die at moments and not after times, so that it does not matter who else is busy. */
const atMoments = "accepted-inputs|every-write|kill-points|reconcile|runner|threads";

/** Tests that replace modules, or whose fixtures end what they share with the last test of a file: a process for each file. */
const apart = [
	`test/crash/@(${atMoments}).test.ts`,
	"packages/{memory,postgres}/**/*.test.ts",
	"packages/core/src/agent/foreign-host.test.ts",
	"packages/runner/src/prompts/prompt-stores.test.ts",
	"packages/upp/src/providers/factories.test.ts",
];

/** Tests that end processes, cut connections or drive a browser: they compete with nobody for the machine. */
const alone = [
	`test/crash/!(${atMoments}).test.ts`,
	"test/browser/**/*.test.ts",
	"packages/**/*browser.test.ts",
	"packages/**/*chaos.test.ts",
	"packages/cli/src/command/{signals,worker,serve,project,postgres-worker}.test.ts",
	"packages/cli/src/chat/chat.test.ts",
	"packages/cli/src/upkeep/{move,server-upkeep}.test.ts",
];

const resolve = { conditions: ["holdfast-source", "node", "module", "default"] };
const settings = {
	pool: "forks" as const,
	globalSetup: ["test/temporary-folder.fixture.ts"],
	// How long until a test counts as hung. A machine that is busy with other things is no fault of what is tested;
	// where a time is promised, the test measures it.
	testTimeout: 120_000,
	hookTimeout: 120_000,
	expect: { poll: { timeout: 20_000 } },
};

/** The runner would leave one processor free, which on a machine with two is half of it. */
const maxWorkers = "100%";

export default defineConfig({
	test: {
		reporters: ["default", "json"],
		outputFile: { json: "test-results.json" },
		projects: [
			{
				ssr: { resolve },
				test: {
					...settings,
					name: "together",
					include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
					exclude: ["**/node_modules/**", ...apart, ...alone, ...longer],
					// A process for each file would load the same sources again and again, which takes longer than many tests.
					isolate: false,
					maxWorkers,
					sequence: { groupOrder: 0 },
				},
			},
			{
				ssr: { resolve },
				test: {
					...settings,
					name: "apart",
					include: apart,
					exclude: ["**/node_modules/**", ...alone],
					maxWorkers,
					sequence: { groupOrder: 0 },
				},
			},
			{
				ssr: { resolve },
				test: {
					...settings,
					name: "alone",
					include: alone,
					maxWorkers: 1,
					sequence: { groupOrder: 1 },
				},
			},
		],
	},
});
