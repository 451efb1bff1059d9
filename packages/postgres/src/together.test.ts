import { expect, test } from "vitest";
import { together } from "./together.ts";

/** Statements that are answered on request. */
function statements() {
	const sent: { readonly asked: readonly number[]; answer(): void; fail(): void }[] = [];
	const ask = together<number, string>(
		(asked) =>
			new Promise((resolve, reject) => {
				const answer = (): void => resolve(asked.map((each) => `answer ${each}`));
				sent.push({ asked, answer, fail: () => reject(new Error("failed")) });
			}),
	);
	return { sent, ask, asked: () => sent.map(({ asked }) => asked) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("requests of one turn are one statement, and later ones wait while two statements are running", async () => {
	const { sent, ask, asked } = statements();
	const first = [ask(1), ask(2)];
	await turn();
	const second = ask(3);
	await turn();
	const later = [ask(4), ask(1)];
	await turn();
	expect(asked()).toEqual([[1, 2], [3]]);
	sent[1]?.answer();
	expect(await second).toBe("answer 3");
	await turn();
	// A repeated query is answered by a new read.
	expect(asked()).toEqual([[1, 2], [3], [4, 1]]);
	sent[0]?.answer();
	sent[2]?.answer();
	expect(await Promise.all([...first, ...later])).toEqual(["answer 1", "answer 2", "answer 4", "answer 1"]);
});

test("a statement that fails fails for its requests, and others run as before", async () => {
	const { sent, ask } = statements();
	const failing = [ask(1), ask(2)].map((each) => expect(each).rejects.toThrow("failed"));
	await turn();
	sent[0]?.fail();
	await Promise.all(failing);
	const next = ask(3);
	await turn();
	sent[1]?.answer();
	expect(await next).toBe("answer 3");
});

test("a statement combines at most a hundred requests", async () => {
	const { sent, ask, asked } = statements();
	const all = Array.from({ length: 250 }, (_, number) => ask(number));
	await turn();
	await turn();
	expect(asked().map(({ length }) => length)).toEqual([100, 100]);
	sent[0]?.answer();
	await all[0];
	await turn();
	expect(asked().map(({ length }) => length)).toEqual([100, 100, 50]);
	for (const { answer } of sent) answer();
	expect((await Promise.all(all)).at(-1)).toBe("answer 249");
});
