// With the official SDK, an OTLP receiver and Pino, as they are used together; and over processes that end in the middle.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { Agent, type AnyTool, memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/shared/temporary-folder.fixture.ts";
import { observe, runIds } from "./index.ts";
import { Telemetry } from "./observed.fixture.ts";

interface Received {
	readonly path: string;
	readonly body: {
		readonly resourceSpans?: readonly {
			readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
		}[];
		readonly resourceMetrics?: readonly {
			readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
		}[];
	};
}

interface SentSpan {
	readonly name: string;
	readonly traceId: string;
	readonly spanId: string;
	readonly parentSpanId?: string;
}

/** A receiver of OTLP over HTTP, as a collector is one. */
async function receiver(): Promise<{ readonly url: string; readonly received: readonly Received[] }> {
	const received: Received[] = [];
	const server = createServer((request, response) => {
		const parts: Buffer[] = [];
		request.on("data", (part: Buffer) => parts.push(part));
		request.on("end", () => {
			received.push({ path: request.url ?? "", body: JSON.parse(Buffer.concat(parts).toString("utf8")) });
			response.setHeader("content-type", "application/json").end("{}");
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(async () => {
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

test("spans and metrics of a run reach an OTLP receiver", async () => {
	const { url, received } = await receiver();
	const ids = runIds();
	const traceExporter = new OTLPTraceExporter({ url: `${url}/v1/traces` });
	const tracers = new TracerProvider({
		idGenerator: ids,
		spanProcessors: [new BatchSpanProcessor({ exporter: traceExporter })],
	});
	const metricExporter = new OTLPMetricExporter({ url: `${url}/v1/metrics` });
	const meters = new MeterProvider({
		readers: [new PeriodicExportingMetricReader({ exporter: metricExporter })],
	});
	const host = memoryHost();
	const observer = observe(host, {
		tracer: tracers.getTracer("t"),
		meter: meters.getMeter("t"),
		ids,
		from: "start",
	});
	const agent = new Agent({ name: "clerk", model: scriptedModel(["Hello."]), host });
	await (await agent.session("s").send("Hi")).result();
	await observer.close();
	await tracers.shutdown();
	await meters.shutdown();
	const spans = received
		.flatMap(({ body }) => body.resourceSpans ?? [])
		.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
	const [said, run] = ["chat scripted", "invoke_agent clerk"].map((name) =>
		spans.find((span) => span.name === name),
	);
	expect(said?.parentSpanId).toBe(run?.spanId);
	expect(said?.traceId).toBe(run?.traceId);
	const metrics = received
		.flatMap(({ body }) => body.resourceMetrics ?? [])
		.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
	expect(metrics.map(({ name }) => name)).toEqual(
		expect.arrayContaining([
			"gen_ai.client.operation.duration",
			"gen_ai.client.token.usage",
			"holdfast.run.duration",
		]),
	);
	expect(received.map(({ path }) => path)).toEqual(expect.arrayContaining(["/v1/traces", "/v1/metrics"]));
});

test("an unreachable receiver stops neither the run nor the observer", async () => {
	const ids = runIds();
	const exporter = {
		export: (_: unknown, done: (result: { code: number; error: Error }) => void) =>
			done({ code: 1, error: new Error("no route") }),
		shutdown: async () => {},
	};
	const tracers = new TracerProvider({
		idGenerator: ids,
		spanProcessors: [new BatchSpanProcessor({ exporter })],
	});
	const host = memoryHost();
	const observer = observe(host, { tracer: tracers.getTracer("t"), ids, from: "start" });
	const agent = new Agent({ model: scriptedModel(["Hello."]), host });
	expect((await (await agent.session("s").send("Hi")).result()).outcome).toBe("completed");
	await observer.close();
	await tracers.shutdown().catch((error: Error) => expect(error.message).toBe("no route"));
});

test("lines have Pino's format, one object per line, with ids", async () => {
	const lines: string[] = [];
	const logger = pino({ base: { service: "desk" } }, { write: (line: string) => void lines.push(line) });
	const host = memoryHost();
	const observer = observe(host, { logger, from: "start" });
	const agent = new Agent({ name: "clerk", model: scriptedModel(["Hello."]), host });
	await (await agent.session("s").send("Hi")).result();
	await observer.close();
	const read = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
	expect(read.map(({ msg }) => msg)).toEqual(["run started", "model answered", "run ended"]);
	for (const line of read)
		expect(line).toMatchObject({
			level: 30,
			service: "desk",
			sessionKey: "s",
			runId: expect.any(String),
			trace_id: expect.any(String),
		});
});

test("a run that its process left is one trace: the part that was interrupted, and the part that finished it", async () => {
	const path = join(temporaryFolder(), "host.db");
	const telemetry = new Telemetry();
	const held = Promise.withResolvers<string>();
	let called = 0;
	const look: AnyTool = {
		name: "look",
		description: "Looks.",
		parameters: { type: "object" },
		retryPolicy: "pure",
		run: () => (++called === 1 ? held.promise : "seen"),
	};
	const options = {
		name: "clerk",
		model: scriptedModel((request) =>
			request.messages.length > 1 ? "Done." : { toolCalls: [{ name: "look" }] },
		),
		tools: [look],
	};
	const first = sqliteHost(path);
	const leaving = new Agent({ ...options, host: first });
	const observer = telemetry.observe(first);
	const run = await leaving.session("s").send("Hi");
	for await (const event of run.watch()) if (event.type === "tool_start") break;
	run.suspend();
	held.resolve("too late");
	await run.result();
	await leaving.close();
	await observer.close();
	await first.close();

	const second = sqliteHost(path);
	const agent = new Agent({ ...options, host: second });
	const next = telemetry.observe(second, { from: "last" });
	await (await agent.session("s").resume())?.result();
	await agent.close();
	await next.close();
	await second.close();

	const parts = telemetry.spans.filter(({ name }) => name === "invoke_agent clerk");
	const byId = new Map(parts.map((span) => [span.spanContext().spanId, span]));
	const [before, after] = [...byId.values()];
	expect(byId.size).toBe(2);
	expect(after?.attributes).toMatchObject({
		"holdfast.run.attempt": 2,
		"holdfast.run.resume_reason": "suspended",
	});
	expect(after?.links.map(({ context }) => context.spanId)).toEqual([before?.spanContext().spanId]);
	expect(new Set(telemetry.spans.map((span) => span.spanContext().traceId)).size).toBe(1);
	expect(telemetry.lines.filter(({ message }) => message === "run started")).toHaveLength(1);
});
