// Compares the beginning of a request with that of the previous answered one, so that every change is recorded. Without
// policy this takes constant time: the history only grows, and edits are noticed by the fold (keeps I2, I5).
import { isAssistantMessage, isToolResultMessage, type Message, type PromptCache } from "@holdfast/upp";
import {
	type CacheBreak,
	continuedHash,
	emptyHash,
	type HashState,
	hashOfState,
	joinedBreak,
	type SentPrefix,
	type SentView,
	textHash,
} from "../facts/index.ts";
import { isOwnView, sameBeginning } from "../policy/index.ts";
import type { List } from "../state/index.ts";
import type { EngineModel } from "./engine-agent.ts";
import { agentChange } from "./fingerprint.ts";
import type { Run } from "./run.ts";

/** The beginning of a request, compared with that of the previous one. */
export interface RequestPrefix {
	/** Recorded with the answer. */
	readonly cacheBreak: CacheBreak | undefined;
	/** Recorded with the answer. */
	readonly view: SentView | undefined;
	/** The messages of the view. */
	readonly shown: readonly Message[] | undefined;
}

/**
 * Returns the beginning of a request; undefined if it extends the previous one and policy shows no other history.
 * @param assembled the messages as policy shows them; undefined without policy.
 * @param prompt the strategy's own last message, which is not part of any later request.
 * @param isHistory whether `assembled` is known to be the history.
 * @param fingerprint identifies the model, instructions and tools of this request. Default: the run's.
 */
export function prefixOf(
	run: Run,
	assembled: readonly Message[] | undefined,
	prompt: string | undefined,
	fingerprint: string = run.state.run?.fingerprint ?? "",
	isHistory: boolean = false,
): RequestPrefix | undefined {
	const { sent, context } = run.state;
	const isPlain =
		(assembled === undefined || isHistory) && sent?.view === undefined && sent?.changed === undefined;
	if (isPlain && (sent === undefined || sent.fingerprint === fingerprint)) return undefined;
	// Most policy shows the history unchanged, and then nothing has to be compared.
	const shown = assembled === undefined || isHistory ? undefined : viewOf(assembled, context, prompt);
	const view = shown && { length: shown.length, hash: viewHashOf(run).of(shown) };
	if (sent === undefined) return { cacheBreak: undefined, view, shown };
	let cacheBreak = brokenBy(run, sent, shown);
	const parts = agentChange(sent.fingerprint, fingerprint);
	if (parts !== undefined) cacheBreak = joinedBreak(cacheBreak, { reasons: parts, from: 0 });
	return { cacheBreak, view, shown };
}

/** Returns the change of the messages since the previous request. */
function brokenBy(run: Run, sent: SentPrefix, shown: readonly Message[] | undefined): CacheBreak | undefined {
	const { changed, view } = sent;
	if (view === undefined && shown === undefined) return changed;
	const from = firstUnlike(run, sent, shown ?? run.state.context.from(0));
	if (view === undefined)
		return from === undefined ? changed : joinedBreak(changed, { reasons: ["view"], from });
	// The positions of edits are those of the journal's history, and some edits do not show in a view.
	return from === undefined ? undefined : { reasons: changed?.reasons ?? ["view"], from };
}

/** Returns the messages that policy shows, without the strategy's own; undefined if they are those of the journal. */
function viewOf(
	assembled: readonly Message[],
	context: List<Message>,
	prompt: string | undefined,
): readonly Message[] | undefined {
	const last = assembled.at(-1);
	const hasPrompt = prompt !== undefined && last?.type === "user" && last.text === prompt;
	const shown = hasPrompt ? assembled.slice(0, -1) : assembled;
	// A policy of this package returns the history itself if it shows all of it.
	if (shown.length !== context.length || isOwnView(shown)) return shown;
	return sameBeginning(shown, context.from(0)) === shown.length ? undefined : shown;
}

/** Returns the first position at which a request differs from the previous one; undefined if it extends it. */
function firstUnlike(run: Run, sent: SentPrefix, now: readonly Message[]): number | undefined {
	const { length, view, changed } = sent;
	// Another process, or an earlier run, sent the previous view: only its hash is known.
	if (view !== undefined && run.shown === undefined)
		return now.length >= length && hashOf(now, length) === view.hash ? undefined : 0;
	const before = view === undefined ? run.state.context.from(0) : (run.shown ?? []);
	const end = view === undefined ? Math.min(length, changed?.from ?? length) : length;
	for (let at = Math.min(end, sameBeginning(now, before)); at < end; at++)
		if (!isAlike(before[at], now[at])) return at;
	return undefined;
}

function isAlike(before: Message | undefined, now: Message | undefined): boolean {
	return before === now || (before !== undefined && now !== undefined && digestOf(before) === digestOf(now));
}

const digests = new WeakMap<Message, string>();

/** Returns the hash of what a model sees of a message: neither its id nor its time. */
function digestOf(message: Message): string {
	let digest = digests.get(message);
	if (digest === undefined) {
		digest = textHash(contentOf(message));
		digests.set(message, digest);
	}
	return digest;
}

function contentOf(message: Message): string {
	const calls = isAssistantMessage(message) ? message.toolCalls : undefined;
	const content = isToolResultMessage(message) ? message.results : (message as { content?: unknown }).content;
	try {
		return JSON.stringify([message.type, content, calls, message.metadata], withoutBytes);
	} catch {
		return message.id; // Only a journal in memory holds values that JSON cannot represent.
	}
}

/** Long data is represented by its length and its beginning. */
function withoutBytes(_: string, value: unknown): unknown {
	if (ArrayBuffer.isView(value))
		return [
			value.byteLength,
			...new Uint8Array(value.buffer, value.byteOffset, Math.min(64, value.byteLength)),
		];
	if (typeof value === "bigint") return String(value);
	return value;
}

function hashOf(messages: readonly Message[], length: number): string {
	return new ViewHash().of(messages.slice(0, length));
}

/** The hash of a view that mostly grows. A known beginning is not hashed again (keeps I5). */
class ViewHash {
	#messages: readonly Message[] = [];
	/** The hash up to and including each message. */
	readonly #states: HashState[] = [];

	of(messages: readonly Message[]): string {
		const states = this.#states;
		states.length = sameBeginning(messages, this.#messages);
		let state = states.at(-1) ?? emptyHash;
		for (let at = states.length; at < messages.length; at++) {
			state = continuedHash(state, digestOf(messages[at] as Message));
			states.push(state);
		}
		this.#messages = messages;
		return hashOfState(state);
	}
}

const viewHashes = new WeakMap<Run, ViewHash>();

function viewHashOf(run: Run): ViewHash {
	const known = viewHashes.get(run) ?? new ViewHash();
	viewHashes.set(run, known);
	return known;
}

/** Returns how a request uses the prompt cache of its provider. */
export function promptCacheOf(
	{ sessionKey, state }: Run,
	{ key, ...cache }: NonNullable<EngineModel["cache"]>,
	prompt: string | undefined,
): PromptCache {
	const sent: { -readonly [Name in keyof PromptCache]: PromptCache[Name] } = cache;
	if (prompt !== undefined) sent.lastIs = "ephemeral";
	if (typeof key === "string") sent.key = key;
	// The key of a session is the user's own data, so the provider receives a hash of it.
	else if (key !== undefined && sessionKey !== undefined)
		sent.key = `holdfast-${textHash(`${state.run?.fingerprint ?? ""} ${sessionKey}`)}`;
	return sent;
}
