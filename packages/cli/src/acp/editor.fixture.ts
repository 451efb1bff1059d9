/** An editor for tests: the protocol's own client over a real process of `holdfast acp`. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
	type ClientConnection,
	type ContentBlock,
	client,
	type McpServer,
	ndJsonStream,
	PROTOCOL_VERSION,
	type RequestPermissionOutcome,
	type RequestPermissionRequest,
	type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";

const program = join(import.meta.dirname, "../../bin/holdfast.js");
const agentFile = join(import.meta.dirname, "editor-agent.fixture.ts");

type Answer =
	| "allow_once"
	| "allow_always"
	| "reject_once"
	| "made_up"
	| { readonly reject: string }
	| undefined;

export class Editor {
	readonly updates: SessionUpdate[] = [];
	readonly asked: RequestPermissionRequest[] = [];
	/** What it answers to the next requests for permission; without an answer it never answers. */
	readonly answers: Answer[] = [];
	readonly child: ChildProcess;
	readonly connection: ClientConnection;
	stderr = "";

	constructor(folder: string, argv: readonly string[], environment: Record<string, string> = {}) {
		const child = spawn(process.execPath, ["--conditions=holdfast-source", program, "acp", ...argv], {
			cwd: folder,
			env: { ...process.env, HOLDFAST_MODEL: "offline", ...environment },
		});
		this.child = child;
		child.stderr.on("data", (data) => (this.stderr += String(data)));
		this.connection = client({ name: "editor" })
			.onNotification("session/update", ({ params }) => void this.updates.push(params.update))
			.onRequest("session/request_permission", ({ params }) => {
				this.asked.push(params);
				const answer = this.answers.shift();
				if (answer === undefined) return new Promise(() => {});
				return { outcome: outcomeOf(answer) };
			})
			.connect(
				ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>),
			);
		onTestFinished(() => this.kill());
	}

	get agent(): ClientConnection["agent"] {
		return this.connection.agent;
	}

	async initialize() {
		return this.agent.request("initialize", { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
	}

	async create(cwd: string, mcpServers: McpServer[] = []): Promise<string> {
		return (await this.agent.request("session/new", { cwd, mcpServers })).sessionId;
	}

	async prompt(sessionId: string, text: string): Promise<string> {
		const prompt: ContentBlock[] = [{ type: "text", text }];
		return (await this.agent.request("session/prompt", { sessionId, prompt })).stopReason;
	}

	load(sessionId: string, cwd: string) {
		return this.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
	}

	text(kind: "agent_message_chunk" | "user_message_chunk" | "agent_thought_chunk" = "agent_message_chunk") {
		return this.updates
			.map((update) =>
				update.sessionUpdate === kind && update.content.type === "text" ? update.content.text : "",
			)
			.join("");
	}

	statuses(): readonly unknown[] {
		return this.updates.flatMap((update) =>
			update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update"
				? [update.status]
				: [],
		);
	}

	/** The updates of a kind. */
	of<Kind extends SessionUpdate["sessionUpdate"]>(
		kind: Kind,
	): readonly Extract<SessionUpdate, { readonly sessionUpdate: Kind }>[] {
		return this.updates.filter(
			(update): update is Extract<SessionUpdate, { readonly sessionUpdate: Kind }> =>
				update.sessionUpdate === kind,
		);
	}

	/** What the editor shows of a call: the last value of each field. */
	call(name: string) {
		const shown = new Map<string, Record<string, unknown>>();
		for (const update of this.updates)
			if ("toolCallId" in update)
				shown.set(update.toolCallId, { ...shown.get(update.toolCallId), ...update });
		return [...shown.values()].findLast((call) => call.name === name);
	}

	async kill(): Promise<void> {
		if (this.child.exitCode !== null || this.child.signalCode !== null) return;
		const exit = once(this.child, "exit");
		this.child.kill("SIGKILL");
		await exit;
	}

	/** Closes the input, as an editor that ends does; returns the exit code. */
	async leave(): Promise<number | null> {
		const exit = once(this.child, "exit");
		this.connection.close();
		this.child.stdin?.end();
		await exit;
		return this.child.exitCode;
	}
}

/** A folder, and how editors are started in it. */
export function place() {
	const folder = temporaryFolder();
	const booked = join(folder, "booked");
	const slow = join(folder, "go on");
	const open = async (): Promise<Editor> => {
		const editor = new Editor(folder, ["--agent", agentFile], { BOOKED: booked, SLOW: slow });
		await editor.initialize();
		return editor;
	};
	const bookings = (): string => (existsSync(booked) ? readFileSync(booked, "utf8") : "");
	return { folder, slow, open, bookings };
}

function outcomeOf(answer: NonNullable<Answer>): RequestPermissionOutcome {
	if (typeof answer === "string") return { outcome: "selected", optionId: answer };
	return { outcome: "selected", optionId: "reject_once", _meta: { reason: answer.reject } };
}
