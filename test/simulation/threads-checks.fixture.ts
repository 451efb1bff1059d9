// What must hold of the threads of a world when it has come to rest, and what they came to, for comparison.
import type { Message, ThreadState, Threads } from "@holdfast/threads";
import type { Entry, Fact } from "holdfast/host";
import { bytesOf, checked, heard } from "./threads-project.fixture.ts";

/** What somebody said to a thread. */
export interface Saying {
	readonly threadId: string;
	/** The process that took it. */
	readonly by: string;
	readonly text: string;
	accepted: boolean;
	/** What the process had accepted before. */
	readonly after: readonly string[];
}

/** What tools and effects did, and how often, by thread and subject. */
export type Deeds = Readonly<Record<"note" | "save" | "effect", Map<string, number>>>;

/** A world at rest. */
export interface CheckedWorld {
	readonly threadIds: readonly string[];
	/** The threads as somebody sees them who only looks on. */
	readonly seen: Threads;
	readonly deeds: Deeds;
	readonly sayings: readonly Saying[];
	/** How many processes died. */
	readonly kills: number;
	/** The entries of a session. */
	entries(key: string): readonly Entry[];
}

/** A call, and what came of it. */
interface Call {
	readonly id: string;
	readonly name: string;
	readonly subject: string;
	readonly isDone: boolean;
	readonly text: string;
}

const interruptedText = /^The call was interrupted/;
/** What a call of a sub-agent comes to whose process died again and again. */
const parkedText = /^Run \S+ of session \S+ is parked: its process died \d+ times/;

/** The first thing that does not hold; undefined when all does. */
export async function checkThreads(world: CheckedWorld): Promise<string | undefined> {
	for (const [what, counts] of Object.entries(world.deeds))
		for (const [subject, times] of counts)
			if (times > 1) return `${what} of ${subject} was done ${times} times`;
	for (const id of world.threadIds) {
		const state = await world.seen.get(id);
		if (state === null) return `there is no ${id}`;
		const problem = (await wrongThread(world, state)) ?? (await wrongSayings(world, state));
		if (problem !== undefined) return `${id}: ${problem}`;
	}
	return undefined;
}

async function messagesOf(state: ThreadState): Promise<readonly Message[]> {
	const { messages } = await state.getMessages({ limit: 10_000, includeSilent: true });
	return messages;
}

async function wrongThread(world: CheckedWorld, state: ThreadState): Promise<string | undefined> {
	const { threadId } = state;
	const entries = world.entries(threadId);
	const messages = await messagesOf(state);
	const wrong = wrongEntries(entries) ?? wrongMarks(messages);
	if (wrong !== undefined) return wrong;
	if ((await state.getValue("born")) !== true) return "the hook of its making was not called";
	const calls = callsOf(entries, messages);
	for (const call of calls) {
		const problem = await wrongCall(world, state, call);
		if (problem !== undefined) return `${call.name} of ${call.subject}: ${problem}`;
	}
	if (calls.some(({ name, isDone }) => name === "closer" && isDone) && state.agentId !== "closer")
		return "nobody has taken over";
	const effects = await world.seen.effects(threadId).all();
	const expected = calls.filter(({ name, isDone }) => name === "later" && isDone).length;
	const unknown = calls.filter(({ name, isDone }) => name === "later" && !isDone).length;
	if (effects.length < expected || effects.length > expected + unknown)
		return `${effects.length} effects are known, and ${expected} were scheduled`;
	return (await wrongChildren(world, state, calls, messages)) ?? undefined;
}

/** Each run has one start and one end, each call one result, and nothing is numbered twice. */
function wrongEntries(entries: readonly Entry[]): string | undefined {
	if (entries.some(({ seq }, at) => seq !== at + 1)) return "entries are missing";
	for (const runId of new Set(entries.map((entry) => entry.runId))) {
		const kinds = entries
			.filter((entry) => entry.runId === runId && isOfRun(entry.fact))
			.map(({ fact }) => fact.kind);
		if (kinds.length === 0) continue;
		if (kinds.filter((kind) => kind === "run.started").length !== 1 || kinds.at(-1) !== "run.ended")
			return `the run ${runId} is ${kinds.join()}`;
	}
	const settled = entries.flatMap(({ fact }) => (fact.kind === "tool.settled" ? [fact.callId] : []));
	if (new Set(settled).size !== settled.length) return "a call has two results";
	const asked = entries.flatMap(({ fact }) =>
		fact.kind === "assistant" ? (fact.message.toolCalls ?? []).map(({ toolCallId }) => toolCallId) : [],
	);
	const open = asked.find((id) => !settled.includes(id));
	return open === undefined ? undefined : `the call ${open} has no result`;
}

