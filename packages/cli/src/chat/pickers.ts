/** Sessions and models to choose from, and sessions that a message mentions as `#KEY`. */
import type { Agent, Host } from "holdfast";
import type { SessionHead } from "holdfast/host";
import { type CommandIo, formatTime, oneLine } from "../terminal/index.ts";
import { isOwnKey, modelsByKey, readSettings, type Setup, titleOf, transcriptOf } from "../work/index.ts";
import type { Choice } from "./menu.ts";

/** Maximum number of sessions in a menu. */
const MOST_SESSIONS = 50;
/** Maximum number of sessions that one message attaches, and the characters of each. */
const MOST_MENTIONED = 5;
const LONGEST_MENTIONED = 40_000;

/** The part of a conversation that the pickers use. */
interface Current {
	readonly host: Host;
	readonly agent: Agent;
	readonly setup: Setup;
}

/** Returns the sessions that changed last, with their titles. */
export async function lastSessions(
	host: Host,
	most: number,
): Promise<readonly (SessionHead & { readonly title: string })[]> {
	const heads = (await host.journal.list()).filter(({ key, seq }) => isOwnKey(key) && seq > 0);
	heads.sort((one, other) => other.updatedAt - one.updatedAt);
	return await Promise.all(
		heads.slice(0, most).map(async (head) => ({ ...head, title: await titleOf(host, head.key) })),
	);
}

/** Returns the other sessions for a menu. */
export async function sessionChoices({ host, setup }: Current): Promise<readonly Choice[]> {
	const sessions = await lastSessions(host, MOST_SESSIONS + 1);
	return sessions
		.filter(({ key }) => key !== setup.key)
		.map(({ key, updatedAt, title }) => ({
			text: key,
			label: oneLine(key, 60),
			detail: `${formatTime(updatedAt).slice(0, 16)}  ${oneLine(title, 100)}`,
		}));
}

/** Returns models: those with a key, `offline`, and those of earlier sessions. */
export async function modelChoices({
	conversation: { host, setup },
	io: { environment },
	db,
}: {
	readonly conversation: Current;
	readonly io: Pick<CommandIo, "environment">;
	readonly db: string;
}): Promise<readonly Choice[]> {
	const details = new Map<string, string>([[setup.model.name, "the current model"]]);
	const add = (name: string, detail: string): void => {
		if (!details.has(name)) details.set(name, detail);
	};
	for (const { name, key } of modelsByKey(environment)) add(name, `${key} is set`);
	for (const { key } of await lastSessions(host, MOST_SESSIONS)) {
		const { model, agent } = readSettings(db, key) ?? {};
		if (model !== undefined && model !== "offline" && agent === undefined)
			add(model, `used in ${oneLine(key, 40)}`);
	}
	add("offline", "finds and quotes passages, without a network");
	return [...details].map(([name, detail]) => ({ text: name, label: name, detail }));
}

/** Returns the key of an existing session if a text is nothing but its mention. */
export async function sessionMentioned({ host }: Current, text: string): Promise<string | undefined> {
	const [, key] = /^#(\S+)$/.exec(text) ?? [];
	if (key === undefined || !isOwnKey(key)) return undefined;
	return (await host.journal.head(key)) === undefined ? undefined : key;
}

/** Attaches the conversations of the existing sessions that a text mentions. Other words after `#` are left alone. */
export async function withSessions(
	text: string,
	{ host, agent, setup }: Current,
): Promise<{ readonly text: string; readonly keys: readonly string[] }> {
	const words = [...text.slice(0, LONGEST_MENTIONED).matchAll(/(?<=^|[\s("'`])#([^\s"'`]+)/g)].map(
		([, word = ""]) => word.replace(/[.,;:!?)\]]+$/, ""),
	);
	const parts: string[] = [];
	const keys: string[] = [];
	for (const key of new Set(words)) {
		if (keys.length === MOST_MENTIONED || key === setup.key || !isOwnKey(key)) continue;
		if (key === "" || (await host.journal.head(key)) === undefined) continue;
		const { messages } = await agent.session(key).state();
		parts.push(`Session ${key}:\n${transcriptOf(messages, LONGEST_MENTIONED)}`);
		keys.push(key);
	}
	return { text: [text, ...parts].join("\n\n"), keys };
}
