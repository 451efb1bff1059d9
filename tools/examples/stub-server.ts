// Replaces an agent server while an example runs: the wire protocol at https://agents.example, and one model that calls
// the first tool of the session once and then answers. It only stores what the example itself did.

interface StubEvent {
	readonly id: string;
	readonly event: { readonly type: string };
}

interface StubSession {
	status: string;
	readonly messages: object[];
	readonly log: StubEvent[];
	readonly tools: readonly { readonly name: string }[];
	pending: readonly { readonly id: string }[];
}

const origin = "https://agents.example";
const sessions = new Map<string, StubSession>();
const usage = { inputTokens: 12, outputTokens: 8, totalTokens: 20, cost: 0.001 };

/** Returns the stub's answer, or undefined if the address is not the stub's. */
export function answerAsServer(address: string, init: RequestInit | undefined): Response | undefined {
	if (!address.startsWith(`${origin}/api/agent/`)) return undefined;
	const { pathname, searchParams } = new URL(address);
	if (pathname === "/api/agent/execute") return execute(JSON.parse(String(init?.body)));
	if (pathname === "/api/agent/sessions") {
		const times = { createdAt: 0, updatedAt: 0 };
		const list = [...sessions].map(([sessionId, { status }]) => ({
			sessionId,
			...times,
			isOpen: status === "awaiting_tool_execution",
		}));
		return Response.json({ sessions: list });
	}
	const [, id = "", rest] = /^\/api\/agent\/session\/([^/]+)(\/\w+)?$/.exec(pathname) ?? [];
	const session = sessions.get(decodeURIComponent(id)) ?? open(decodeURIComponent(id), []);
	if (rest === "/stop") return Response.json({ stopped: false });
	if (rest === "/events") {
		const after = new Headers(init?.headers).get("last-event-id");
		const from = session.log.findIndex((logged) => logged.id === after) + 1;
		return stream(id, session.log.slice(from), searchParams.get("follow") === "1");
	}
	const { status, messages, pending, log } = session;
	return Response.json({
		sessionId: id,
		status,
		messages,
		pendingToolCalls: pending,
		totalCost: 0.001,
		lastEventId: log.at(-1)?.id,
	});
}

function open(id: string, tools: StubSession["tools"]): StubSession {
	const session: StubSession = { status: "idle", messages: [], log: [], tools, pending: [] };
	sessions.set(id, session);
	return session;
}

interface ExecuteBody {
	readonly sessionId?: string;
	readonly input: object | readonly object[];
	readonly context?: { readonly tools?: StubSession["tools"] };
}

function execute({ sessionId = `session-${sessions.size + 1}`, input, context }: ExecuteBody): Response {
	const session = sessions.get(sessionId) ?? open(sessionId, context?.tools ?? []);
	const from = session.log.length;
	const emit = (type: string, members: object = {}): void => {
		session.log.push({ id: `${session.log.length + 1}.0.0`, event: { type, ...members } });
	};
	const add = (role: string, message: object): void => {
		emit("message_start", { role });
		session.messages.push({ role, ...message });
		emit("message_end", { message: { role, ...message } });
	};
	emit("session_start", { sessionId });
	const answers = Array.isArray(input) ? input : undefined;
	if (answers === undefined) add("user", input);
	for (const answer of answers ?? [])
		add("tool", { ...answer, toolName: session.tools[0]?.name, timestamp: 0 });
	const tool = answers === undefined ? session.tools[0] : undefined;
	const call = { id: "call-1", name: tool?.name, arguments: { city: "Oslo", amount: 1 } };
	const content =
		tool === undefined ? [{ type: "text", text: "An answer." }] : [{ type: "toolCall", ...call }];
	if (tool === undefined) emit("text_delta", { delta: "An answer." });
	const stopReason = tool === undefined ? "stop" : "tool_calls";
	add("assistant", { id: "message-1", content, model: "stub", stopReason, usage, timestamp: 0 });
	session.pending = tool === undefined ? [] : [call];
	session.status = tool === undefined ? "completed" : "awaiting_tool_execution";
	emit("execute_complete", { status: session.status, pendingToolCalls: session.pending });
	return stream(sessionId, session.log.slice(from), false);
}

function stream(sessionId: string, events: readonly StubEvent[], staysOpen: boolean): Response {
	const body = new ReadableStream<Uint8Array>({
		start(controller) {
			const records = events.map(({ id, event }) => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
			controller.enqueue(new TextEncoder().encode(records.join("")));
			if (!staysOpen) controller.close();
		},
	});
	return new Response(body, { headers: { "content-type": "text/event-stream", "x-session-id": sessionId } });
}
