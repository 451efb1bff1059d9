// A program that offers an agent over standard input and output. With a file, its first process hangs in the model and a later
// one answers; without one, its agent asks for approval before it acts.
import { existsSync, writeFileSync } from "node:fs";
import { sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { memoryHost, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { mcpServer } from "../server.ts";

const [, , file] = process.argv;
const isFirst = file !== undefined && !existsSync(`${file}.begun`);
const act = tool({ name: "act", description: "Acts.", needsApproval: true, run: () => "acted" });
const model =
	file === undefined
		? scriptedModel([{ toolCalls: [{ name: "act" }] }, "It is done."])
		: scriptedModel(() => {
				if (!isFirst) return "Done after all.";
				writeFileSync(`${file}.begun`, "");
				return new Promise<string>(() => {});
			});
const host = file === undefined ? memoryHost() : sqliteHost(file);
const service = sessionService({ host, agent: { model, tools: [act] }, recoverEveryMs: 50 });
await service.supervise();
const tools = { research: { description: "Researches facts." } };
mcpServer({ service, tools, pollEveryMs: 10 }).stdio();
// Whoever started it is gone: it ends, whatever still waits, and whoever still reads its input.
const parent = process.ppid;
process.stdin.on("close", () => process.exit(0));
setInterval(() => {
	if (process.ppid !== parent) process.exit(0);
}, 500);
