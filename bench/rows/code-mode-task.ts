// One task of 30 tool calls in three ways: one call per answer of the model, all independent calls in one answer, and one script.
// Each model call takes 100 ms and each tool call 10 ms. Tokens are estimated as a quarter of the characters of each request.
import { createSandbox } from "@holdfast/sandbox";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { type AnyTool, agent, tool } from "holdfast";
import { effort, median, mustBe, report } from "../measure.ts";

const customers = Array.from({ length: 15 }, (_, at) => `customer-${at + 1}`);
const pause = (milliseconds: number): Promise<void> =>
	new Promise((resolve) => setTimeout(resolve, milliseconds));
let calls = 0;

function slowTool(name: string, parameter: string, run: (value: string) => unknown): AnyTool {
	return tool({
		name,
		description: `Returns the ${name} of a ${parameter}.`,
		parameters: { type: "object", properties: { [parameter]: { type: "string" } }, required: [parameter] },
		run: async (input: Record<string, string>) => {
			calls++;
			await pause(10);
			return run(input[parameter] ?? "");
		},
	}) as AnyTool;
}

const tools = [
	slowTool("orders", "customer", (customer) =>
		Array.from({ length: 8 }, (_, at) => ({
			id: `${customer}-order-${at + 1}`,
			euros: at * 12,
			status: "paid",
			items: 3,
		})),
	),
	slowTool("shipment", "order", (order) => ({
		order,
		carrier: "post",
		isLate: order.startsWith("customer-1"),
		days: 4,
	})),
];
const ordersOf = (customer: string) => ({ name: "orders", arguments: { customer } });
const shipmentOf = (customer: string) => ({ name: "shipment", arguments: { order: `${customer}-order-8` } });
const code = `const late = await Promise.all(${JSON.stringify(customers)}.map(async (customer) => {
	const orders = await tools.orders({ customer });
	return tools.shipment({ order: orders.at(-1).id });
}));
return late.filter((shipment) => shipment.isLate).length;`;

const ways: Readonly<Record<string, readonly ScriptedReply[]>> = {
	"one call per answer": customers.flatMap((customer) => [
		{ toolCalls: [ordersOf(customer)] },
		{ toolCalls: [shipmentOf(customer)] },
	]),
	"calls in groups": [{ toolCalls: customers.map(ordersOf) }, { toolCalls: customers.map(shipmentOf) }],
	"code mode": [{ toolCalls: [{ name: "run_code", arguments: { code } }] }],
};
const sandbox = createSandbox({ workers: 1 });
const rows: Parameters<typeof report>[0][number][] = [];

for (const [way, replies] of Object.entries(ways)) {
	const walls: number[] = [];
	let [read, written, requests] = [0, 0, 0];
	for (let at = -1; at < effort.repetitions(5); at++) {
		[calls, read, written] = [0, 0, 0];
		let next = 0;
		const model = scriptedModel(async (request) => {
			await pause(100);
			const reply = replies[next++] ?? "Seven shipments are late.";
			read += JSON.stringify({ messages: request.messages, tools: request.tools }).length / 4;
			written += JSON.stringify(reply).length / 4;
			return reply;
		});
		const worker = agent({ model, tools: way === "code mode" ? [codeMode({ tools, sandbox })] : tools });
		const started = performance.now();
		await worker.query("How many of the last shipments are late?");
		if (at >= 0) walls.push(performance.now() - started);
		mustBe("the number of tool calls", calls, 30);
		requests = next;
	}
	rows.push(
		{ what: `30 calls, ${way}: model calls`, unit: "calls", median: requests },
		{ what: `30 calls, ${way}: tokens read`, unit: "tokens", median: Math.round(read) },
		{ what: `30 calls, ${way}: tokens written`, unit: "tokens", median: Math.round(written) },
		{ what: `30 calls, ${way}: time`, unit: "ms", median: median(walls) },
	);
}
await sandbox.close();
report(rows);
