// The order in which files of tests begin. Where nothing is known of an earlier run, the test runner begins with the largest
// files; but some of the smallest take longest, and the last of them would leave one processor to work alone.
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Folders and files whose tests take longest, by what their paths contain, the longest first. */
const longest: readonly string[] = [
	"test/simulation/schedules.",
	"test/bundlers/",
	"packages/inspector/src/page.",
	"test/matrix/matrix.long.",
	"test/matrix/own-places.long.",
	"test/templates/",
	"test/examples.long.",
	"test/simulation/",
	"test/watchdog/",
	"test/crash/runner.",
	"packages/cli/src/upkeep/",
	"packages/cli/src/command/",
	"test/",
];

/** Begins with the longest files of each project. */
export default class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const sorted = await super.sort(files);
		const projects = new Map(
			[...new Set(sorted.map(({ project }) => project))].map((project, at) => [project, at]),
		);
		const order = (one: TestSpecification): readonly [number, number] => [
			projects.get(one.project) ?? 0,
			rankOf(one.moduleId),
		];
		return sorted.toSorted((one, other) => {
			const [[project, rank], [otherProject, otherRank]] = [order(one), order(other)];
			return project - otherProject || rank - otherRank;
		});
	}
}

function rankOf(path: string): number {
	const rank = longest.findIndex((part) => path.includes(part));
	return rank < 0 ? longest.length : rank;
}