const isOfRun = ({ kind }: Fact): boolean => !kind.startsWith("message.");

/** What hooks do is done once to each message and result. */
function wrongMarks(messages: readonly Message[]): string | undefined {
	const count = (text: string, mark: string): number => text.split(mark).length - 1;
	for (const { role, content } of messages) {
		const text = content ?? "";
		if (role === "assistant" && text !== "" && text !== `Done.${heard}`)
			return `it says ${JSON.stringify(text)}`;
		if (role === "user" && text.startsWith("said") && count(text, heard) !== 1) return `a hook heard ${text}`;
		if (role === "tool" && !interruptedText.test(text) && count(text, checked) !== 1)
			return `a hook checked ${text}`;
	}
	return undefined;
}

function callsOf(entries: readonly Entry[], messages: readonly Message[]): readonly Call[] {
	return entries.flatMap(({ fact }) => {
		if (fact.kind !== "assistant") return [];
		return (fact.message.toolCalls ?? []).map(({ toolCallId: id, toolName: name, arguments: args }): Call => {
			const { subject, task, message } = args as Record<string, string | undefined>;
			const row = messages.find(({ tool_call_id }) => tool_call_id === id);
			const text = row?.content ?? "";
			const about = (subject ?? task ?? message ?? "").replace(/^(?:Task|More) /, "");
			return { id, name, subject: about, isDone: row?.status === "completed", text };
		});
	});
}

async function wrongCall(world: CheckedWorld, state: ThreadState, call: Call): Promise<string | undefined> {
	const { name, subject, isDone, text } = call;
	const key = `${state.threadId} ${subject}`;
	if (!isDone) {
		if (name === "digger" && parkedText.test(text)) {
			const isParked = state.children.some(({ reference }) => wasParked(world, reference));
			return isParked ? undefined : "no sub-agent of it was parked";
		}
		if (!interruptedText.test(text)) return `it came to ${text}`;
		if (world.kills === 0) return "it was interrupted, and nobody died";
		if (!["note", "save", "later"].includes(name)) return "work for a sub-agent was not continued";
		return undefined;
	}
	if (name === "note") {
		if (world.deeds.note.get(key) !== 1) return "it has a result and was not done";
		if ((await state.getValue(`note ${subject}`)) !== subject) return "its value is lost";
	}
	if (name === "save") {
		const path = `/found/${subject}.txt`;
		const bytes = await state.readFile(path);
		if (bytes === null || Buffer.from(bytes).toString() !== bytesOf(subject)) return "its file is lost";
		if ((await state.statFile(path))?.mimeType !== "text/x-found") return "its file is not described";
	}
	if (name === "digger" && text !== `Done.${heard}${checked}`) return `it came to ${text}`;
	if (name === "later") {
		const found = (await world.seen.effects(state.threadId).all()).filter(
			({ args }) => args?.subject === subject,
		);
		const [effect] = found;
		if (effect === undefined || found.length > 1) return `${found.length} effects are known of it`;
		const times = world.deeds.effect.get(key) ?? 0;
		if (effect.status === "completed") {
			if (times !== 1) return "its effect counts as completed and never was";
			if ((await state.getValue(`effect ${subject}`)) !== subject) return "the value of its effect is lost";
		} else if (effect.status !== "failed" || world.kills === 0) return `its effect is ${effect.status}`;
	}
	return undefined;
}

