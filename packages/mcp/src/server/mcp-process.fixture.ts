// A program that offers an agent over standard input and output. Its first process hangs in the model; a later one answers.
import { existsSync, writeFileSync } from "node:fs";
import { sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { sqliteHost } from "holdfast/sqlite";
import { mcpServer } from "../server.ts";

const [, , file = ""] = process.argv;
const isFirst = !existsSync(`${file}.begun`);
const model = scriptedModel(() => {
	if (!isFirst) return "Done after all.";
	writeFileSync(`${file}.begun`, "");
	return new Promise<string>(() => {});
});
const host = sqliteHost(file);
const service = sessionService({ host, agent: { model }, recoverEveryMs: 50 });
await service.recover();
const tools = { research: { description: "Researches facts." } };
const serving = mcpServer({ service, tools, pollEveryMs: 10 }).stdio();
process.stdin.on("close", async () => {
	await serving.close();
	await service.close();
	await host.close();
});
