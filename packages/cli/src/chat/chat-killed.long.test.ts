/** A chat that is killed in a real terminal, and continued. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type Reply, startModelServer } from "../command/spawn.fixture.ts";
import { hasTerminal, Terminal } from "./terminal.fixture.ts";

async function server(...replies: readonly Reply[]) {
	const model = await startModelServer(replies);
	onTestFinished(() => model.close());
	return model;
}

describe.skipIf(!hasTerminal)("a chat that is killed (needs tmux)", () => {
	test("shows the message that waited again, which can still be taken back, and sends it once", async () => {
		const folder = temporaryFolder();
		const held = Promise.withResolvers<void>();
		const model = await server(
			"hang",
			{ calls: [{ id: "1", tool: "list_files", arguments: {} }], after: held.promise },
			{ text: "In short: nothing." },
			{ text: "At last." },
		);
		const argv = ["chat", "--model", model.model, "--session", "s"];
		const first = new Terminal(argv, { folder });
		await first.shows("no usage yet");
		await first.say("Tell me all.");
		await model.asked(1);
		await first.say("Be short.");
		await first.shows("… Be short.");
		await first.say("And kind.");
		await first.shows("… And kind.");
		first.kill();
		await first.shows("left with 137");
		const second = new Terminal(argv, { folder });
		await second.shows(/… Be short\.\s+… And kind\./);
		await model.asked(2);
		second.press("Up");
		await second.shows(/> And kind\. *\n/);
		second.press("C-u");
		held.resolve();
		await second.shows("In short: nothing.");
		await second.say("Anything else?");
		await second.shows("At last.");
		const sent = JSON.stringify(model.requests.at(-1)?.messages);
		expect(sent.match(/Be short\./g)).toHaveLength(1);
		expect(sent).not.toContain("And kind.");
	});

	test("asks again about a call that waited for approval", async () => {
		const folder = temporaryFolder();
		const model = await server(
			{ tool: "write_file", arguments: { path: "lamp.txt", content: "green\n" } },
			{ text: "It is written." },
		);
		const argv = ["chat", "--model", model.model, "--session", "s", "--allow-write"];
		const first = new Terminal(argv, { folder });
		await first.shows("no usage yet");
		await first.say("Write it.");
		await first.shows("or type a reason");
		first.kill();
		await first.shows("left with 137");
		const second = new Terminal(argv, { folder });
		await second.shows("or type a reason");
		await second.say("y");
		await second.shows("It is written.");
		expect(readFileSync(join(folder, "lamp.txt"), "utf8")).toBe("green\n");
		expect(model.requests).toHaveLength(2);
	});
});
