import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { promptSource, smallProject, toolSource, writeProject } from "../project.fixture.ts";
import { watchProject } from "./index.ts";
import { replaceFile } from "./replace-file.fixture.ts";

/** A process that follows a project: `send` makes it do something, `next` gives what it says. */
function follow(folder: string): {
	readonly send: (step: object) => void;
	readonly next: () => Promise<unknown>;
	readonly end: () => Promise<number | null>;
} {
	const script = join(import.meta.dirname, "live-process.fixture.ts");
	const child = spawn(process.execPath, ["--conditions=holdfast-source", "--no-warnings", script, folder], {
		stdio: ["pipe", "pipe", "inherit"],
	});
	const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
	onTestFinished(async () => {
		child.kill("SIGKILL");
		await exited;
	});
	child.stdin.on("error", () => {});
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	return {
		send: (step) => void child.stdin.write(`${JSON.stringify(step)}\n`),
		next: async () => JSON.parse((await lines.next()).value ?? "null"),
		end: () => {
			child.stdin.end();
			return exited;
		},
	};
}

test("a project follows its files, and a loaded one never changes", async () => {
	const folder = writeProject({
		...smallProject,
		"agents/tools/plain.ts": toolSource("one"),
		"agents/tools/shared.ts": `import { text } from "../../lib/text.ts";
import { defineTool } from "@holdfast/threads";
let calls = 0;
export default defineTool({ description: "x", execute: () => ({ status: "success", result: text + ++calls }) });`,
		"agents/tools/counter.ts": `import { defineTool } from "@holdfast/threads";
let calls = 0;
export default defineTool({ description: "x", execute: () => ({ status: "success", result: String(++calls) }) });`,
		"lib/text.ts": `export { text } from "./deep.ts";`,
		"lib/deep.ts": `export const text: string = "a";`,
	});
	const { send, next, end } = follow(folder);
	const call = async (tool: string, which: "call" | "call-old" = "call"): Promise<unknown> => {
		send({ do: which, tool });
		return ((await next()) as { readonly said: unknown }).said;
	};
	expect(await next()).toEqual({ changed: [] });
	expect(await call("plain")).toBe("one");
	expect(await call("shared")).toBe("a1");
	expect(await call("counter")).toBe("1");

	send({ do: "write", path: "agents/tools/plain.ts", text: toolSource("two") });
	expect(await next()).toEqual({ changed: ["agents/tools/plain.ts"] });
	expect(await call("plain")).toBe("two");
	expect(await call("plain", "call-old")).toBe("one");
	send({ do: "write", path: "agents/tools/plain.ts", text: toolSource("three") });
	expect(await next()).toEqual({ changed: ["agents/tools/plain.ts"] });
	expect(await call("plain")).toBe("three");

	// A module that is imported over another one, outside of the folder `agents`.
	send({ do: "write", path: "lib/deep.ts", text: `export const text = "b";` });
	expect(await next()).toEqual({ changed: ["lib/deep.ts"] });
	expect(await call("shared")).toBe("b1");
	expect(await call("shared", "call-old")).toBe("a2");
	// What did not change keeps its module.
	expect(await call("counter")).toBe("2");

	// A broken version is reported, and the one before counts until it is mended.
	send({ do: "write", path: "agents/tools/plain.ts", text: `import "../../lib/gone.ts"; export default 1;` });
	expect(await next()).toEqual({ broken: "project_invalid" });
	expect(await call("plain")).toBe("three");
	send({ do: "write", path: "lib/gone.ts", text: `import { text } from "./deep.ts";` });
	expect(await next()).toEqual({ broken: "project_invalid" });
	send({ do: "write", path: "agents/tools/plain.ts", text: toolSource("four") });
	expect(await next()).toEqual({ changed: ["agents/tools/plain.ts"] });
	expect(await call("plain")).toBe("four");

	// A new folder, and a file that is removed.
	send({ do: "write", path: "agents/effects/tidy.ts", text: "export default {{" });
	expect(await next()).toEqual({ broken: "project_invalid" });
	send({ do: "remove", path: "agents/effects" });
	expect(await next()).toEqual({ changed: ["agents/effects/tidy.ts"] });
	send({ do: "remove", path: "agents/tools/plain.ts" });
	expect(await next()).toEqual({ changed: ["agents/tools/plain.ts"] });
	expect(await call("plain")).toBeNull();
	expect(await end()).toBe(0);
});

test("a project that cannot be loaded yet is waited for", async () => {
	const folder = writeProject({ ...smallProject, "agents/prompts/help.ts": "export default 1;" });
	const { next, end } = follow(folder);
	expect(await next()).toEqual({ broken: "project_invalid" });
	replaceFile(folder, join(folder, "agents/prompts/help.ts"), promptSource("help"));
	expect(await next()).toEqual({ changed: ["agents/prompts/help.ts"] });
	expect(await end()).toBe(0);
});

test("a folder without a project rejects, and a wait can be cancelled", async () => {
	await expect(watchProject(writeProject({}))).rejects.toMatchObject({ code: "project_missing" });
	const broken = writeProject({ ...smallProject, "agents/prompts/help.ts": "export default 1;" });
	const signal = new AbortController();
	const waiting = watchProject(broken, { signal: signal.signal, onError: () => signal.abort() });
	await expect(waiting).rejects.toMatchObject({ code: "project_unwatched" });
});
