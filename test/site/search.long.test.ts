// The search of the site finds what people look for, in the words of the field: its index as `npm run docs` builds it, asked as
// the page in the browser asks it.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import MiniSearch from "minisearch";
import { expect, test } from "vitest";
import { indexOptions, searchOptions } from "../../tools/site/search.ts";

const chunks = join(import.meta.dirname, "../../.site/dist/assets/chunks");

async function loadIndex(): Promise<MiniSearch> {
	const file = readdirSync(chunks).find((name) => name.startsWith("@localSearchIndexroot"));
	if (file === undefined) throw new Error("Run npm run docs: there is no index.");
	const { default: json } = await import(join(chunks, file));
	return MiniSearch.loadJSON(json, { ...indexOptions, searchOptions } as never);
}

/** Queries, and the pages one of which is among the first three hits. */
const questions: readonly (readonly [question: string, ...pages: string[]])[] = [
	["human in the loop", "cookbook/human-in-the-loop", "guide/remote-tools"],
	["approval", "cookbook/human-in-the-loop", "guide/remote-tools"],
	["confirm before running a tool", "cookbook/human-in-the-loop", "guide/remote-tools"],
	["image", "cookbook/images-and-files"],
	["pdf upload", "cookbook/images-and-files"],
	["vision", "cookbook/images-and-files"],
	["ollama", "cookbook/local-models"],
	["local llm", "cookbook/local-models"],
	["rate limit", "cookbook/rate-limits-and-budgets"],
	["token usage cost", "cookbook/rate-limits-and-budgets"],
	["rag", "cookbook/rag"],
	["vector database", "cookbook/rag", "guide/memory"],
	["embeddings", "cookbook/rag", "guide/memory"],
	["long term memory", "cookbook/long-term-memory"],
	["remember user preferences", "cookbook/long-term-memory"],
	["multi tenant", "cookbook/multi-tenant"],
	["authentication", "guide/authentication", "cookbook/multi-tenant"],
	["retry", "cookbook/retries-and-idempotency"],
	["idempotency key", "cookbook/retries-and-idempotency"],
	["fallback model", "cookbook/retries-and-idempotency", "guide/middleware"],
	["openrouter", "cookbook/gateways"],
	["langfuse", "cookbook/tracing"],
	["observability", "guide/telemetry", "cookbook/tracing"],
	["cron", "cookbook/cron"],
	["run every day", "cookbook/cron"],
	["webhook", "cookbook/webhooks"],
	["slack bot", "cookbook/slack"],
	["docker", "cookbook/deploy-docker"],
	["kubernetes", "cookbook/deploy-kubernetes"],
	["vercel", "cookbook/deploy-vercel"],
	["fly.io", "cookbook/deploy-fly"],
	["serverless", "cookbook/deploy-vercel", "cookbook/deploy-cloudflare", "guide/cloudflare"],
	["graceful shutdown", "cookbook/zero-downtime-deploys"],
	["gdpr", "cookbook/gdpr-deletion"],
	["delete user data", "cookbook/gdpr-deletion"],
	["useChat", "guide/ui-frameworks", "cookbook/stream-to-react"],
	["streaming react next.js", "cookbook/stream-to-react", "guide/ui-frameworks"],
	["websocket", "guide/watching"],
	["resume stream after page reload", "guide/watching", "cookbook/stream-to-react"],
	["structured output", "guide/structured-output"],
	["json mode", "guide/structured-output"],
	["zod schema", "guide/structured-output", "cookbook/structured-output-with-tools"],
	["function calling", "guide/tools"],
	["parallel tool calls", "guide/tools"],
	["handoff", "guide/sub-agents", "cookbook/multi-agent"],
	["multi agent", "cookbook/multi-agent", "guide/sub-agents"],
	["supervisor", "guide/sub-agents", "cookbook/multi-agent"],
	["mcp server", "guide/mcp", "cookbook/mcp-tools"],
	["unit test mock llm", "cookbook/test-an-agent", "guide/testing"],
	["llm as a judge", "cookbook/evals"],
	["context window", "cookbook/long-conversations"],
	["summarize history", "cookbook/long-conversations", "guide/journal-upkeep"],
	["stop button", "cookbook/stop-and-steer"],
	["cancel run", "cookbook/stop-and-steer", "guide/sessions"],
	["postgres", "guide/postgres"],
	["redis", "guide/memory"],
	["checkpointer", "guide/checkpoints", "migrate/langgraph"],
	["time travel", "guide/session-history"],
	["durable execution", "guide/crash-safety"],
	["kill -9", "guide/crash-safety"],
	["background jobs", "cookbook/background-jobs"],
	["pii", "guide/redaction"],
	["code interpreter", "guide/sandbox"],
	["guardrails", "guide/middleware"],
	["temperature", "guide/models"],
	["bun", "guide/runtimes"],
	["copilotkit", "guide/ui-frameworks"],
	["agent to agent", "guide/a2a"],
	["backup", "guide/journal-upkeep"],
	["quickstart", "tutorial"],
	["langchain", "migrate/langgraph"],
	["prometheus", "guide/server-monitoring"],
	["race condition", "guide/session-order"],
	["mongodb", "guide/session-stores"],
	["dashboard", "guide/inspector"],
	["sqliteHost", "api/holdfast-sqlite"],
	["createSubAgentTool", "api/holdfast/create-sub-agent-tool", "guide/sub-agents"],
	["workflow", "guide/workflows"],
	["saga", "guide/workflows"],
	["compensating transaction", "guide/workflows"],
	["temporal alternative", "guide/comparison", "guide/workflows"],
	["sleep for days", "guide/workflows"],
	["code mode", "guide/code-mode"],
	["programmatic tool calling", "guide/code-mode"],
	["agent skills", "guide/skills", "cookbook/skills"],
	["SKILL.md", "guide/skills", "cookbook/skills"],
	["tool search", "guide/tool-search", "cookbook/many-tools"],
	["too many tools", "cookbook/many-tools", "guide/tool-search"],
	["prompt caching", "guide/context"],
	["cache hit rate", "guide/context"],
	["cancel", "cookbook/stop-and-steer", "guide/workflows"],
	["abort signal", "cookbook/stop-and-steer"],
	["resume", "guide/crash-safety", "guide/watching", "guide/sessions"],
	["replay", "guide/runner", "guide/workflows", "guide/inspector"],
	["budget", "cookbook/rate-limits-and-budgets"],
	["max steps", "guide/strategies", "guide/agent-api"],
	["infinite loop", "guide/strategies", "cookbook/rate-limits-and-budgets"],
	["system prompt", "guide/models", "guide/prompts"],
	["tool output too long", "guide/large-results", "cookbook/large-tool-results"],
	["switch model mid run", "guide/steps"],
	["error handling", "errors"],
	["session_busy", "guide/session-order", "errors"],
	["edit message", "guide/session-history"],
	["memory leak", "guide/performance"],
	["streaming tool output", "guide/tools"],
	["audit log", "guide/runner"],
];

test("each query that people use has its page among the first three hits", async () => {
	const index = await loadIndex();
	const missed = questions.flatMap(([question, ...pages]) => {
		const hits = index.search(question).slice(0, 3);
		const found = hits.map(({ id }) =>
			String(id)
				.replace(/^\//, "")
				.replace(/\.html/, ""),
		);
		const isFound = pages.some((page) => found.some((hit) => hit.startsWith(page)));
		return isFound ? [] : [`${question}: ${found.join(", ")}`];
	});
	expect(missed).toEqual([]);
	expect(questions.length).toBeGreaterThanOrEqual(100);
});
