// The current tools of one server, next to their approved definitions.
import { HoldfastError } from "@holdfast/upp";
import type { Tool } from "@modelcontextprotocol/client";
import { fingerprintOf, type ToolApprovals } from "./tool-approvals.ts";

/** A tool whose definition waits for approval. */
export interface UnapprovedTool {
	/** Name of the server. */
	readonly server: string;
	/** Its name on the server. */
	readonly name: string;
	/** `new`: not approved yet. `changed`: differs from the approved definition. */
	readonly why: "new" | "changed";
	/** The server's description. */
	readonly description: string;
	/** The server's schema of the arguments. */
	readonly parameters: Readonly<Record<string, unknown>>;
}

interface Offered {
	readonly tool: Tool;
	readonly fingerprint: string;
}

export class OfferedTools {
	readonly #server: string;
	readonly #approvals: ToolApprovals;
	readonly #approve: "first-seen" | "explicit";
	readonly #only: ReadonlySet<string> | undefined;
	#offered: ReadonlyMap<string, Offered> = new Map();
	#approved: Readonly<Record<string, string>> = {};

	constructor(
		server: string,
		approvals: ToolApprovals,
		approve: "first-seen" | "explicit",
		only: readonly string[] | undefined,
	) {
		this.#server = server;
		this.#approvals = approvals;
		this.#approve = approve;
		this.#only = only === undefined ? undefined : new Set(only);
	}

	/** Accepts a new list. Returns whether anything changed. */
	async list(tools: readonly Tool[]): Promise<boolean> {
		const offered = new Map<string, Offered>();
		for (const tool of tools) {
			if (this.#only?.has(tool.name) === false || offered.has(tool.name)) continue;
			offered.set(tool.name, { tool, fingerprint: fingerprintOf(tool) });
		}
		const approved = { ...(await this.#approvals.read(this.#server)) };
		const unseen = [...offered].filter(([name]) => !Object.hasOwn(approved, name));
		if (this.#approve === "first-seen" && unseen.length > 0) {
			for (const [name, { fingerprint }] of unseen) approved[name] = fingerprint;
			await this.#approvals.write(this.#server, approved);
		}
		const before = this.#offered;
		this.#offered = offered;
		this.#approved = approved;
		return (
			before.size !== offered.size ||
			[...offered].some(([name, { fingerprint }]) => before.get(name)?.fingerprint !== fingerprint)
		);
	}

	/** Returns the tools that may be called. */
	approved(): readonly Tool[] {
		return [...this.#offered.values()].filter((each) => this.#isApproved(each)).map(({ tool }) => tool);
	}

	unapproved(): readonly UnapprovedTool[] {
		return [...this.#offered.values()]
			.filter((each) => !this.#isApproved(each))
			.map(({ tool: { name, description = "", inputSchema } }) => ({
				server: this.#server,
				name,
				why: Object.hasOwn(this.#approved, name) ? "changed" : "new",
				description,
				parameters: inputSchema,
			}));
	}

	/** Returns the tool if it may be called now. @throws HoldfastError `mcp_tool_gone`, `mcp_tool_not_approved`. */
	callable(name: string): Tool {
		const offered = this.#offered.get(name);
		const data = { server: this.#server, tool: name };
		if (offered === undefined) {
			throw new HoldfastError(
				"mcp_tool_gone",
				`The MCP server "${this.#server}" no longer offers "${name}". Use another tool.`,
				{ data },
			);
		}
		if (this.#isApproved(offered)) return offered.tool;
		throw new HoldfastError(
			"mcp_tool_not_approved",
			`The MCP server "${this.#server}" has changed "${name}" since it was approved. ` +
				"It cannot be called until you review and approve it again.",
			{ data },
		);
	}

	/** Approves a tool's current definition. @throws HoldfastError `mcp_tool_gone`. */
	async approve(name: string): Promise<void> {
		const offered = this.#offered.get(name);
		if (offered === undefined) {
			this.callable(name);
			return;
		}
		const { fingerprint } = offered;
		this.#approved = { ...this.#approved, [name]: fingerprint };
		await this.#approvals.write(this.#server, {
			...(await this.#approvals.read(this.#server)),
			[name]: fingerprint,
		});
	}

	#isApproved({ tool, fingerprint }: Offered): boolean {
		return Object.hasOwn(this.#approved, tool.name) && this.#approved[tool.name] === fingerprint;
	}
}
