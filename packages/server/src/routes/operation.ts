// Routes for operators: health, metrics, and the OpenAPI document.
import { HoldfastError } from "holdfast";
import type { Route } from "../http/index.ts";
import { answerJson } from "../http/index.ts";
import { json } from "../openapi/index.ts";

/** Reports whether the server is running. */
export function health(isDraining: () => boolean): Route {
	return {
		method: "GET",
		path: "/healthz",
		name: "health",
		summary: "Whether the server accepts requests.",
		answers: {
			200: json("It does.", {
				type: "object",
				required: ["status"],
				properties: { status: { const: "ok" } },
			}),
		},
		errors: ["shutting_down"],
		handle() {
			if (isDraining())
				throw new HoldfastError("shutting_down", "The server is shutting down.", { retryable: true });
			return answerJson({ status: "ok" });
		},
	};
}

/** Numbers for Prometheus. */
export function metrics(text: () => Promise<string>): Route {
	return {
		method: "GET",
		path: "/metrics",
		name: "metrics",
		summary: "Counters and gauges of this process in Prometheus' text format.",
		answers: { 200: { description: "The metrics.", content: { "text/plain": { type: "string" } } } },
		handle: async () =>
			new Response(await text(), {
				headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" },
			}),
	};
}

/** The OpenAPI document. */
export function description(document: () => object): Route {
	return {
		method: "GET",
		path: "/openapi.json",
		name: "openapi",
		summary: "This document.",
		answers: { 200: json("The OpenAPI document.", { type: "object" }) },
		handle: () => answerJson(document()),
	};
}
