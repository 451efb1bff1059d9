import { afterEach, describe, expect, test, vi } from "vitest";
import { AgentState } from "../../state/agent-state.ts";
import { aroundRun } from "../around-run.ts";
import { type LogEntry, logging } from "./logging.ts";
import { contextOf, resultOf } from "./middleware-face.fixture.ts";

const broken = new Error("no luck");

function clockOf(...times: number[]): { monotonic(): number } {
	return { monotonic: () => times.shift() ?? 0 };
}

afterEach(() => vi.restoreAllMocks());

describe("logging", () => {
	test("logs start and end to console.log with the duration, but no content [UAP-103]", async () => {
		const print = vi.spyOn(console, "log").mockImplementation(() => {});
		const clock = clockOf(100, 142);
		await aroundRun([logging({ clock })], contextOf(), async () => resultOf("the secret answer"));
		expect(print.mock.calls).toEqual([
			["[info] agent clerk started"],
			["[info] agent clerk completed in 42 ms, step 0, 15 tokens"],
		]);
	});

	test("logs a failure to console.log as an error, which still reaches the caller [UAP-103]", async () => {
		const print = vi.spyOn(console, "log").mockImplementation(() => {});
		const call = aroundRun([logging({ clock: clockOf(1, 3) })], contextOf(), () => Promise.reject(broken));
		await expect(call).rejects.toBe(broken);
		expect(print.mock.calls.at(-1)).toEqual(["[error] agent clerk failed in 2 ms: no luck"]);
	});

	test("calls a custom function, with messages and without durations if configured [UAP-104]", async () => {
		const print = vi.spyOn(console, "log").mockImplementation(() => {});
		const emitted: [string, LogEntry][] = [];
		const middleware = logging({
			logger: (line, entry) => emitted.push([line, entry]),
			includeMessages: true,
			includeTiming: false,
		});
		const context = contextOf();
		const result = resultOf("the secret answer");
		await aroundRun([middleware], context, async () => result);
		expect(print).not.toHaveBeenCalled();
		expect(emitted.map(([line]) => line)).toEqual([
			"[info] agent clerk started\nuser: the secret question",
			"[info] agent clerk completed, step 0, 15 tokens\nassistant: the secret answer",
		]);
		expect(emitted.map(([, { messages }]) => messages)).toEqual([[context.input], result.turn.messages]);
		expect(emitted.some(([, entry]) => "duration" in entry)).toBe(false);
	});

	test("omits entries below its level [UAP-104]", async () => {
		const lines: string[] = [];
		const middleware = logging({
			level: "error",
			logger: (line) => lines.push(line),
			clock: clockOf(0, 10, 11),
		});
		await aroundRun([middleware], contextOf(), async () => resultOf("fine"));
		expect(lines).toEqual([]);
		await aroundRun([middleware], contextOf(), () => Promise.reject(broken)).catch(() => {});
		expect(lines).toEqual(["[error] agent clerk failed in 1 ms: no luck"]);
	});

	test("logs every step at the level debug, and stops none", async () => {
		const emitted: LogEntry[] = [];
		const middleware = logging({
			level: "debug",
			logger: (_, entry) => emitted.push(entry),
			clock: clockOf(0, 7),
		});
		const context = contextOf();
		await middleware.before?.(context);
		expect(await middleware.stop?.(context, AgentState.initial().withStep(3))).toBe(false);
		expect(emitted.at(-1)).toMatchObject({ level: "debug", event: "step", step: 3, duration: 7 });
		expect(logging().stop).toBeUndefined();
	});

	test("passes data and line to loggers with a method for each level, such as pino", async () => {
		const emitted: unknown[] = [];
		class Logger {
			readonly bindings = "own";
			debug(...given: unknown[]): void {
				emitted.push(["debug", this.bindings, ...given]);
			}
			info(...given: unknown[]): void {
				emitted.push(["info", this.bindings, ...given]);
			}
			warn(...given: unknown[]): void {
				emitted.push(["warn", this.bindings, ...given]);
			}
			error(...given: unknown[]): void {
				emitted.push(["error", this.bindings, ...given]);
			}
		}
		const middleware = logging({ logger: new Logger(), clock: clockOf(0, 5) });
		await aroundRun([middleware], contextOf(), () => Promise.reject(broken)).catch(() => {});
		expect(emitted).toEqual([
			["info", "own", expect.objectContaining({ event: "started" }), "[info] agent clerk started"],
			[
				"error",
				"own",
				expect.objectContaining({ event: "failed", error: broken, duration: 5, agentId: "agent-1" }),
				"[error] agent clerk failed in 5 ms: no luck",
			],
		]);
	});

	test("rejects invalid levels and loggers", () => {
		expect(() => logging({ level: "loud" as "info" })).toThrow(/"loud" is unknown.*debug, info/);
		expect(() => logging({ logger: { info() {} } as never })).toThrow(/no method `debug`/);
	});
});