/** One child for each call that makes one, given its task once, and heard of once. */
async function wrongChildren(
	world: CheckedWorld,
	state: ThreadState,
	calls: readonly Call[],
	messages: readonly Message[],
): Promise<string | undefined> {
	const making = calls.filter(({ name }) => ["digger", "scout", "subagent_create"].includes(name));
	if (state.children.length !== making.length)
		return `${making.length} calls made ${state.children.length} sub-agents`;
	for (const { reference, name } of state.children) {
		const child = await state.getChildThread(reference);
		if (child === null) return `the sub-agent ${reference} is lost`;
		if ((await state.getValue(`child ${reference}`)) !== true)
			return `no hook heard of the sub-agent ${reference}`;
		const own = await messagesOf(child);
		const sent = own.filter(({ role }) => role === "user").map(({ content }) => content ?? "");
		const task = sent[0]?.replace("Task ", "") ?? "";
		const about = making.find(({ subject }) => subject === task);
		if (about === undefined) return `nobody asked for the sub-agent of ${task}`;
		const more = name === "helper" ? calls.filter((each) => isFor(each, calls, about)) : [];
		if (sent.length !== 1 + more.length) return `the sub-agent of ${task} was sent ${sent.join()}`;
		const runs = world.entries(reference).filter(({ fact }) => fact.kind === "run.started").length;
		if (runs !== sent.length) return `the sub-agent of ${task} ran ${runs} times for ${sent.length} messages`;
		const reports = messages.filter(({ metadata }) => metadata?.subagent === reference).length;
		if (reports !== (name === "scout" ? 1 : 0)) return `the sub-agent of ${task} reported ${reports} times`;
		const problem = await wrongThread(world, child);
		if (problem !== undefined) return `the sub-agent of ${task}: ${problem}`;
	}
	return undefined;
}

/** Messages are for the sub-agent that was made first. */
function isFor({ name }: Call, calls: readonly Call[], about: Call): boolean {
	return name === "subagent_message" && calls.find((each) => each.name === "subagent_create") === about;
}

/** Whether somebody had to release a run of the thread. */
function wasParked(world: CheckedWorld, threadId: string): boolean {
	return world.entries(threadId).some(({ fact }) => fact.kind === "run.parked");
}

/** What was accepted is there once, after what was accepted before it; the rest at most once. */
async function wrongSayings(world: CheckedWorld, state: ThreadState): Promise<string | undefined> {
	const texts = (await messagesOf(state)).flatMap(({ role, content }) =>
		role === "user" ? [(content ?? "").replace(heard, "")] : [],
	);
	// What was said while somebody had to release the run may be passed by what was said after that.
	const mayPass = wasParked(world, state.threadId);
	for (const { threadId, text, accepted, after } of world.sayings) {
		if (threadId !== state.threadId) continue;
		const times = texts.filter((each) => each === text).length;
		if (times > 1 || (accepted && times === 0)) return `"${text}" is there ${times} times`;
		const early = mayPass
			? undefined
			: after.find((each) => times === 1 && texts.indexOf(each) > texts.indexOf(text));
		if (early !== undefined) return `"${text}" came before "${early}"`;
	}
	return undefined;
}

/** What a thread and its sub-agents have come to, without what depends on when things were said. */
export async function threadOutcome(world: CheckedWorld, threadId: string): Promise<readonly string[]> {
	const state = (await world.seen.get(threadId)) as ThreadState;
	const messages = await messagesOf(state);
	const own = messages.flatMap(({ role, content, tool_call_id }) => {
		if (role !== "tool") return [];
		const given = content ?? "";
		const text = interruptedText.test(given) || parkedText.test(given) ? "interrupted" : given;
		return [`${tool_call_id}: ${text.replace(/"reference":"[^"]+"/, "")}`];
	});
	const children = await Promise.all(
		state.children.map(async ({ reference }) => {
			const child = await state.getChildThread(reference);
			const [task] = child === null ? [] : await messagesOf(child);
			return { task: task?.content ?? "", lines: await threadOutcome(world, reference) };
		}),
	);
	const sorted = children.sort((one, other) => (one.task < other.task ? -1 : 1));
	return [
		`${state.agentId}`,
		...own,
		...sorted.flatMap(({ task, lines }) => [task, ...lines.map((line) => `  ${line}`)]),
	];
}

/** How an outcome differs from that of the thread left alone, but for calls that were interrupted; undefined when it does not. */
export function differsFrom(alone: readonly string[], found: readonly string[]): string | undefined {
	const isSame = (line: string, own = ""): boolean =>
		own === line || (own.endsWith(": interrupted") && own.split(": ")[0] === line.split(": ")[0]);
	const at = alone.findIndex((line, index) => !isSame(line, found[index]));
	if (at < 0 && alone.length === found.length) return undefined;
	return `it differs from the one left alone: ${found.at(at)} in place of ${alone.at(at)}`;
}
