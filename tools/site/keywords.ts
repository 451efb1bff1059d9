// Words that people search for but that a page does not use, or not in a heading. The site's search weighs them like its
// title.

/** Words for a page, by its path in the site without `.md`. */
export const keywords: ReadonlyMap<string, string> = new Map([
	["tutorial", "quickstart, getting started, hello world, install, introduction, first agent"],
	["which-call", "generate, stream, ask, query, send, choose an API, cheat sheet, overview"],
	["deployment", "production checklist, hosting, environment variables, reverse proxy, nginx, systemd, TLS"],
	[
		"design",
		"architecture, guarantees, event sourcing, how it works, internals, journal format, exactly once",
	],
	["glossary", "terms, vocabulary, definitions"],
	["errors", "error codes, exceptions, error handling, try catch, HoldfastError, warnings, troubleshooting"],
	["errors/agents", "model errors, tool errors, error codes"],
	[
		"errors/sessions",
		"session errors, journal errors, error codes, database is locked, SQLITE_BUSY, disk full",
	],
	["errors/http", "HTTP errors, status codes, 401, 409, 429, error codes"],
	["errors/runner", "runner errors, connector errors, prompt errors, error codes"],
	["errors/projects", "project errors, thread errors, error codes"],
	["packages", "npm packages, which package, modules"],
	["guide/agent-api", "createSession, execute, streaming tokens, text deltas, events, chunks"],
	[
		"guide/editors",
		"acp, agent client protocol, zed, jetbrains, neovim, ide, coding agent, editor integration",
	],
	["guide/a2a", "agent to agent, agent2agent, agent card, remote agents"],
	["guide/chat", "terminal, REPL, command line, CLI, TUI"],
	["guide/checkpoints", "snapshot, save state, persistence, checkpointer, restore"],
	["guide/client", "browser SDK, fetch, API client, frontend, React Native"],
	["guide/cloudflare", "Durable Objects, Workers, edge, serverless, wrangler"],
	["guide/common-mistakes", "troubleshooting, why does it fail, error message, help, FAQ, gotchas"],
	[
		"guide/comparison",
		"alternatives, versus, vs, benchmark, LangGraph, Mastra, Temporal, Restate, Inngest, DBOS",
	],
	[
		"guide/context",
		"prompt caching, cache control, cached tokens, cache hit rate, context window, token usage, cost, cache breakpoints",
	],
	[
		"guide/large-results",
		"tool output too long, truncate, spill, offload, context overflow, token limit, big files, logs",
	],
	["guide/agents-md", "AGENTS.md, CLAUDE.md, repository instructions, project instructions"],
	[
		"guide/skills",
		"SKILL.md, agent skills, progressive disclosure, load instructions on demand, Claude skills, allowed-tools",
	],
	[
		"guide/connectors",
		"integrations, SQL, HTTP, shell, database access, API tools, shell commands, bash, run programs safely",
	],
	[
		"guide/crash-safety",
		"durable execution, fault tolerance, kill -9, SIGKILL, recovery, restart, resume, exactly once, provider outage",
	],
	[
		"guide/steps",
		"prepareStep, per-step control, dynamic model, switch models, active tools, tool choice per step, model routing",
	],
	[
		"guide/tool-search",
		"tool retrieval, tool discovery, deferred tools, defer_loading, BM25, tools on demand, dynamic tools",
	],
	["guide/effects", "scheduled work, delay, timer, setTimeout, later, reminder"],
	["guide/endpoints", "HTTP routes, REST, custom API, webhooks of a project"],
	["guide/first-project", "scaffold, project structure, end to end"],
	["guide/hooks", "lifecycle, callbacks, before and after"],
	["guide/hosts", "storage, persistence, database, session store, workers, queue, SQLite, own store"],
	["guide/inspector", "dashboard, UI, debug, devtools, studio, playground, admin, monitoring"],
	[
		"guide/journal-upkeep",
		"backup, restore, retention, prune, vacuum, disk space, archive, integrity check, clean up old sessions, delete old data, expire sessions, TTL",
	],
	[
		"guide/mcp",
		"Model Context Protocol, MCP server, MCP client, tools of other programs, OAuth, elicitation, sampling",
	],
	[
		"guide/memory",
		"vector database, vector store, embeddings, semantic search, Redis, key value, knowledge base",
	],
	[
		"guide/middleware",
		"guardrails, interceptors, logging, moderation, content filter, retry, fallback model, sliding window",
	],
	[
		"guide/models",
		"providers, LLM, OpenAI, Anthropic, Claude, Gemini, GPT, API key, temperature, system prompt, timeout, reasoning, prompt caching, DeepSeek, Mistral, Groq, xAI, Grok, Cohere, Bedrock, Azure OpenAI, Vertex",
	],
	["guide/names-and-entries", "entry points, imports, naming, verbs, which import, module structure"],
	["guide/packing", "publish an agent, share agents, npm package of agents"],
	["guide/performance", "benchmark, overhead, latency, throughput, speed, memory usage, cost of a step"],
	["guide/plugins", "extensions, compaction, notes, extend an agent"],
	["guide/postgres", "PostgreSQL, database, pg, Supabase, Neon, RDS, pgbouncer, horizontal scaling"],
	["guide/projects", "files, folder layout, convention, agents folder, hot reload, dev server"],
	["guide/prompts", "system prompt, templates, handlebars, liquid, mustache, prompt versions"],
	["guide/redaction", "PII, personal data, mask secrets, anonymize, credentials, data protection"],
	[
		"guide/remote-tools",
		"human in the loop, approval, approve, confirm, permission, client side tools, frontend tools, interrupt, ask the user",
	],
	[
		"guide/runner",
		"plan and execute, autonomous, audit trail, policy, replay, compliance, safety, evaluation",
	],
	["guide/runtimes", "Bun, Deno, browser, supported Node versions, compatibility"],
	[
		"guide/code-mode",
		"code mode, codemode, programmatic tool calling, scripts, code execution with tools, fewer tokens",
	],
	[
		"guide/sandbox",
		"code execution, code interpreter, run untrusted code, eval, QuickJS, isolate, run shell commands safely, bash",
	],
	["guide/scaling", "horizontal scaling, load balancer, high availability, many servers, replicas"],
	[
		"guide/serving",
		"HTTP server, REST API, authentication, authorization, CORS, rate limit, quota, OpenAPI, health check, metrics, Prometheus, express, fastify, hono, SSE, limits, CORS error",
	],
	["guide/sessions", "conversation, chat history, thread id, steer, durable"],
	[
		"guide/http-routes",
		"REST API, endpoints, curl, OpenAPI, idempotency key, queue messages, custom routes, steer",
	],
	[
		"guide/client-settings",
		"clientsMaySet, permissions of clients, system prompt from the browser, client tools, choose the model",
	],
	[
		"guide/authentication",
		"API key, login, JWT, OAuth, users, tenants, roles, permissions, caller, CORS, brute force",
	],
	["guide/execution-hosts", "notifications, scheduled runs, own host, port"],
	["guide/mcp-server", "expose agents as tools, MCP tools for Claude Desktop, Cursor, stdio"],
	["guide/move-store", "SQLite to Postgres, export, import, backup, prune"],
	["guide/performance-method", "benchmark method"],
	["guide/postgres-dispatch", "job queue, graphile worker, fairness, noisy neighbour, pending jobs"],
	[
		"guide/server-monitoring",
		"Prometheus, Grafana, logs, metrics, alerting, nginx, reverse proxy, TLS, load balancer",
	],
	[
		"guide/session-history",
		"fork, branch, time travel, edit message, regenerate, undo, rewind, delete message",
	],
	["guide/session-order", "concurrency, race condition, parallel requests, queue, deadlock, session_busy"],
	["guide/session-stores", "custom store, DynamoDB, MongoDB, Firestore, key value, own database"],
	["guide/workers", "background worker, queue consumer, horizontal scaling, process jobs"],
	[
		"guide/workflows",
		"durable execution, durable functions, saga, compensation, Temporal, Inngest, orchestration, sleep for days, signals, workflow engine, workflow",
	],
	[
		"guide/workflow-operations",
		"child workflow, sub-workflow, continue as new, query workflow state, progress, workflow log, model call in a workflow",
	],
	["guide/state", "immutable state, messages, history, AgentState, serialise"],
	[
		"guide/strategies",
		"ReAct, plan, loop, chain of thought, workflow, graph, max steps, stop condition, reflection, orchestration, branching, agent loop, infinite loop, agent stuck calling the same tool",
	],
	[
		"guide/structured-output",
		"JSON mode, JSON schema, zod, typed output, response format, generateObject, extraction, parse, partial JSON, streaming JSON, object_delta",
	],
	[
		"guide/sub-agents",
		"handoff, delegate, supervisor, swarm, multi agent, orchestrator, subagents, parallel agents",
	],
	[
		"guide/telemetry",
		"OpenTelemetry, OTel, tracing, observability, metrics, logs, spans, monitoring, Datadog, Jaeger",
	],
	["guide/testing", "unit test, mock model, fake LLM, vitest, jest, deterministic, fixtures"],
	["guide/thread-files", "attachments, uploads, downloads, blob"],
	["guide/threads", "thread, project session, agent switch"],
	[
		"guide/tools",
		"function calling, tool calling, parallel tool calls, parameters, validation, tool timeout, streaming tools, retryPolicy",
	],
	[
		"guide/ui-frameworks",
		"useChat, AG-UI, CopilotKit, React, Next.js, Vue, Svelte, assistant-ui, AI SDK UI, frontend, chatbot",
	],
	[
		"guide/watching",
		"SSE, server-sent events, WebSocket, reconnect, resume stream, Last-Event-ID, live updates, follow, refresh, page reload, user closes the tab, tab closed while running, keep running without a client",
	],
	["migrate/ai-sdk", "Vercel AI SDK, ai package, generateText, streamText, migration"],
	["migrate/inngest", "Inngest, step functions, event-driven functions, background functions, migration"],
	["migrate/temporal", "Temporal.io, Cadence, activities, signals, queries, task queue, migration"],
	["migrate/vercel-workflow", "Workflow DevKit, use workflow, use step, WDK, durable functions, migration"],
	["migrate/langgraph", "LangChain, LangGraph, checkpointer, StateGraph, migration"],
	["migrate/mastra", "Mastra workflows, migration"],
	["migrate/openai-agents", "OpenAI Agents SDK, Swarm, Assistants API, migration"],
	["cookbook/background-jobs", "queue, worker, async, BullMQ, long running task, job"],
	["cookbook/cron", "schedule, scheduler, recurring, periodic, every day, nightly, timer"],
	["cookbook/deploy-cloudflare", "Cloudflare Workers, wrangler, edge, serverless"],
	["cookbook/deploy-docker", "Docker, container, image, Dockerfile, compose"],
	["cookbook/deploy-fly", "fly.io, flyctl"],
	["cookbook/deploy-kubernetes", "Kubernetes, k8s, helm, pod, EKS, GKE"],
	["cookbook/deploy-render", "render.com, Railway, Heroku, PaaS"],
	["cookbook/deploy-vercel", "Vercel, serverless functions, Next.js, lambda, Netlify"],
	["cookbook/evals", "evaluation, LLM as a judge, scorer, regression test, benchmark, dataset, quality"],
	[
		"cookbook/gateways",
		"OpenRouter, LiteLLM, AI gateway, Portkey, proxy, many models, Bedrock, Azure, DeepSeek",
	],
	[
		"cookbook/gdpr-deletion",
		"GDPR, delete user data, right to be forgotten, erase, privacy, data retention, CCPA",
	],
	[
		"cookbook/human-in-the-loop",
		"HITL, human in the loop, approval, approve, deny, confirm before running a tool, permission, review",
	],
	[
		"cookbook/images-and-files",
		"image, vision, multimodal, PDF, upload, attachment, screenshot, audio, document, picture",
	],
	[
		"cookbook/local-models",
		"Ollama, local LLM, llama.cpp, vLLM, LM Studio, self-hosted, offline, open source model, Llama, Qwen",
	],
	[
		"cookbook/long-conversations",
		"context window, context length exceeded, token limit, summarise, summarization, compaction, truncate history, prune",
	],
	[
		"cookbook/long-term-memory",
		"remember users, user preferences, memory across conversations, persistent memory, facts",
	],
	["cookbook/large-tool-results", "truncate tool output, long results, context overflow, tokens"],
	["cookbook/skills", "SKILL.md, agent skills, instructions on demand"],
	[
		"cookbook/many-tools",
		"tool search, too many tools, tool overload, reduce tokens, dynamic tools, MCP context bloat",
	],
	["cookbook/mcp-tools", "Model Context Protocol, MCP server, MCP client"],
	["cookbook/migrate-database", "SQLite to Postgres, move sessions, import, export, switch database"],
	["cookbook/multi-agent", "multi agent, orchestrator, supervisor, swarm, handoff, team, subagent"],
	["cookbook/multi-tenant", "SaaS, tenants, users, authentication, JWT, login, isolation, organisations"],
	[
		"cookbook/rag",
		"retrieval augmented generation, vector database, embeddings, semantic search, knowledge base, documents, citations",
	],
	[
		"cookbook/rate-limits-and-budgets",
		"rate limit, quota, token usage, cost tracking, spending limit, price, dollars, budget, throttle, 429, too many requests, agent stuck in a loop, infinite loop, runaway agent, cost per user",
	],
	[
		"cookbook/retries-and-idempotency",
		"retry, backoff, idempotency key, duplicate, exactly once, fallback model, flaky, failover, send only once, double charge, duplicate email",
	],
	["cookbook/session-keys", "session id, naming, conversation list, find sessions, thread id"],
	["cookbook/slack", "Slack bot, Discord, Telegram, Teams, WhatsApp, chatbot, messaging"],
	[
		"cookbook/stop-and-steer",
		"cancel, abort, stop button, interrupt, AbortSignal, steer, interject, change direction",
	],
	[
		"cookbook/stream-to-react",
		"React, Next.js, useChat, streaming UI, chat UI, typewriter, resume after reload, refresh",
	],
	["cookbook/structured-output-with-tools", "JSON output, typed result, zod schema, extract data"],
	["cookbook/test-an-agent", "unit test, mock LLM, mock model, vitest, jest, CI"],
	[
		"cookbook/tracing",
		"Langfuse, Grafana, Honeycomb, LangSmith, OTLP, observability, traces, Phoenix, Tempo",
	],
	[
		"cookbook/upgrade",
		"update version, breaking changes, migrate release, rollback, changed code while runs are in flight",
	],
	["cookbook/webhooks", "webhook, trigger, event, GitHub, Stripe, incoming request, signature"],
	[
		"cookbook/zero-downtime-deploys",
		"rolling deploy, blue green, graceful shutdown, SIGTERM, drain, restart without dropping",
	],
]);
