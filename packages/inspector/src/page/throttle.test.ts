import fc from "fast-check";
import { expect, test } from "vitest";
import { throttled } from "./throttle.ts";

test("runs are one at a time and apart, and the last request is followed by a run, in any order of events", async () => {
	const event = fc.constantFrom("request", "finish", "tick");
	await fc.assert(
		fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
			let running = 0;
			let runs = 0;
			let isFresh = true;
			let finish: (() => void) | undefined;
			let timer: (() => void) | undefined;
			const { request } = throttled(
				() => {
					expect(++running).toBe(1);
					runs++;
					isFresh = true;
					return new Promise<void>((resolve) => {
						finish = resolve;
					});
				},
				1_000,
				(ms, then) => {
					expect(ms).toBe(1_000);
					timer = then;
					return () => {
						timer = undefined;
					};
				},
			);
			const does = {
				request() {
					isFresh = false;
					request();
				},
				async finish() {
					if (finish === undefined) return;
					running = 0;
					finish();
					finish = undefined;
					await new Promise((resolve) => setImmediate(resolve));
				},
				tick() {
					const then = timer;
					timer = undefined;
					then?.();
				},
			};
			for (const each of events) await does[each]();
			expect(runs).toBeLessThanOrEqual(1 + events.filter((each) => each === "tick").length);
			for (let at = 0; at < 4; at++) {
				await does.finish();
				does.tick();
			}
			expect(isFresh).toBe(true);
		}),
	);
});

test("nothing runs after it was stopped", async () => {
	let runs = 0;
	const { request, stop } = throttled(
		async () => runs++,
		1,
		() => () => {},
	);
	request();
	stop();
	request();
	await Promise.resolve();
	expect(runs).toBe(1);
});
