/** How a task is composed, which agent works on it, and which questions precede costs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type Reply, run, start, startModelServer } from "./spawn.fixture.ts";

async function server(...replies: readonly Reply[]) {
	const model = await startModelServer(replies);
	onTestFinished(() => model.close());
	return model;
}

const asked = (messages: readonly unknown[] | undefined): string => JSON.stringify(messages?.at(-1));

test("the content of a file or a pipe is part of the task", async () => {
	const folder = temporaryFolder();
	writeFileSync(join(folder, "log"), "line one\nline two\n");
	const model = await server({ text: "Fine." });
	const options = { folder, inputFile: join(folder, "log") };
	expect((await run(["run", "Summarise", "--model", model.model], options)).code).toBe(0);
	expect(asked(model.requests[0]?.messages)).toContain("Summarise\\n\\nline one\\nline two");
	expect((await run(["run", "--model", model.model], options)).code).toBe(0);
	expect(asked(model.requests[1]?.messages)).toContain('"line one\\nline two"');
	const piped = await run(["run", "In short:", "--model", model.model], {
		folder,
		pipedFrom: join(folder, "log"),
	});
	expect(piped.stdout).toContain("Fine.");
	expect(asked(model.requests[2]?.messages)).toContain("In short:\\n\\nline one\\nline two");
});

test("a pipe that another program leaves open is not waited for, unless a dash requests it", async () => {
	const folder = temporaryFolder();
	const model = await server({ text: "Fine." });
	const waiting = start(["run", "Hello", "--model", model.model], { folder, piped: { open: true } });
	expect((await waiting.finished).code).toBe(0);
	const reading = start(["run", "Hello", "-", "--model", model.model], { folder, piped: { open: true } });
	reading.type("from a program");
	reading.child.stdin?.end();
	expect((await reading.finished).code).toBe(0);
	expect(asked(model.requests[1]?.messages)).toContain("Hello\\n\\nfrom a program");
});

test("a default task is not sent to a model that may cost money without confirmation", async () => {
	const folder = temporaryFolder();
	const model = await server({ text: "A project." });
	const refused = await run(["run", "--model", model.model], { folder });
	expect(refused.code).toBe(2);
	expect(refused.stderr).toContain("may cost money");
	expect(model.requests).toHaveLength(0);
	expect((await run(["run", "--model", "offline"], { folder })).code).toBe(0);
	expect((await run(["run", "--yes", "--model", model.model], { folder })).code).toBe(0);
	expect(model.requests).toHaveLength(1);
});

test("the user's own agent works on a task, and on its session when it is resumed", async () => {
	const folder = temporaryFolder();
	const model = await server({ text: "Mine." }, "hang", { text: "Mine again." });
	const upp = join(import.meta.dirname, "../../../upp/src/index.ts");
	const baseURL = model.model.replace(/^[^@]*@/, "");
	writeFileSync(
		join(folder, "agent.mjs"),
		`import { openaiCompatible } from ${JSON.stringify(upp)};
		export default { model: openaiCompatible("stub", { baseURL: ${JSON.stringify(baseURL)} }), instructions: "You are mine." };`,
	);
	const first = await run(["run", "Hello", "--agent", "agent.mjs", "--session", "s"], { folder });
	expect(first.stdout).toContain("Mine.");
	expect(JSON.stringify(model.requests[0]?.messages)).toContain("You are mine.");
	const second = start(["run", "Go on", "--session", "s"], { folder });
	await model.asked(2);
	second.child.kill("SIGINT");
	expect((await second.finished).code).toBe(3);
	const resumed = await run(["resume", "s"], { folder });
	expect(resumed.stdout).toContain("Mine again.");
	expect(JSON.stringify(model.requests[2]?.messages)).toContain("You are mine.");
	const refused = await run(["run", "Hello", "--agent", "agent.mjs", "--model", "offline"], { folder });
	expect(refused.code).toBe(2);
	expect(refused.stderr).toContain("--model applies only to the assistant");
});
