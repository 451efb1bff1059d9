/** What fills the context of a session's model, how much of it is cached, and advice. */
import {
	type AnyMessage,
	type AssistantMessage,
	isAssistantMessage,
	isToolResultMessage,
} from "@holdfast/upp";
import type { CacheBreakReason, CacheReport } from "holdfast/host";
import { formatCount } from "../terminal/index.ts";

/** A part of the context. Tokens are estimated, at four characters each, except for those that the provider counts. */
interface Section {
	readonly name: string;
	tokens: number;
	/** Tokens that the last call read from the provider's prompt cache. */
	cached: number;
}

interface Context {
	/** The tokens of the last call as the provider counts them, and of what has been added since. */
	readonly tokens: number;
	readonly sections: readonly Section[];
	readonly cache: CacheReport;
	readonly advice: readonly string[];
}

/**
 * Returns the sections of a history, in the order in which they are first sent. `shown` are the messages that the model
 * receives, if a summary replaces some of them, and `system` are the instructions, if the journal has them.
 */
export function contextOf(
	messages: readonly AnyMessage[],
	cache: CacheReport,
	shown: readonly AnyMessage[] = messages,
	system?: string,
): Context {
	const last = cache.calls.at(-1);
	const tools = toolNamesOf(messages);
	const pieces = shown.flatMap((message) => piecesOf(message, tools));
	// Without an answer since the summary, the last call still received what it replaces.
	const counted = shown.some(isAssistantMessage) ? shown : messages;
	const answered = counted.findLastIndex(isAssistantMessage);
	const sent = counted.slice(0, Math.max(0, answered)).flatMap((message) => piecesOf(message, tools));
	const sentTokens = sum(sent.map(({ tokens }) => tokens));
	// The journal does not contain the descriptions of tools, and the instructions only if a function returned them. Tokens
	// that the provider counts in addition are attributed to them.
	const head = last === undefined ? 0 : Math.max(0, last.inputTokens - sentTokens);
	const all = [...headOf(head, system), ...pieces];
	const sections = new Map<string, Section>();
	let cached = last?.cachedTokens ?? 0;
	for (const { name, tokens } of all) {
		const section = sections.get(name) ?? { name, tokens: 0, cached: 0 };
		const read = Math.min(tokens, cached);
		section.tokens += tokens;
		section.cached += read;
		cached -= read;
		sections.set(name, section);
	}
	const found = [...sections.values()].filter(({ tokens }) => tokens > 0);
	const tokens = sum(found.map((section) => section.tokens));
	return { tokens, sections: found, cache, advice: adviceFor(found, tokens, cache) };
}

interface Piece {
	readonly name: string;
	readonly tokens: number;
}

/** Returns what precedes the history. */
function headOf(tokens: number, system: string | undefined): readonly Piece[] {
	if (system === undefined) return [{ name: "instructions and tools", tokens }];
	const own = Math.min(tokens, estimated(system));
	return [
		{ name: "instructions", tokens: own },
		{ name: "tools", tokens: tokens - own },
	];
}

/** The names of the tools that made the calls, by the calls' ids. */
type ToolNames = ReadonlyMap<string, string>;

function toolNamesOf(messages: readonly AnyMessage[]): ToolNames {
	const calls = messages.flatMap((message) => (isAssistantMessage(message) ? (message.toolCalls ?? []) : []));
	return new Map(calls.map(({ toolCallId, toolName }) => [toolCallId, toolName]));
}

/** The tools of `skills()` in @holdfast/context. */
const ofSkills: ReadonlySet<string> = new Set(["load_skill", "read_skill_file"]);

function piecesOf(message: AnyMessage, tools: ToolNames): readonly Piece[] {
	if (isToolResultMessage(message))
		return message.results.map((result) => ({
			name: ofSkills.has(tools.get(result.toolCallId) ?? "") ? "skills" : "results of tools",
			tokens: estimated(result),
		}));
	if (!isAssistantMessage(message)) {
		const isPinned = message.metadata?.holdfast?.pinned === true;
		return [{ name: isPinned ? "pinned messages" : "your messages", tokens: estimated(message.content) }];
	}
	const { content, toolCalls = [] } = message as AssistantMessage;
	return [
		...(content.length === 0 ? [] : [{ name: "answers", tokens: estimated(content) }]),
		...toolCalls.map((call) => ({
			name: "calls of tools",
			tokens: estimated([call.toolName, call.arguments]),
		})),
	];
}

