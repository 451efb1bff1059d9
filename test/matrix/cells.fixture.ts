// The cells of the matrix: each feature in each place, in one process and across restarts.

import type { Host } from "holdfast";
import { expect } from "vitest";
import { answerFeatures } from "./answer-features.fixture.ts";
import { asideFeatures } from "./aside-features.fixture.ts";
import { backgroundFeatures } from "./background-features.fixture.ts";
import {
	type Aside,
	type Asked,
	type Came,
	type Feature,
	features,
	modelOf,
	type Said,
} from "./features.fixture.ts";
import { type PlaceName, places } from "./places.fixture.ts";
import type { Talk } from "./serve.fixture.ts";
import { subagentFeatures } from "./subagent-features.fixture.ts";
import { waitFeatures } from "./wait-features.fixture.ts";
import { workflowFeatures } from "./workflow-features.fixture.ts";

/** When a place is restarted. */
export const restarts = ["never", "before each answer", "after each turn"] as const;

export interface Cell {
	readonly feature: Feature;
	readonly place: PlaceName;
	readonly restart: (typeof restarts)[number];
}

export const allFeatures: readonly Feature[] = [
	...features,
	...answerFeatures,
	...waitFeatures,
	...subagentFeatures,
	...backgroundFeatures,
	...asideFeatures,
	...workflowFeatures,
];

const sessions: readonly PlaceName[] = [
	"a session in memory",
	"a session on SQLite",
	"a session on Postgres",
];

export const cells: readonly Cell[] = allFeatures.flatMap((feature) =>
	(Object.keys(places) as PlaceName[])
		.filter((place) => !isAside(feature) || sessions.includes(place))
		.flatMap((place) =>
			restarts.filter((restart) => isCell(place, restart)).map((restart) => ({ feature, place, restart })),
		),
);

function isAside({ aside, asideOfProvider, asideOfSibling }: Feature): boolean {
	return aside !== undefined || asideOfProvider !== undefined || asideOfSibling !== undefined;
}

function isCell(place: PlaceName, restart: (typeof restarts)[number]): boolean {
	if (restart === "never") return true;
	// A question on the wire of 2025 is lost with the connection that asked it.
	return place !== "a call" && !(place === "MCP of 2025" && restart === "before each answer");
}

export function nameOf({ feature, place, restart }: Cell): string {
	return `${feature.name} in ${place}, restarted ${restart}`;
}

/** What must come of a cell: the code of a refusal, or what was shown and what ran. */
export function expectedOf({ feature, place }: Cell): Came | string {
	const refusal = feature.refusals?.[place];
	if (refusal !== undefined) return refusal;
	return place === "a call" ? (feature.unasked ?? feature.expected) : feature.expected;
}

/** What comes of a cell. Rejects where an answer that was given is taken once more. */
export async function play({ feature, place, restart }: Cell): Promise<Came | string> {
	const ran: unknown[] = [];
	const shown: unknown[] = [];
	const waiting = Promise.withResolvers<void>();
	const model = modelOf(feature, waiting.promise);
	const talk = await places[place](() => feature.agent(ran, model));
	if (talk.host === undefined) waiting.resolve();
	else if (feature.background !== undefined) void tasksWait(talk.host, feature.background, waiting.resolve);
	const settled: (readonly [Asked, Said])[] = [];
	try {
		for (let turn = 0; turn < feature.turns; turn++) {
			const saying = talk.say(`turn ${turn}`);
			if (feature.asideOfProvider !== undefined && turn === 0)
				await aside(talk, feature.asideOfProvider).finally(() => saying.catch(() => {}));
			if (feature.asideOfSibling !== undefined) {
				const [what, letEnd] = feature.asideOfSibling;
				await talk.aside?.(what);
				letEnd(ran);
			}
			let asked = await saying;
			while (asked.length > 0) {
				shown.push(...asked.map(({ input }) => input));
				if (feature.aside !== undefined) await talk.aside?.(feature.aside);
				if (restart === "before each answer") await talk.restart?.();
				const answers = asked.map((each) => [each, feature.say?.(each) as Said] as const);
				for (const [each, said] of settled) await refuses(talk.answerAgain?.(each, said));
				asked = await talk.answer(answers);
				settled.push(...answers);
			}
			// What was answered in the background is not waited for, and a call that a restart cuts off has no known outcome.
			if (feature.background !== undefined && talk.host !== undefined) await quiet(talk.host);
			if (restart === "after each turn") await talk.restart?.();
		}
		if (feature.requests !== undefined && talk.host !== undefined)
			await expect.poll(() => model.requests.length, { interval: 1 }).toBe(feature.requests);
		return { shown, ran };
	} catch (error) {
		if (feature.fails) return { shown, ran };
		const { code } = error as { code?: unknown };
		if (typeof code === "string") return code;
		throw error;
	} finally {
		await talk.close();
	}
}

/** Resolves once so many sessions of tasks wait. */
async function tasksWait(host: Host, count: number, resolve: () => void): Promise<void> {
	const isTask = ({ key }: { readonly key: string }): boolean => key.includes("bg_");
	const waiting = async () => (await host.journal.list({ state: "waiting" })).filter(isTask).length;
	while ((await waiting()) < count) await new Promise((over) => setTimeout(over, 1));
	resolve();
}

/** Does it once the run waits. */
async function aside({ host, aside: does }: Talk, what: Aside): Promise<void> {
	await expect.poll(() => host?.journal.list({ state: "waiting" }), { interval: 1 }).toHaveLength(1);
	await does?.(what);
}

async function quiet({ journal }: Host): Promise<void> {
	await expect.poll(async () => (await journal.list({ state: "open" })).length, { interval: 1 }).toBe(0);
}

async function refuses(answered: Promise<string> | undefined): Promise<void> {
	const code = await answered;
	if (code === "taken") throw new Error("an answer for a settled call was taken");
}
