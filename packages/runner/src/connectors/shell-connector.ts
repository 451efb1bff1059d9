// The connector for programs: an argument list instead of a shell, confined to a folder, with a listed environment. When
// a call ends, every process that it started has ended.
import { realpathSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { checkOptions, HoldfastError, optionNames, startTimer } from "@holdfast/upp";
import type { ToolOutput } from "../contract/index.ts";
import {
	type Connector,
	configInvalid,
	connector,
	duration,
	failed,
	inputInvalid,
	limit,
} from "./connector.ts";
import { type ProcessGroup, startGroup } from "./process-group.ts";

const shellConnectorNames = optionNames<ShellConnectorOptions>({
	root: true,
	id: "text",
	timeoutMs: true,
	maxOutputBytes: true,
	env: "list",
	variables: "object",
});

/** Options of `shellConnector()`. */
export interface ShellConnectorOptions {
	/** The folder in which programs run; the `cwd` of a call cannot leave it. */
	readonly root: string;
	/** Default: `shell`. */
	readonly id?: string;
	/** In milliseconds. Default: 30000. */
	readonly timeoutMs?: number;
	/** Maximum size of both outputs together, in bytes. Default: 1048576. */
	readonly maxOutputBytes?: number;
	/** Names of variables that a program receives from this process. Default: PATH and LANG. */
	readonly env?: readonly string[];
	/** Additional variables for a program. Default: none. */
	readonly variables?: Readonly<Record<string, string>>;
}

interface ShellInput {
	readonly argv: readonly string[];
	readonly cwd?: string;
}

/**
 * A tool that runs a program; it requires the agent's `allowShell` and a system with process groups. Its output is `{
 * exitCode, signal, stdout, stderr }`.
 *
 * Error codes: `SHELL_EXIT`, `SHELL_NOT_STARTED`, `SHELL_TIMEOUT`, `OUTPUT_LIMIT`, `CWD_REFUSED`, `TOOL_INPUT_INVALID`.
 * @throws HoldfastError `CONFIG_INVALID`.
 */
export function shellConnector(options: ShellConnectorOptions): Connector {
	checkOptions(options, shellConnectorNames, { of: "shellConnector()" });
	const { id = "shell", env: names = ["PATH", "LANG"], variables = {} } = options;
	const timeoutMs = duration("timeoutMs", options.timeoutMs, 30_000);
	const maxOutputBytes = limit("maxOutputBytes", options.maxOutputBytes, 1_048_576);
	const root = readRoot(options.root);
	return connector({
		id,
		description: "Runs a program with its arguments, without a shell, and returns its exit code and output.",
		safeByDefault: false,
		requires: "shell",
		// The program's time limit expires before this one, which leaves it time to end.
		timeoutMs: timeoutMs + 6_000,
		schema: {
			type: "object",
			properties: {
				argv: {
					type: "array",
					items: { type: "string" },
					minItems: 1,
					description: "The program and its arguments.",
				},
				cwd: { type: "string", description: "A folder, relative to the root. Default: the root." },
			},
			required: ["argv"],
			additionalProperties: false,
		},
		async carryOut({ argv, cwd = "." }: ShellInput, { signal }): Promise<ToolOutput> {
			if (argv[0] === "" || argv.some((argument) => argument.includes("\0")))
				throw inputInvalid("The program has no name, or an argument contains a NUL character.");
			const folder = await folderInside(root, cwd);
			signal.throwIfAborted();
			const given = names.map((name) => [name, process.env[name]] as const);
			const env = Object.fromEntries(
				given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
			);
			const output = new CappedOutput(maxOutputBytes);
			const group = startGroup({
				argv,
				cwd: folder,
				env: { ...env, ...variables },
				onOutput: (stream, chunk) => output.add(stream, chunk),
			});
			try {
				await group.started;
			} catch (error) {
				return failed("SHELL_NOT_STARTED", `The program could not be started: ${(error as Error).message}.`);
			}
			const why = await untilOver(group, output, { signal, timeoutMs });
			await group.end();
			const { exitCode, signal: endedBy } = await group.exited;
			const result = { exitCode, signal: endedBy, ...output.read() };
			if (why === "timeout")
				return failed("SHELL_TIMEOUT", `The program took longer than ${timeoutMs} ms.`, { output: result });
			if (why === "abort") return failed("ABORTED", "The call was aborted.", { output: result });
			if (output.isOver)
				return failed("OUTPUT_LIMIT", `The program wrote more than ${maxOutputBytes} bytes.`, {
					output: result,
					truncated: true,
				});
			if (exitCode === 0) return { ok: true, output: result };
			const ended = exitCode === null ? `was ended by ${endedBy}` : `ended with ${exitCode}`;
			return failed("SHELL_EXIT", `The program ${ended}.`, { output: result });
		},
	});
}

function untilOver(
	group: ProcessGroup,
	output: CappedOutput,
	{ signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<"exit" | "timeout" | "abort" | "output"> {
	return new Promise((settle) => {
		const over = (why: "exit" | "timeout" | "abort" | "output"): void => {
			callOff();
			signal.removeEventListener("abort", abort);
			settle(why);
		};
		const abort = (): void => over("abort");
		const callOff = startTimer(timeoutMs, () => over("timeout"));
		signal.addEventListener("abort", abort, { once: true });
		if (signal.aborted) abort();
		output.whenOver(() => over("output"));
		void group.exited.then(() => over("exit"));
	});
}

/** Keeps the first bytes of both outputs and drops the rest as it arrives. */
class CappedOutput {
	readonly #most: number;
	readonly #chunks: { readonly stdout: Buffer[]; readonly stderr: Buffer[] } = { stdout: [], stderr: [] };
	#size = 0;
	#over: (() => void) | undefined;
	isOver = false;

	constructor(most: number) {
		this.#most = most;
	}

	whenOver(call: () => void): void {
		this.#over = call;
		if (this.isOver) call();
	}

	add(stream: "stdout" | "stderr", chunk: Buffer): void {
		const room = this.#most - this.#size;
		const kept = chunk.subarray(0, room);
		if (kept.length > 0) this.#chunks[stream].push(kept);
		this.#size += kept.length;
		if (kept.length === chunk.length || this.isOver) return;
		this.isOver = true;
		this.#over?.();
	}

	read(): { readonly stdout: string; readonly stderr: string } {
		const text = (chunks: readonly Buffer[]): string =>
			new TextDecoder().decode(Buffer.concat(chunks), { stream: this.isOver });
		return { stdout: text(this.#chunks.stdout), stderr: text(this.#chunks.stderr) };
	}
}

function readRoot(given: unknown): string {
	if (process.platform === "win32") throw configInvalid("this system has no process groups");
	if (typeof given !== "string" || given === "") throw configInvalid("`root` is not a path");
	try {
		const root = realpathSync(given);
		if (statSync(root).isDirectory()) return root;
	} catch {}
	throw configInvalid(`\`root\` is not a folder: ${given}`);
}

async function folderInside(root: string, cwd: string): Promise<string> {
	let folder: string | undefined;
	try {
		folder = await realpath(resolve(root, cwd));
	} catch {}
	const path = folder === undefined ? ".." : relative(root, folder);
	const isOutside = path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
	if (folder !== undefined && !isOutside && statSync(folder, { throwIfNoEntry: false })?.isDirectory())
		return folder;
	throw new HoldfastError("CWD_REFUSED", `${JSON.stringify(cwd)} is not a folder inside the root.`);
}
