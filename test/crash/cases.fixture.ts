// What is done in each case, by the process that dies and, where it was not accepted yet, by the one after it.
import type { Agent, AgentRun } from "holdfast";
import type { SqliteHost } from "holdfast/sqlite";
import type { CasePlan } from "./case-model.fixture.ts";

/** What a case works with. */
export interface CaseParts {
	/** The name of the case, which is also its session's key. */
	readonly name: string;
	readonly agent: Agent;
	readonly host: SqliteHost;
	/** Resolves when the case has come to the point where something is held: its tool, or its answer. */
	atGate(): Promise<void>;
	/** Lets it continue. */
	openGate(): void;
	/** Resolves when so many runs of the session have ended. */
	ended(runs: number): Promise<void>;
}

export interface Scenario {
	readonly agent: "plain" | "compacting" | "deciding";
	/** What is sent, one after the other. */
	plans(name: string): readonly CasePlan[];
	/** What a user does while the first plan is at its gate; without it nothing waits there. */
	meanwhile?(parts: CaseParts, run: AgentRun): unknown;
	/** In place of sending the plans; asked for again in the next process, and then must do nothing twice. */
	begin?(parts: CaseParts): Promise<unknown>;
	/** How many runs of the session there are in the end. */
	readonly runs: number;
	/** The write that settles whether what was done meanwhile counts, by a part of its name. */
	readonly counts?: string;
	/** What the model may be asked instead, where that depends on the moment of the death. */
	instead?(requests: readonly string[]): readonly string[];
}

const call = (tool: string, subject: string): CasePlan["calls"][number] => ({ tool, input: { subject } });
const gated = call("gate", "g");
const child = (name: string): string =>
	JSON.stringify({
		task: `${name} child`,
		calls: [call("lookup", "c"), call("post", "c")],
	} satisfies CasePlan);

export const scenarios: Readonly<Record<string, Scenario>> = {
	steer: {
		agent: "plain",
		plans: (name) => [{ task: `${name} main`, calls: [gated, call("post", "a")] }],
		meanwhile: ({ name, agent }) => agent.session(name).steer("Mind the step."),
		runs: 1,
		counts: "parent submit 1 after",
	},
	latesteer: {
		agent: "plain",
		plans: (name) => [{ task: `${name} main`, calls: [call("post", "a")], holdsAnswer: true }],
		meanwhile: ({ name, agent }) => agent.session(name).steer("Mind the step."),
		runs: 1,
		counts: "parent submit 1 after",
		// The answer under way is lost; it is asked for again with what was said meanwhile.
		instead([first = "", second = "", third = ""]) {
			const said = (JSON.parse(third) as readonly unknown[]).at(-1);
			return [first, second, JSON.stringify([...JSON.parse(second), said])];
		},
	},
	interrupt: {
		agent: "plain",
		plans: (name) => [
			{ task: `${name} main`, calls: [gated, call("post", "a")] },
			{ task: `${name} next`, calls: [call("post", "b")] },
		],
		meanwhile: (_, run) => run.interrupt(),
		runs: 2,
		counts: "parent append 3 after",
	},
	delegate: {
		agent: "plain",
		plans: (name) => [
			{
				task: `${name} main`,
				calls: [{ tool: "delegate_to_helper", input: { prompt: child(name) } }, call("post", "a")],
			},
		],
		runs: 1,
	},
	background: {
		agent: "plain",
		plans: (name) => [
			{
				task: `${name} main`,
				calls: [
					{
						tool: "delegate_to_helper",
						input: { prompt: child(name), description: "Some work.", run_in_background: true },
					},
				],
			},
		],
		// The reminder is a turn of its own.
		runs: 2,
	},
	notify: {
		agent: "plain",
		plans: () => [],
		async begin({ name, host: { store, scheduler } }) {
			const input = JSON.stringify({ task: `${name} main`, calls: [call("post", "a")] } satisfies CasePlan);
			const id = `notice-${name}`;
			const notification = { notificationId: id, idempotencyKey: id, runId: `run-${name}`, sessionKey: name };
			await store.notifications.enqueue({ ...notification, input });
			await scheduler.resumeSession(name, notification);
		},
		runs: 1,
	},
	decide: {
		agent: "deciding",
		plans: (name) => [{ task: `${name} main`, calls: [], requests: ["lookup", "post", "post"] }],
		runs: 1,
	},
	compact: {
		agent: "compacting",
		plans: (name) =>
			["one", "two", "three"].map((which) => ({
				task: `${name} ${which} ${"·".repeat(400)}`,
				calls: [call("post", which)],
			})),
		runs: 3,
	},
};
