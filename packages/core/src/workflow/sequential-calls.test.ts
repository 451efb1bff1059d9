// Calls to `sequential` tools in the code of a workflow: they run alone, and calls that wait for people hold up none.
import { expect, test } from "vitest";
import { memoryHost } from "../host/index.ts";
import { tool } from "../tools/index.ts";
import type { Flow } from "./flow.ts";
import { workflow } from "./workflow.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function traced() {
	const order: string[] = [];
	const make = (name: string, options: object) =>
		tool({
			name,
			description: "Notes when it runs.",
			parameters: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
			...options,
			run: async ({ item }: { item: string }) => {
				order.push(`${item} begins`);
				for (let turns = 0; turns < 5; turns++) await turn();
				order.push(`${item} ends`);
				return item;
			},
		});
	return {
		order,
		plain: make("plain", {}),
		alone: make("alone", { sequential: true }),
		asked: make("asked", { needsApproval: true }),
		askedAlone: make("asked_alone", { needsApproval: true, sequential: true }),
	};
}

async function started(code: (flow: Flow, tools: ReturnType<typeof traced>) => unknown) {
	const tools = traced();
	const { plain, alone, asked, askedAlone } = tools;
	const options = { name: "ordered", host: memoryHost(), tools: [plain, alone, asked, askedAlone] };
	const session = workflow(options, (flow) => code(flow, tools)).session("s");
	const run = await session.send(undefined);
	return { order: tools.order, session: session.session, run };
}

test("a sequential call starts once no other call runs, and later calls start once it has ended", async () => {
	const { run, order } = await started(async (flow, { plain, alone }) => {
		const first = flow.tool(plain, { item: "first" });
		await flow.step("next", () => {});
		const second = flow.tool(alone, { item: "alone" });
		await flow.step("next", () => {});
		await Promise.all([first, second, flow.tool(plain, { item: "last" })]);
	});
	expect((await run.result()).outcome).toBe("completed");
	expect(order).toEqual([
		"first begins",
		"first ends",
		"alone begins",
		"alone ends",
		"last begins",
		"last ends",
	]);
});

test.each(["asked", "askedAlone"] as const)(
	"an open approval of the tool %s holds up no call",
	async (which) => {
		const { run, order, session } = await started(async (flow, tools) => {
			const waiting = flow.tool(tools[which], { item: "approved" });
			await flow.step("next", () => {});
			await flow.tool(tools.alone, { item: "alone" });
			await flow.tool(tools.plain, { item: "plain" });
			return waiting;
		});
		await run.run.result();
		expect(order).toEqual(["alone begins", "alone ends", "plain begins", "plain ends"]);
		const [call] = await session.pending();
		await session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
		expect(await run.result()).toMatchObject({ outcome: "completed", output: "approved" });
		expect(order.slice(4)).toEqual(["approved begins", "approved ends"]);
	},
);

test("a sequential call that is approved while another call runs waits for it", async () => {
	const { run, order, session } = await started(async (flow, { plain, askedAlone }) => {
		const waiting = flow.tool(askedAlone, { item: "approved" });
		await flow.step("answer", async () => {
			while ((await session.pending()).length === 0) await turn();
		});
		const other = flow.tool(plain, { item: "plain" });
		const [call] = await session.pending();
		await flow.step("approve", async () => {
			await session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
		});
		return Promise.all([waiting, other]);
	});
	expect((await run.result()).outcome).toBe("completed");
	expect(order).toEqual(["plain begins", "plain ends", "approved begins", "approved ends"]);
});
