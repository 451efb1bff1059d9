// Read and write permissions, by role.
import type { AccessRecord } from "@holdfast/memory";
import { rejects, same } from "../journal/index.ts";
import type { WrittenCase } from "./written-case.ts";

export const accessCases: readonly WrittenCase[] = [
	{
		title:
			"without a role that the rule grants, reads, writes and searches are refused and audited [RUN-133]",
		async run(open) {
			const records: AccessRecord[] = [];
			const { memory, database } = await open({
				access: [
					{ stream: "hr:*", read: ["hr", "boss"], write: ["hr"] },
					{ collection: "pay", read: ["hr"], write: ["hr"] },
					{ collection: "log", write: [] },
				],
				audit: { write: (record) => void records.push(record) },
			});
			const hr = { roles: ["other", "hr"] };
			await memory.append("hr:1", "blue secret", hr);
			await database.write("pay", "ann", "blue secret", hr);
			await memory.append("open", "blue sky");
			same(records.length, 0, "audit records of allowed calls");
			const refused: readonly (readonly [string, () => Promise<unknown>])[] = [
				["write", () => memory.append("hr:1", "x")],
				["write", () => memory.append("hr:1", "x", { roles: ["boss"] })],
				["read", () => memory.read("hr:1", { roles: [] })],
				["read", () => memory.search("blue", { streamKey: "hr:1" })],
				["write", () => memory.clear("hr:1", { roles: ["boss"] })],
				["write", () => database.write("pay", "ann", "x", { agentId: "clerk" })],
				["read", () => database.read("pay", "ann")],
				["read", () => database.query("pay", {})],
				["read", () => database.search("blue", { collection: "pay" })],
				["write", () => database.write("log", "k", "x", hr)],
			];
			for (const [at, [action, call]] of refused.entries()) {
				await rejects("ACCESS_DENIED", call);
				same(records.length, at + 1, "audit records");
				const { point, action: what, subject, timestamp } = records[at] as AccessRecord;
				same(
					[point, what, (subject as { action?: string }).action],
					["access", "denied", action],
					"the record",
				);
				same(new Date(timestamp).toISOString(), timestamp, "its time");
			}
			same(records[5]?.agentId, "clerk", "who was refused");
			same([records[0]?.rule, records[6]?.rule], ["hr:*", "pay"], "the rules");
			same(JSON.stringify(records).includes("secret"), false, "values in audit records");
			same(
				(await memory.search("blue")).map(({ value }) => value),
				["blue sky"],
				"what everyone finds",
			);
			same((await memory.search("blue", { roles: ["boss"] })).length, 2, "what a boss finds");
			same(await database.search("blue"), [], "values that everyone finds");
			same(await memory.read("hr:1", { roles: ["boss"] }), ["blue secret"], "the stream");
			same(await database.read("pay", "ann", hr), "blue secret", "the value");
			same(await database.read("log", "k"), null, "a stream that no role may write and every role may read");
		},
	},
	{
		title: "access is denied even if the audit fails [RUN-133]",
		async run(open) {
			const { memory } = await open({
				access: [{ stream: "s", read: ["r"] }],
				audit: { write: () => Promise.reject(new Error("disk full")) },
			});
			await rejects("ACCESS_DENIED", () => memory.read("s"));
			await memory.append("s", 1);
			same(await memory.read("s", { roles: ["r"] }), [1], "the stream");
		},
	},
];
