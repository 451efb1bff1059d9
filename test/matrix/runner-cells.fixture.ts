// The cells of the runner: its agents and its strategy in another agent, each in memory and on SQLite, in one process and
// across restarts.
import { RunnerAgent } from "@holdfast/runner";
import type { Agent, Host } from "holdfast";
import { expect } from "vitest";
import type { Asked, Said } from "./features.fixture.ts";
import { type OwnCell, refusalOf, type Store, stores } from "./own-cell.fixture.ts";
import { runnerFeatures } from "./runner-features.fixture.ts";
import type { RunnerFeature } from "./runner-parts.fixture.ts";
import { runnerRefusals } from "./runner-refusals.fixture.ts";

const restarts = ["never", "before each answer", "after each turn"] as const;

interface Deployed {
	readonly host: Host;
	readonly agent: Agent;
	close(): Promise<void>;
}

async function play(
	feature: RunnerFeature,
	store: Store,
	restart: (typeof restarts)[number],
): Promise<unknown> {
	const ran: unknown[] = [];
	const shown: unknown[] = [];
	const ended: unknown[] = [];
	const deploy = (): Deployed => {
		const host = store.open();
		const made = feature.agent(ran, host);
		const agent = made instanceof RunnerAgent ? made.engine : made;
		const close = async (): Promise<void> => {
			await agent.close({ drainMs: 0 });
			await host.close();
		};
		return { host, agent, close };
	};
	let deployed = deploy();
	const again = async (): Promise<void> => {
		await deployed.close();
		deployed = deploy();
	};
	/** The calls that wait once nothing runs; without any, how the run has ended is written down. */
	const told = async (
		asking: ReturnType<ReturnType<Agent["session"]>["send"]>,
	): Promise<readonly Asked[]> => {
		const run = await asking;
		const { outcome, error } = await run.result();
		const session = deployed.agent.session("s");
		if (outcome === "waiting") {
			const { journal } = deployed.host;
			const isQuiet = async (): Promise<boolean> =>
				(await session.pending()).length > 0 || (await journal.list({ state: "open" })).length === 0;
			await expect.poll(isQuiet, { interval: 1 }).toBe(true);
		}
		const pending = await session.pending();
		if (pending.length === 0) ended.push(error?.code ?? outcome);
		return pending.map(({ toolCallId: id, arguments: given, awaits }): Asked => {
			const { step } = given as { readonly step?: { readonly input?: unknown } };
			return { id, input: step === undefined ? given : step.input, awaits };
		});
	};
	try {
		for (let turn = 0; turn < feature.turns; turn++) {
			let asked = await told(deployed.agent.session("s").send(`turn ${turn}`));
			while (asked.length > 0) {
				shown.push(...asked.map(({ input }) => input));
				if (restart === "before each answer") await again();
				const answers = asked.map((each) => ({ toolCallId: each.id, ...(feature.say?.(each) as Said) }));
				asked = await told(deployed.agent.session("s").answer(answers));
			}
			if (restart === "after each turn") await again();
		}
		return { shown, ran, ended };
	} catch (error) {
		const { code } = error as { readonly code?: unknown };
		if (typeof code === "string") return code;
		throw error;
	} finally {
		await deployed.close();
		await store.close();
	}
}

export const runnerCells: readonly OwnCell[] = [
	...runnerFeatures.flatMap((feature) =>
		Object.entries(stores).flatMap(([where, store]) =>
			restarts
				.filter((restart) => restart !== "before each answer" || feature.say !== undefined)
				.map(
					(restart): OwnCell => ({
						place: `${feature.place} ${where}`,
						name: `${feature.name} in ${feature.place} ${where}, restarted ${restart}`,
						expected: feature.expected,
						play: () => play(feature, store(), restart),
					}),
				),
		),
	),
	...runnerRefusals.map(
		({ name, code, make }): OwnCell => ({
			place: "the options of a runner",
			name: `${name} in the options of a runner`,
			expected: code,
			play: () => refusalOf(make),
		}),
	),
];