/** Providers count an image by its size in pixels, not by its bytes; this is a usual number. */
const IMAGE_TOKENS = 1_500;

function estimated(value: unknown): number {
	let images = 0;
	const text = JSON.stringify(value, (_, each) => {
		if (each?.type !== "image" || each.source === undefined) return each;
		images++;
		return null;
	});
	return Math.ceil(text.length / 4) + images * IMAGE_TOKENS;
}

function sum(numbers: readonly number[]): number {
	return numbers.reduce((before, each) => before + each, 0);
}

const causes: Readonly<Record<CacheBreakReason, string>> = {
	model: "The model changed. Each model has its own cache, so change it only when a conversation begins.",
	instructions:
		"The instructions changed. Move what changes, such as the time, from the instructions to the input.",
	tools: "The tools changed. Give a session the same tools in the same order, and add new ones at the end.",
	agent: "The agent changed.",
	edited: "Earlier messages were edited, deleted or replaced.",
	files: "The provider refused files, which are no longer shown.",
	view: "Middleware or a plugin showed another history. Prefer a few large cuts to many small ones.",
};

/** A section with more than this share deserves attention. */
const large = 0.5;

/** By section. */
const remedies: Readonly<Record<string, string>> = {
	tools:
		"Descriptions of tools fill more than half of the context. Give the agent fewer tools, or load them with searchable().",
	instructions:
		"Instructions fill more than half of the context. Move details into skills, which are loaded on demand.",
	skills:
		"Skills fill more than half of the context. Move details from SKILL.md into files that it refers to.",
	"pinned messages":
		"Pinned messages fill more than half of the context. Pin only what must never be summarised.",
};

function adviceFor(sections: readonly Section[], tokens: number, cache: CacheReport): string[] {
	const advice: string[] = [];
	const isLarge = (name: string): boolean =>
		(sections.find((section) => section.name === name)?.tokens ?? 0) > large * tokens;
	if (isLarge("results of tools"))
		advice.push(
			"Tool results fill more than half of the context. Return less from the tools, or add the middleware pruneToolOutputs().",
		);
	if (isLarge("instructions and tools") && tokens > 10_000)
		advice.push("Instructions and tools fill more than half of the context. Give the agent fewer tools.");
	for (const [name, what] of Object.entries(remedies)) if (isLarge(name) && tokens > 5_000) advice.push(what);
	const counts = new Map<CacheBreakReason, number>();
	for (const { cacheBreak } of cache.calls)
		for (const reason of cacheBreak?.reasons ?? []) counts.set(reason, (counts.get(reason) ?? 0) + 1);
	for (const [reason, count] of counts) advice.push(`${causes[reason]} (${formatCount(count)}×)`);
	if (cache.calls.length > 2 && cache.cachedTokens === 0)
		advice.push(
			"The provider reported no cached tokens. Prompts below its minimum are not cached, and some providers do not report them.",
		);
	return advice;
}

/** Formats the sections, the cache and the advice. */
export function contextLines({ tokens, sections, cache, advice }: Context): string[] {
	const share = (part: number, of: number): string => (of === 0 ? "–" : `${Math.round((100 * part) / of)} %`);
	const rows = sections.map((section) => [
		section.name,
		`about ${formatCount(section.tokens)}`,
		share(section.tokens, tokens),
		share(section.cached, section.tokens),
	]);
	const total = [
		"in all",
		`about ${formatCount(tokens)}`,
		"",
		share(sum(sections.map((each) => each.cached)), tokens),
	];
	const { calls, inputTokens, cachedTokens } = cache;
	return [
		...aligned([["section", "tokens", "share", "cached"], ...rows, total]),
		"",
		inputTokens === 0
			? `${formatCount(calls.length)} model calls. The provider counted no tokens.`
			: `${formatCount(calls.length)} model calls read ${formatCount(inputTokens)} tokens, ${share(cachedTokens, inputTokens)} of them from the prompt cache.`,
		...advice.map((line) => `- ${line}`),
	];
}

/** Formats rows in columns: the first is aligned left, the others right. */
function aligned(rows: readonly (readonly string[])[]): string[] {
	const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
	return rows.map((row) =>
		row
			.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart((widths[at] ?? 0) + 2)))
			.join("")
			.trimEnd(),
	);
}
