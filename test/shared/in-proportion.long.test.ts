// The judge of proportions: work that grows too fast always fails, and linear work passes on a busy machine.
import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { expectProportion, type Work } from "./in-proportion.fixture.ts";

/** Looks each word up in a list of all words. */
const quadratic = (size: number): Work => {
	const words = Array.from({ length: size }, (_, index) => `word ${index}`);
	return () => words.filter((word) => !words.includes(word)).length;
};

/** Looks each word up in a set of all words. */
const linear = (size: number): Work => {
	const words = Array.from({ length: size }, (_, index) => `word ${index}`);
	return () => {
		const known = new Set(words);
		return words.filter((word) => !known.has(word)).length;
	};
};

/** Copies a list for each entry, which is quick for each and grows with the square. */
const copying = (size: number): Work => {
	return () => {
		let list: readonly number[] = [];
		for (let index = 0; index < size; index++) list = list.concat(index);
		return list;
	};
};

/** Two programs that keep the processors busy. */
function disturb(): void {
	const children = [1, 2].map(() => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
	onTestFinished(() => {
		for (const child of children) child.kill("SIGKILL");
	});
}

test("linear work passes 50 times in a row next to two busy programs", async () => {
	disturb();
	for (let time = 0; time < 50; time++) await expectProportion(64_000, linear);
});

test.each([
	["look-ups in a list", quadratic, 4_000],
	["copies of a list", copying, 4_000],
])("%s fail 5 times in a row next to two busy programs", async (_, workOf, size) => {
	disturb();
	for (let time = 0; time < 5; time++)
		await expect(expectProportion(size, workOf)).rejects.toThrow("more than 3.2 times");
});
